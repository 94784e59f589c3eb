import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { warningsOfCall } from "../../../src/programs/cli/lint.ts"
import { byName, byPosition } from "../../../src/rpc/method/conversions.ts"
import { runAlone } from "./commandRun.ts"

const cli = (argv: ReadonlyArray<string>, stdin?: string) =>
  runAlone(argv, stdin === undefined ? undefined : Effect.succeed(stdin))

const WRONG = "{\"ip\":\"192.0.2.1\",\"map\":{\"mail\":{\"ip\":\"192.0.2.300\"}}}"

describe("svcd-cli lint", () => {
  it.effect("prints what is wrong, and what programs see", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* cli(["lint", "d/example", WRONG]), {
        code: 1,
        stdout: "error: line 1, column 39: map.mail.ip \"192.0.2.300\" is not an IPv4 address\n" +
          "DNS\n  example.bit. A 192.0.2.1\n54 bytes, 1 error, 0 warnings\n",
        stderr: ""
      })
    }))

  it.effect("reads the value from standard input, without its last line break", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* cli(["lint", "id/alice", "-"], "{\"email\":\"a@example.org\"}\n")
      assert.strictEqual(code, 0)
      assert.include(stdout, "forwards mail for alice to a@example.org")
      assert.include(stdout, "25 bytes, 0 errors, 0 warnings")
    }))

  it.effect("prints JSON", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* cli(["lint", "-json", "d/example", WRONG])
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(JSON.parse(stdout), {
        bytes: 54,
        errors: [{
          code: "invalid",
          path: "map.mail.ip",
          line: 1,
          column: 39,
          message: "\"192.0.2.300\" is not an IPv4 address"
        }],
        warnings: [],
        programs: [{ program: "DNS", sees: ["example.bit. A 192.0.2.1"] }]
      })
    }))

  it.effect("needs a name and one value", () =>
    Effect.gen(function*() {
      assert.include((yield* cli(["lint", "d/example"])).stderr, "takes a name and a value")
      assert.include((yield* cli(["lint", "d/example", "{", "}"])).stderr, "put the value in quotes")
    }))

  it.effect("shows no character that moves the cursor", () =>
    Effect.map(cli(["lint", "d/example", "{\"\\u001b[2J\u202e\":1,\"ip\":\"\u001b[2J\"}"]), ({ stdout }) => {
      assert.notMatch(stdout, /[\u001b\u202e]/)
    }))
})

describe("warnings of a call", () => {
  const updated = (...args: ReadonlyArray<string>) => {
    const params = byPosition("name_update", args)
    return "_tag" in params ? "not parsed" : warningsOfCall("name_update", params)
  }

  it("are about the value that was set", () => {
    assert.strictEqual(updated("d/example", "{\"ip\":\"192.0.2.1\"}"), "")
    assert.strictEqual(updated("d/example"), "")
    assert.match(updated("d/example", "no"), /^svcd-cli: warning: line 1, column 1: the value is not valid JSON/)
    assert.match(
      updated("d/example", "6e6f", "{\"valueEncoding\":\"hex\"}"),
      /^svcd-cli: warning: line 1, column 1: the/
    )
    assert.strictEqual(updated("d/example", "zz", "{\"valueEncoding\":\"hex\"}"), "")
    const named = byName("name_firstupdate", ["name=d/example", "value=[]"])
    assert.isFalse("_tag" in named)
    if (!("_tag" in named)) assert.include(warningsOfCall("name_firstupdate", named), "no object")
    assert.strictEqual(warningsOfCall("name_new", ["d/1"]), "")
  })
})
