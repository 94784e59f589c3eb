import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import { readCommandLine } from "../../../src/config/commandLine.ts"
import { errorLines } from "../../../src/programs/svcd/daemonProgram.ts"

/** The files that a file loads when it is loaded itself, without types. */
const loadedBy = (path: string): ReadonlyArray<string> =>
  [...readFileSync(path, "utf8").matchAll(/^import (?!type )[^;]*? from "([^"]+)"/gm)].flatMap(([, from]) => from ?? [])

describe("the start of programs", () => {
  it("loads the node only to run it: help and version need a third of the time", () => {
    const loaded = loadedBy("src/programs/svcd/daemonProgram.ts")
    assert.include(loaded, "../../config/commandLine.ts")
    assert.deepStrictEqual(loaded.filter((file) => file.includes("/node/") || file.includes("runDaemon")), [])
  })

  it("loads the client of svcd-mail only to ask a daemon", () => {
    assert.deepStrictEqual(loadedBy("src/bin/svcd-mail.ts").filter((file) => file.endsWith("/names.ts")), [])
  })
})

describe("the errors of svcd", () => {
  const PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
  const WIF = "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"
  const errorOf = (...argv: ReadonlyArray<string>): string => {
    const input = { argv, env: {}, readFile: () => Either.right(undefined), homedir: "/home/me", cwd: "/", cores: 1 }
    const command = readCommandLine(input)
    return Either.isLeft(command) ? errorLines(command.left.message, argv) : assert.fail("the arguments are taken")
  }

  it("repeat no recovery words and no private key", () => {
    const words = PHRASE.split(" ")
    assert.strictEqual(errorOf(PHRASE), "Error: \"(not shown: these may be recovery words)\": is not a flag\n")
    assert.strictEqual(errorOf(...words), "Error: (not shown: it may be a recovery word): is not a flag\n")
    for (
      const argv of [[WIF], [`-${WIF}`], ["-network", WIF], ["-addpeer", WIF], ["-rpcaddr", ...words], [`-${PHRASE}`]]
    ) {
      const text = errorOf(...argv)
      assert.match(text, /^Error: .*\(not shown: /)
      assert.notMatch(text, /L1aW|winner|legal/)
    }
  })
})
