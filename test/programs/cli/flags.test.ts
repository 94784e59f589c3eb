import { assert, describe, it } from "@effect/vitest"
import { COMMAND_NAMES, COMMAND_ROWS } from "../../../src/programs/cli/commandTable.ts"
import { CLI_FLAGS, countOf, readCliCommandLine } from "../../../src/programs/cli/flags.ts"
import { CLI_HELP, commandHelp } from "../../../src/programs/cli/help.ts"
import { SHOWN_METHODS } from "../../../src/rpc/contract/arguments.ts"

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
    [["-all", "status"], "-all: is a flag of svcd-cli renew, autorenew, names, dismiss, registrations, expiring"],
    [["names", "--all=maybe"], "-all: is a switch; its value must be 0, 1, true or false"],
    [
      ["-stdinrpcpass=correct horse", "getinfo"],
      "-stdinrpcpass: is a switch; its value must be 0, 1, true or false"
    ],
    [["update", "-frob", "d/x"], "-frob: unknown flag"],
    [["watch", "-frob"], "-frob: unknown flag; did you mean -from?"],
    [["-frobnicate", "getinfo"], "-frobnicate: unknown flag"],
    [["-named", "-stdni", "getinfo"], "-stdni: unknown flag; did you mean -stdin?"],
    [["-regtest", "getinfo"], "-regtest: unknown flag; write -network regtest"],
    [["--rpcport=18443", "getinfo"], "-rpcport: unknown flag; write -rpcaddr HOST:PORT"],
    [["-netinfo"], "-netinfo: unknown flag; use svcd-cli status, or svcd-cli peers"]
  ])("refuses %j", (argv, problem) => {
    assert.deepStrictEqual(read(...argv).problems, [problem])
  })

  it("refuses bytes that are not UTF-8, which Node.js has replaced, and shows no secret", () => {
    const problem = (place: number, otherWay: string) =>
      `argument ${place}: has bytes that are not UTF-8, or U+FFFD, which replaces such bytes; ${otherWay}`
    assert.deepStrictEqual(read("update", "d/x", "-value", "\ufffd").problems, [
      problem(4, "give a value in a file (-file PATH) or on standard input (-file -)")
    ])
    const asParameters = "give the parameters on standard input (-stdin)"
    assert.deepStrictEqual(read("name_update", "d/x", "a\ufffd").problems, [problem(3, asParameters)])
    assert.deepStrictEqual(read("name_show", "d/\ufffd").problems, [problem(2, asParameters)])
    assert.deepStrictEqual(read("lint", "d/x", "\ufffd").problems, [problem(3, "give the value on standard input (-)")])
    assert.deepStrictEqual(read("rpcauth", "u", "\ufffd").problems, [
      problem(3, "give the password on standard input (-)")
    ])
    assert.deepStrictEqual(read("name", "d/\ufffd").problems, [
      problem(2, "call a method in place of name, with its parameters on standard input (-stdin)")
    ])
    assert.deepStrictEqual(read("-rpcpassword=s\ufffd", "names").problems, [
      problem(1, "give the password on standard input (-stdinrpcpass)")
    ])
  })

  it("explains every flag in the help", () => {
    for (const name of Object.keys(CLI_FLAGS)) assert.match(CLI_HELP, new RegExp(`-${name}\\b`))
    for (const command of COMMAND_NAMES) {
      assert.match(CLI_HELP, new RegExp(`^ {2}${command}\\b`, "m"))
      const help = commandHelp(command)
      for (const name of Object.keys(COMMAND_ROWS[command].options)) {
        assert.match(help, new RegExp(`^ {2}-${name}\\b`, "m"))
      }
      assert.isTrue(help.split("\n").every((line) => line.length <= 104), command)
    }
    assert.isTrue(CLI_HELP.split("\n").every((line) => line.length <= 104))
  })

  it("has no command with the name of a method", () => {
    assert.deepStrictEqual(COMMAND_NAMES.filter((name) => SHOWN_METHODS.includes(name)), [])
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
