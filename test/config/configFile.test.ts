import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { fromFile, readConfigFile } from "../../src/config/configFile.ts"
import { optionNamesOf } from "../../src/config/optionRow.ts"
import { OPTIONS } from "../../src/config/options.ts"

const read = (text: string) => fromFile({ text, file: "/d/svcd.conf" })

const problems = (text: string) => Either.match(read(text), { onLeft: (found) => found, onRight: () => [] })

const IN_QUOTES = "put strings in quotes, as in rpcuser = \"NAME\""

const NO_QUOTE = "/d/svcd.conf:1 is not TOML: the quote at the end of a string is missing"

describe("fromFile", () => {
  it("takes every key, each with its place", () => {
    const text = [
      "# how this node is run",
      "network = \"regtest\"   # not for money",
      "rpcpassword = 'p'",
      "maxpeers = 1_0",
      "addpeer = [\"a:1\", \"b:2\"]",
      "debugsubsystem = [\"rpc\", \"network\"]",
      "txindex = true",
      "namehistory = 0",
      "[database]",
      "pagesize = 16384"
    ].join("\n")
    const source = Either.getOrThrow(read(text))
    assert.deepStrictEqual(Array.from(source, ([name, { from, texts }]) => [name, texts, from]), [
      ["network", ["regtest"], "/d/svcd.conf:2"],
      ["rpcpassword", ["p"], "/d/svcd.conf:3"],
      ["maxpeers", ["10"], "/d/svcd.conf:4"],
      ["addpeer", ["a:1", "b:2"], "/d/svcd.conf:5"],
      ["debugsubsystem", ["rpc,network"], "/d/svcd.conf:6"],
      ["txindex", ["1"], "/d/svcd.conf:7"],
      ["namehistory", ["0"], "/d/svcd.conf:8"],
      ["pagesize", ["16384"], "/d/svcd.conf:10"]
    ])
    assert.strictEqual(source.get("pagesize")?.label, "/d/svcd.conf:10 database.pagesize")
  })

  it.each(["maxinbound", "maxoutbound"] as const)(
    "takes %s at the top and below [database], and not in both",
    (key) => {
      for (const text of [`${key} = 7`, `[database]\n${key} = 7`]) {
        assert.deepStrictEqual(Either.getOrThrow(read(text)).get(key)?.texts, ["7"])
      }
      assert.deepStrictEqual(problems(`${key} = 7\n[database]\n${key} = 8`), [
        `/d/svcd.conf:3 database.${key}: is set at /d/svcd.conf:1 too; keep one of the two`
      ])
    }
  )

  it.each(["[database]\npagesize = 8192", "database.pagesize = 8192", "database = { pagesize = 8192 }"])(
    "takes a table however it is written: %j",
    (text) => assert.deepStrictEqual(Either.getOrThrow(read(text)).get("pagesize")?.texts, ["8192"])
  )

  it("takes one peer without brackets, and an empty list", () => {
    assert.deepStrictEqual(Either.getOrThrow(read("addpeer = \"a:1\"")).get("addpeer")?.texts, ["a:1"])
    assert.deepStrictEqual(Either.getOrThrow(read("addpeer = []")).get("addpeer")?.texts, [])
  })

  it("takes nothing from an empty file or one of comments", () => {
    assert.strictEqual(Either.getOrThrow(read("")).size, 0)
    assert.strictEqual(Either.getOrThrow(read("# nothing\n\n[database]\n")).size, 0)
  })

  it.each([
    ["loglevel = \"info\"\nthis is not TOML\n", "/d/svcd.conf:2 is not TOML: illegal character in key"],
    ["a = 1\n\na = 2", "/d/svcd.conf:3 is not TOML: trying to redefine an already defined table or value"],
    ["a = \"geheim\nb = 1", NO_QUOTE],
    ["a = \"geheim\r\n", NO_QUOTE],
    ["a = 'geheim\n", NO_QUOTE],
    ["a = \"geheim", NO_QUOTE],
    ["a = \"\"\"geheim\n", NO_QUOTE],
    ["a = \"\u0007\"", "/d/svcd.conf:1 is not TOML: control characters are not allowed in strings"],
    ["rpcpassword = geheim", `/d/svcd.conf:1 is not TOML: invalid value; ${IN_QUOTES}`],
    ["\nrpcallowip=127.0.0.1", `/d/svcd.conf:2 is not TOML: illegal character in numeric literal; ${IN_QUOTES}`],
    ["walletnotify = echo it's", `/d/svcd.conf:1 is not TOML: invalid value; ${IN_QUOTES}`],
    ["rpcpassword = ge\"heim", `/d/svcd.conf:1 is not TOML: invalid value; ${IN_QUOTES}`],
    ["addpeer = [1.2.3.4]", `/d/svcd.conf:1 is not TOML: illegal character in numeric literal; ${IN_QUOTES}`],
    ["addpeer = [\"a:1, \"b:2\"]", NO_QUOTE],
    ["rpcuser =", `/d/svcd.conf:1 is not TOML: invalid value; ${IN_QUOTES}`],
    ["maxpeers = 01", "/d/svcd.conf:1 is not TOML: illegal leading zero"],
    ["[database", "/d/svcd.conf:1 is not TOML: incomplete key-value: cannot find end of key"],
    ["rpcport = 8336", "/d/svcd.conf:1 rpcport: unknown key; as a flag: write -rpcaddr HOST:PORT"],
    ["\n\nfrobnicate = 1", "/d/svcd.conf:3 frobnicate: unknown key"],
    ["lisen = 1", "/d/svcd.conf:1 lisen: unknown key; did you mean listen?"],
    ["[databse]\npagesize = 1", "/d/svcd.conf:1 unknown table [databse]; did you mean [database]?"],
    ["\n[x]", "/d/svcd.conf:2 unknown table [x]"],
    ["[[database]]\npagesize = 512", "/d/svcd.conf:1 database: expected a table, as in [database]"],
    ["database = 5", "/d/svcd.conf:1 database: expected a table, as in [database]"],
    ["[database]\n\npagsize = 1", "/d/svcd.conf:3 database.pagsize: unknown key; did you mean database.pagesize?"],
    ["pagesize = 512", "/d/svcd.conf:1 pagesize: unknown key; it belongs into the table, as database.pagesize"],
    [
      "\"database.pagesize\" = 512",
      "/d/svcd.conf:1 \"database.pagesize\": unknown key; did you mean database.pagesize?"
    ],
    ["[network]\nx = 1", "/d/svcd.conf:1 network: expected a text in quotes, found a table"],
    ["loadblock = \"x\"", "/d/svcd.conf:1 loadblock: is a flag, not a key of this file"],
    ["help = true", "/d/svcd.conf:1 help: is a flag, not a key of this file"],
    ["maxinbound = \"many\"", "/d/svcd.conf:1 maxinbound: expected a whole number, found \"many\""],
    ["maxinbound = 1.5", "/d/svcd.conf:1 maxinbound: expected a whole number, found 1.5"],
    ["maxinbound = inf", "/d/svcd.conf:1 maxinbound: expected a whole number, found Infinity"],
    ["network = 5", "/d/svcd.conf:1 network: expected a text in quotes, found 5"],
    ["network = 1979-05-27", "/d/svcd.conf:1 network: expected a text in quotes, found a date"],
    ["network = [\"regtest\"]", "/d/svcd.conf:1 network: expected a text in quotes, found a list"],
    ["txindex = \"yes\"", "/d/svcd.conf:1 txindex: expected true or false, found \"yes\""],
    ["txindex = 2", "/d/svcd.conf:1 txindex: expected true or false, found 2"],
    ["addpeer = [1]", "/d/svcd.conf:1 addpeer: expected texts in quotes between brackets, found a list"],
    ["rpcpassword = 12345", "/d/svcd.conf:1 rpcpassword: expected a text in quotes"],
    ["__proto__ = 1", "/d/svcd.conf:1 __proto__: unknown key"],
    ["constructor = 1", "/d/svcd.conf:1 constructor: unknown key"]
  ])("refuses %j", (text, problem) => {
    assert.deepStrictEqual(problems(text), [problem])
  })

  it("names every mistake", () => {
    assert.strictEqual(problems("a = 1\nb = 2\nnetwork = 3").length, 3)
  })

  it("shows nothing of the text, which can hold a password, where it is not TOML", () => {
    for (const text of ["rpcpassword = \"geheim", "rpcpassword = geheim", "rpcpassword = \"geheim\\q\"", "geheim"]) {
      assert.notInclude(problems(text).join(), "geheim")
    }
  })

  it("has a key for every option that is not a flag alone", () => {
    const flagsOnly = optionNamesOf(OPTIONS).filter((name) => OPTIONS[name].key === undefined)
    assert.deepStrictEqual(flagsOnly, [
      "printconfig",
      "completions",
      "version",
      "help",
      "loadblock",
      "loadsnapshot",
      "reindex",
      "reindex-chainstate",
      "reindexnames"
    ])
  })
})

