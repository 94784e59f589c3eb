import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { parseHashedUser } from "../../../src/config/hashedUser.ts"
import { admission } from "../../../src/http/auth.ts"
import { runAlone } from "./commandRun.ts"

const cli = (argv: ReadonlyArray<string>, stdin?: string) =>
  runAlone(argv, stdin === undefined ? undefined : Effect.succeed(stdin))

/** The user that a daemon with this line admits. */
const admitted = (line: string, pair: string): string | undefined => {
  const user = parseHashedUser(line)
  const hashed = user === undefined ? [] : [Redacted.make(user)]
  return admission({ credentials: undefined, hashed })(`Basic ${Buffer.from(pair).toString("base64")}`)
}

const lineOf = (stdout: string): string => /^rpcauth = \["(.*)"\]$/m.exec(stdout)?.[1] ?? ""

describe("svcd-cli rpcauth", () => {
  it.effect("makes a line and a password that fit together", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* cli(["rpcauth", "alice"])
      assert.strictEqual(code, 0)
      const password = stdout.trimEnd().split("\n").at(-1) ?? ""
      assert.match(password, /^[A-Za-z0-9_-]{43}$/)
      assert.strictEqual(admitted(lineOf(stdout), `alice:${password}`), "alice")
      assert.isUndefined(admitted(lineOf(stdout), `alice:${password}x`))
      assert.notStrictEqual((yield* cli(["rpcauth", "alice"])).stdout, stdout)
    }))

  it.effect("does not repeat a given password", () =>
    Effect.gen(function*() {
      for (
        const { stdout } of [
          yield* cli(["rpcauth", "al$ice", "s3cret"]),
          yield* cli(["rpcauth", "al$ice", "-"], "s3cret\r\nx\n")
        ]
      ) {
        assert.notInclude(stdout, "s3cret")
        assert.strictEqual(admitted(lineOf(stdout), "al$ice:s3cret"), "al$ice")
      }
    }))

  it.effect("prints JSON as the script of the reference node", () =>
    Effect.gen(function*() {
      const { stdout } = yield* cli(["rpcauth", "bob", "-json", "s3cret"])
      const { password, rpcauth, username } = JSON.parse(stdout)
      assert.deepStrictEqual({ username, password }, { username: "bob", password: "s3cret" })
      assert.strictEqual(admitted(rpcauth, "bob:s3cret"), "bob")
    }))

  it.effect.each<readonly [ReadonlyArray<string>, RegExp]>([
    [["rpcauth"], /give the name of the user/],
    [["rpcauth", "a:b"], /must not be empty or contain a colon/],
    [["rpcauth", ""], /must not be empty or contain a colon/],
    [["rpcauth", "alice", ""], /the password must not be empty/],
    [["rpcauth", "alice", "one", "geheim"], /takes a user name and a password/]
  ])("refuses %j", ([argv, problem]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(argv)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, problem)
      assert.notInclude(stderr, "geheim")
    }))
})
