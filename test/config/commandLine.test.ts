import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { parse } from "smol-toml"
import { readCommandLine } from "../../src/config/commandLine.ts"
import { groupsHelp, HELP_WORDS } from "../../src/config/help.ts"
import { optionNamesOf } from "../../src/config/optionRow.ts"
import { OPTIONS } from "../../src/config/options.ts"
import { DEFAULT_FILE, inputOf, settingsOf } from "./input.ts"

const ask = (...input: Parameters<typeof inputOf>) => Either.getOrThrow(readCommandLine(inputOf(...input)))

const printed = (...input: Parameters<typeof inputOf>): string => {
  const command = ask(...input)
  return command._tag === "PrintConfig" ? command.text : command._tag
}

describe("readCommandLine", () => {
  it.each(["--help", "-help", "-h", "-help=1"])("gives help for %s, whatever else is wrong", (flag) => {
    const broken = { env: { SVCD_NETWORK: "nowhere" }, files: { [DEFAULT_FILE]: "this is not TOML" } }
    assert.strictEqual(ask([flag], broken)._tag, "Help")
    assert.strictEqual(ask(["-frobnicate", "regtest", flag, "-loglevel=loud"], broken)._tag, "Help")
  })

  it.each(["--version", "-version"])("gives the version for %s, whatever else is wrong", (flag) => {
    assert.strictEqual(ask([flag], { files: { [DEFAULT_FILE]: "this is not TOML" } })._tag, "Version")
    assert.strictEqual(ask(["-maxpeers", flag])._tag, "Version")
  })

  it("gives completions for a shell that it knows", () => {
    assert.deepInclude(ask(["-completions", "fish"], { files: { [DEFAULT_FILE]: "this is not TOML" } }), {
      _tag: "Completions",
      shell: "fish"
    })
    const refused = readCommandLine(inputOf(["-completions=tcsh"]))
    assert.match(Either.getOrThrow(Either.flip(refused)).message, /-completions: "tcsh" is not one of bash, zsh, fish/)
  })

  it("runs with settings otherwise", () => {
    const command = ask(["-network=regtest", "-nohelp", "-version=0"])
    assert.strictEqual(command._tag === "Run" && command.settings.chain.network, "regtest")
  })

  it("prints no configuration that is wrong", () => {
    assert.isTrue(Either.isLeft(readCommandLine(inputOf(["-printconfig", "-loglevel=loud"]))))
    assert.isTrue(Either.isLeft(readCommandLine(inputOf(["-printconfig", "-frobnicate"]))))
  })
})

describe("helpText", () => {
  it("begins with the usage and explains every flag, with default and variable", () => {
    const text = groupsHelp("all")
    assert.match(text, /^Usage: svcd/)
    for (const name of optionNamesOf(OPTIONS)) {
      const option = OPTIONS[name]
      if (option.flag) assert.match(text, new RegExp(`^  -${name}\\b`, "m"))
      else assert.include(text, `${option.key}`)
      if (option.env !== undefined) assert.include(text, option.env)
      assert.include(text.replace(/\s+/g, " "), option.description)
    }
    for (const shown of ["127.0.0.1:8336", ":8334", "125", "~/.svcd", "mainnet", "info"]) {
      assert.include(text, `default: ${shown}`)
    }
    assert.isTrue(text.split("\n").every((line) => line.length <= 100 && line === line.trimEnd()))
  })
})

describe("the help", () => {
  const help = (...argv: ReadonlyArray<string>): string => {
    const command = ask(argv)
    assert(command._tag === "Help")
    return command.text
  }

  const flagsIn = (text: string): ReadonlyArray<string> => text.match(/^  -(?!help [a-z]|flag )[\w-]+/gm) ?? []

  it("shows 25 everyday flags, and how to see the others", () => {
    const text = help("-help")
    assert.lengthOf(flagsIn(text), 25)
    for (const word of HELP_WORDS) assert.match(text, new RegExp(`^  -help ${word} +\\S`, "m"))
    assert.isBelow(text.split("\n").length, 80)
    assert.isTrue(text.split("\n").every((line) => line.length <= 100 && line === line.trimEnd()))
  })

  it("shows each flag in exactly one group, ZeroMQ and notifications last", () => {
    const groups = HELP_WORDS.filter((word) => word !== "all")
    const all = groups.flatMap((word) => flagsIn(help("-help", word)))
    assert.deepStrictEqual(all, [...new Set(all)])
    assert.deepStrictEqual(flagsIn(help("-help=all")), all)
    assert.lengthOf(all, optionNamesOf(OPTIONS).filter((name) => OPTIONS[name].flag).length)
    assert.match(all.at(-1) ?? "", /-zmq/)
    assert.deepStrictEqual(groups.slice(-2), ["notify", "zmq"])
  })

  it("names the groups after an unknown one, and has precedence over other problems", () => {
    for (const argv of [["-help", "pears"], ["--help=pears"], ["-h", "pears"]]) {
      const refused = readCommandLine(inputOf(argv))
      assert.match(
        Either.getOrThrow(Either.flip(refused)).message,
        /-help: "pears" is not a group of flags; the groups are general, rpc, peers, .*zmq, all/
      )
    }
    assert.strictEqual(help("-frobnicate", "-help"), help("-help"))
    assert.strictEqual(help("-network", "regtest", "-help", "peers"), help("-help", "peers"))
  })
})

