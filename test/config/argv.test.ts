import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { readArgv, readWords } from "../../src/config/argv.ts"
import { optionNamesOf } from "../../src/config/optionRow.ts"
import { OPTIONS } from "../../src/config/options.ts"

const read = (...argv: ReadonlyArray<string>) => readArgv(argv, OPTIONS)

const given = (...argv: ReadonlyArray<string>) => {
  const { given, problems } = read(...argv)
  assert.deepStrictEqual(problems, [])
  return Object.fromEntries(given)
}

describe("readArgv", () => {
  it.each([
    [["-network", "regtest"]],
    [["-network=regtest"]],
    [["--network", "regtest"]],
    [["--network=regtest"]]
  ])("%j is one flag", (argv) => {
    assert.deepStrictEqual(given(...argv), { network: ["regtest"] })
  })

  it("accepts an empty value", () => {
    assert.deepStrictEqual(given("-listen", "", "-datadir", "x"), { listen: [""], datadir: ["x"] })
    assert.deepStrictEqual(given("-listen=", "-datadir=x"), { listen: [""], datadir: ["x"] })
  })

  it("lets a value contain =, spaces, line ends and dashes", () => {
    assert.deepStrictEqual(given("-rpcuser=a=b", "-rpcpassword", "c d=ü\ne", "-ratelimit", "-1"), {
      rpcuser: ["a=b"],
      rpcpassword: ["c d=ü\ne"],
      ratelimit: ["-1"]
    })
    assert.deepStrictEqual(given("-rpcpassword=-listen"), { rpcpassword: ["-listen"] })
  })

  it("collects every occurrence of a flag", () => {
    assert.deepStrictEqual(given("-addpeer", "a:1", "-loglevel=info", "--addpeer=b:2", "-loglevel", "warn"), {
      addpeer: ["a:1", "b:2"],
      loglevel: ["info", "warn"]
    })
  })

  it.each([
    [["-txindex"], ["1"]],
    [["-txindex=1"], ["1"]],
    [["--txindex=false"], ["false"]],
    [["-notxindex"], ["0"]],
    [["--notxindex"], ["0"]],
    [["-txindex="], [""]]
  ])("%j is a switch", (argv, texts) => {
    assert.deepStrictEqual(given(...argv), { txindex: texts })
  })

  it("accepts -h for -help", () => {
    assert.deepStrictEqual(given("-h"), { help: ["1"] })
  })

  it.each([
    [["-frobnicate", "1"], ["-frobnicate: unknown flag"]],
    [["--frobnicate=1"], ["--frobnicate: unknown flag"]],
    [["-lisen", ":1"], ["-lisen: unknown flag; did you mean -listen?"]],
    [["-Network=x"], ["-Network: unknown flag; did you mean -network?"]],
    [["-pagesize=512"], ["-pagesize: unknown flag"]],
    [["-5"], ["-5: unknown flag"]],
    [["-nolisten"], ["-nolisten: unknown flag; did you mean -listen?"]],
    [["-notxindex=1"], ["-notxindex: takes no value; write -txindex=0 or -txindex=1"]],
    [["-loglevel"], ["-loglevel: needs a value (debug|info|warn|error)"]],
    [
      ["-datadir", "-network", "regtest"],
      ["-datadir: needs a value, and \"-network\" is a flag; if you mean it, write -datadir=VALUE"]
    ],
    [["regtest"], ["\"regtest\": is not a flag"]],
    [["-network", "regtest", ""], ["\"\": is not a flag"]],
    [["-"], ["\"-\": is not a flag"]],
    [["---network", "x", "y"], ["\"---network\": is not a flag", "\"y\": is not a flag"]],
    [["---network=x", "y"], ["\"---network\": is not a flag", "\"y\": is not a flag"]],
    [["-txindex", "0"], ["\"0\": is not a flag; give the value of a switch after =, as in -txindex=0"]],
    [["-\u001b[31m=1"], ["-\\u001b[31m: unknown flag"]]
  ])("refuses %j", (argv, problems) => {
    assert.deepStrictEqual(read(...argv).problems, problems)
  })

  it("continues after an error, so that it finds a later -help", () => {
    assert.isTrue(read("-frobnicate", "x", "regtest", "--help").given.has("help"))
    assert.isTrue(read("-datadir", "--help").given.has("help"))
  })

  it.each([
    [["-rpcpasswort=geheim"]],
    [["-rpcpasswort", "geheim"]],
    [["---rpcpassword=geheim"]],
    [["---rpcpassword", "geheim"]],
    [["--=geheim"]],
    [["rpcpassword=geheim"]],
    [["-datadir", "-rpcpassword=geheim"]],
    [["-rpcpassword", "-rpcpassword=geheim"]],
    [["-rpcpassword", "--rpcpassword=geheim=er"]]
  ])("never shows the value of %j, which may be a password", (argv) => {
    const { problems } = read(...argv)
    assert.lengthOf(problems, 1)
    assert.notInclude(problems.join(), "geheim")
  })

  it("ends at the first argument that is not a flag, for tools with arguments of their own", () => {
    const { given, problems, rest } = readArgv(["-network=regtest", "getblockhash", "-1", "-network"], OPTIONS, {
      positional: "end"
    })
    assert.deepStrictEqual([Object.fromEntries(given), rest, problems], [
      { network: ["regtest"] },
      ["getblockhash", "-1", "-network"],
      []
    ])
    for (const number of ["-5", "-0.5", "-.5"]) {
      assert.deepStrictEqual(readArgv([number, "-network"], OPTIONS, { positional: "end" }).rest, [number, "-network"])
    }
    assert.deepStrictEqual(readArgv(["--", "-network"], OPTIONS, { positional: "end" }).rest, ["-network"])
  })

  it("accepts only the flags of its table", () => {
    const { problems } = readArgv(["-listen", ":1"], { network: OPTIONS.network })
    assert.deepStrictEqual(problems, ["-listen: unknown flag"])
  })

  const flags = optionNamesOf(OPTIONS).filter((name) => OPTIONS[name].flag && OPTIONS[name].toml !== "boolean")

  it.prop("reads any value of any flag in each of the four spellings", {
    name: FastCheck.constantFrom(...flags),
    // A value that begins with a dash could be a flag: that case has its own test.
    text: FastCheck.fullUnicodeString().filter((text) => !text.startsWith("-")),
    spelling: FastCheck.constantFrom("-", "--"),
    apart: FastCheck.boolean()
  }, ({ apart, name, spelling, text }) => {
    const argv = apart ? [`${spelling}${name}`, text] : [`${spelling}${name}=${text}`]
    assert.deepStrictEqual(given(...argv), { [name]: [text] })
  })
})

describe("readWords", () => {
  it("accepts flags before, between and after the words, each with all of its values", () => {
    const { given, problems, words } = readWords(
      ["-network", "regtest", "recover", "--addpeer=a:1", "now", "-addpeer", "b:2", "-txindex"],
      OPTIONS
    )
    assert.deepStrictEqual([words, problems], [["recover", "now"], []])
    assert.deepStrictEqual(Object.fromEntries(given), { network: ["regtest"], addpeer: ["a:1", "b:2"], txindex: ["1"] })
  })

  it("reports unknown flags at any position", () => {
    assert.lengthOf(readWords(["-nosuch=1", "recover", "--neither=2"], OPTIONS).problems, 2)
  })
})
