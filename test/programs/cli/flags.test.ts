import { assert, describe, it } from "@effect/vitest"
import { CLI_COMMANDS, CLI_FLAGS, CLI_HELP, countOf, readCliCommandLine } from "../../../src/programs/cli/flags.ts"

const read = (...argv: ReadonlyArray<string>) => {
  const { command, given, problems, words } = readCliCommandLine(argv)
  return { command, given: Object.fromEntries(given), words, problems }
}

describe("readCommandLine", () => {
  it("reads no flags after a method", () => {
    assert.deepStrictEqual(read("-named", "send", "-json", "names"), {
      command: undefined,
      given: { named: ["1"] },
      words: ["send", "-json", "names"],
      problems: []
    })
  })

  it("reads flags before and after a command", () => {
    assert.deepStrictEqual(read("-rpcwallet=w", "--json", "names", "d/", "-expiring", "100", "--network=regtest"), {
      command: "names",
      given: { rpcwallet: ["w"], json: ["1"], expiring: ["100"], network: ["regtest"] },
      words: ["d/"],
      problems: []
    })
    assert.deepStrictEqual(read("-getinfo", "-json"), {
      command: "status",
      given: { getinfo: ["1"], json: ["1"] },
      words: [],
      problems: []
    })
  })

  it("reads the name of a command as a parameter if one is expected", () => {
    assert.deepStrictEqual(read("help", "status").words, ["help", "status"])
    assert.deepStrictEqual(read("names", "names").words, ["names"])
  })

  it.each([
    [["-all", "status"], "-all: is a flag of svcd-cli names, expiring"],
    [
      ["-json", "getinfo"],
      "-json: is a flag of svcd-cli status, names, find, expiring, watch, webhooks, lint, rpcauth"
    ],
    [["names", "--all=maybe"], "-all: \"maybe\" is not one of 0, 1, true, false"],
    [["-frobnicate", "getinfo"], "-frobnicate: unknown flag"],
    [["-named", "-stdni", "getinfo"], "-stdni: unknown flag; did you mean -stdin?"],
    [["-regtest", "getinfo"], "-regtest: unknown flag; write -network regtest"],
    [["--rpcport=18443", "getinfo"], "-rpcport: unknown flag; write -rpcaddr HOST:PORT"],
    [["-netinfo"], "-netinfo: unknown flag; use svcd-cli status, or svcd-cli getpeerinfo"]
  ])("refuses %j", (argv, problem) => {
    assert.deepStrictEqual(read(...argv).problems, [problem])
  })

  it("explains every flag in the help", () => {
    const options = Object.values(CLI_COMMANDS).flatMap((command) => Object.keys(command.options))
    for (const name of [...Object.keys(CLI_FLAGS), ...options]) assert.match(CLI_HELP, new RegExp(`-${name}\\b`))
    assert.isTrue(CLI_HELP.split("\n").every((line) => line.length <= 104))
  })
})

describe("countOf", () => {
  it("reads whole numbers and reports other text", () => {
    const problems: Array<string> = []
    assert.deepStrictEqual(
      [
        countOf({ name: "x", text: undefined, fallback: 7 }, problems),
        countOf({ name: "x", text: "0", fallback: 7 }, problems),
        countOf({ name: "x", text: "9999999", fallback: 7 }, problems)
      ],
      [7, 0, 9_999_999]
    )
    assert.deepStrictEqual(problems, [])
    for (const text of ["", "-1", "1.5", "10000000", "a"]) countOf({ name: "x", text, fallback: 7 }, problems)
    assert.deepStrictEqual(problems[0], "-x: \"\" is not a whole number from 0 to 9999999")
    assert.lengthOf(problems, 5)
  })
})