describe("-printconfig", () => {
  it("names the source of every setting", () => {
    const text = printed(["-printconfig", "-maxpeers", "5"], {
      env: { SVCD_NETWORK: "testnet" },
      files: { [DEFAULT_FILE]: "\nlisten = \":1\"\n[database]\npagesize = 512" }
    })
    for (
      const line of [
        "network = \"testnet\"  # SVCD_NETWORK",
        "maxpeers = 5  # -maxpeers",
        `listen = ":1"  # ${DEFAULT_FILE}:2`,
        `pagesize = 512  # ${DEFAULT_FILE}:4`,
        "loglevel = \"info\"  # default",
        "# metricsaddr is not set: no endpoint"
      ]
    ) assert.include(text.split("\n"), line)
    const commands = ["help", "version", "printconfig", "completions"]
    for (const name of optionNamesOf(OPTIONS).filter((name) => !commands.includes(name))) {
      assert.match(text, new RegExp(`^(# )?${name} `, "m"))
    }
  })

  it("shows an emptied option as empty, where its default is not", () => {
    assert.include(printed(["-printconfig", "-listen="]), "listen = \"\"  # -listen")
  })

  it("shows paths as absolute ones, which mean the same in a file elsewhere", () => {
    const text = printed(["-printconfig", "-datadir=data", "-loadblock=blk.dat"], {
      files: { "/place/data/svcd.conf": "logfile = \"../svcd.log\"" }
    })
    assert.include(text, "datadir = \"/place/data\"  # -datadir")
    assert.include(text, "logfile = \"/place/svcd.log\"  # /place/data/svcd.conf:1")
    assert.include(text, "[ \"/place/blk.dat\" ]  # -loadblock")
    assert.include(printed(["-printconfig"]), "datadir = \"/home/me/.svcd\"  # default")
  })

  it("shows no password and no text that could be taken for one", () => {
    const text = printed(["-printconfig", "-rpcuser=u", "-rpcpassword=top-secret"])
    assert.notInclude(text, "top-secret")
    assert.include(text, "# rpcpassword is set, and not shown  # -rpcpassword")
    assert.notProperty(parse(text), "rpcpassword")
  })

  it.each([
    [["-daemon"], "-daemon: unknown flag; svcd stays in the foreground"],
    [["-server=1"], "-server: unknown flag; leave it out"],
    [["-testnet"], "-testnet: unknown flag; write -network testnet"],
    [["-rpcport=1"], "-rpcport: unknown flag; write -rpcaddr HOST:PORT"],
    [["-connect", "h:1"], "-connect: unknown flag; write -addpeer HOST:PORT"],
    [["-noserver"], "-noserver: unknown flag; leave it out"],
    [["-debug=net"], "-debug: unknown flag; write -debugsubsystem NAME"],
    [["-netwrok", "regtest"], "-netwrok: unknown flag; did you mean -network?"]
  ])("explains flags of Namecoin Core: %j", (argv, text) => {
    const refused = readCommandLine(inputOf(argv))
    assert.include(Either.isLeft(refused) ? refused.left.message : "accepted", text)
  })

  const flags = FastCheck.record({
    network: FastCheck.constantFrom("mainnet", "testnet", "regtest"),
    datadir: FastCheck.fullUnicodeString({ minLength: 1 }).map((text) => `/${text.replaceAll("\0", "x")}`),
    rpcuser: FastCheck.fullUnicodeString({ minLength: 1 }).map((text) => text.replaceAll(":", "x")),
    listen: FastCheck.constantFrom("", ":5", "[::1]:7"),
    metricsaddr: FastCheck.constantFrom("", "127.0.0.1:9100"),
    maxpeers: FastCheck.nat(10_000).map(String),
    txindex: FastCheck.constantFrom("0", "1", "true", "false"),
    namehistory: FastCheck.constantFrom("0", "1"),
    debugsubsystem: FastCheck.constantFrom("", "rpc", "network,rpc"),
    assumevalid: FastCheck.constantFrom("", "0", "ab".repeat(32)),
    addpeer: FastCheck.constantFrom("a:1", "[::2]:9"),
    verifythreads: FastCheck.constantFrom("", "0", "7"),
    logfile: FastCheck.constantFrom("", "/var/log/a b.log"),
    statuspage: FastCheck.constantFrom("0", "1"),
    rest: FastCheck.constantFrom("0", "1")
  }, { requiredKeys: ["rpcuser"] })

  it.prop("gives a file that means the same", { flags }, ({ flags }) => {
    const argv = [...Object.entries(flags).map(([name, text]) => `-${name}=${text}`), "-rpcpassword=p"]
    const text = printed([...argv, "-printconfig"])
    const again = settingsOf(["-rpcpassword=p"], { files: { [DEFAULT_FILE]: text } })
    assert.deepStrictEqual(again, settingsOf(argv))
  })
})