describe("readConfigFile", () => {
  let directory = ""
  beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), "svcd-config-"))))
  afterAll(() => rmSync(directory, { recursive: true }))

  const reading = (content: string | Uint8Array) => {
    const file = join(directory, "svcd.conf")
    writeFileSync(file, content)
    return readConfigFile(file)
  }

  it("reads UTF-8, with or without a byte order mark", () => {
    assert.deepStrictEqual(reading("# ü\n"), Either.right("# ü\n"))
    assert.deepStrictEqual(reading("\ufeffa = 1"), Either.right("a = 1"))
  })

  it("finds nothing where there is no file, or no directory to have one", () => {
    writeFileSync(join(directory, "file"), "")
    assert.deepStrictEqual(readConfigFile(join(directory, "none", "svcd.conf")), Either.right(undefined))
    assert.deepStrictEqual(readConfigFile(join(directory, "file", "svcd.conf")), Either.right(undefined))
  })

  it("refuses other encodings, large files and directories", () => {
    assert.deepStrictEqual(
      reading(Uint8Array.of(0xff, 0xfe, 0x41)),
      Either.left({ why: "is not UTF-8", isForbidden: false })
    )
    assert.isTrue(Either.isRight(reading(" ".repeat(1024 * 1024))))
    assert.deepStrictEqual(
      reading(" ".repeat(1024 * 1024 + 1)),
      Either.left({ why: "is larger than 1048576 bytes", isForbidden: false })
    )
    mkdirSync(join(directory, "folder", "svcd.conf"), { recursive: true })
    assert.deepStrictEqual(
      readConfigFile(join(directory, "folder", "svcd.conf")),
      Either.left({ why: "cannot be read: it is a directory", isForbidden: false })
    )
  })
})
