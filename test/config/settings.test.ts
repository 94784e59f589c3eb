import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { readConfigFile } from "../../src/config/configFile.ts"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import { processInput } from "../../src/config/gather.ts"
import { NO_HOME } from "../../src/config/homeDirectory.ts"
import { credentialsOf } from "../../src/config/settings.ts"
import { paramsFor } from "../../src/node/layers/rules.ts"
import { DEFAULT_FILE, inputOf, problemsOf, settingsOf } from "./input.ts"

describe("decodeSettings", () => {
  it("prefers a flag to the environment, the environment to the file, the file to the default", () => {
    const files = { [DEFAULT_FILE]: "network = \"testnet\"\nloglevel = \"error\"\nmaxpeers = 7" }
    const env = { SVCD_NETWORK: "mainnet", SVCD_LOG_LEVEL: "warn" }
    const pick = (...input: Parameters<typeof settingsOf>) => {
      const { chain, log, peers } = settingsOf(...input)
      return [chain.network, log.level, peers.maxPeers]
    }
    assert.deepStrictEqual(pick([]), ["mainnet", "info", 125])
    assert.deepStrictEqual(pick([], { files }), ["testnet", "error", 7])
    assert.deepStrictEqual(pick([], { files, env }), ["mainnet", "warn", 7])
    assert.deepStrictEqual(pick(["-network=regtest", "-maxpeers=0"], { files, env }), ["regtest", "warn", 0])
  })

  it("validates the value in force, not an overridden one", () => {
    const files = { [DEFAULT_FILE]: "loglevel = \"loud\"" }
    assert.strictEqual(settingsOf(["-loglevel", "warn"], { files }).log.level, "warn")
    assert.deepStrictEqual(problemsOf([], { files }), [
      `${DEFAULT_FILE}:1 loglevel: "loud" is not one of debug, info, warn, error`
    ])
  })

  it("replaces the file's list by a list of flags", () => {
    const files = { [DEFAULT_FILE]: "addpeer = [\"a:1\", \"b:2\"]" }
    assert.deepStrictEqual(settingsOf([], { files }).peers.bootstrapPeers, [{ host: "a", port: 1 }, {
      host: "b",
      port: 2
    }])
    assert.deepStrictEqual(settingsOf(["-addpeer", "c:3"], { files }).peers.bootstrapPeers, [{ host: "c", port: 3 }])
  })

  it("uses the last occurrence of a flag that takes one value", () => {
    assert.strictEqual(settingsOf(["-maxpeers=1", "-maxpeers=2"]).peers.maxPeers, 2)
  })

  it("treats an empty environment variable as unset", () => {
    assert.strictEqual(settingsOf([], { env: { SVCD_NETWORK: "", SVCD_RPC_USER: "" } }).chain.network, "mainnet")
  })

  it("reads every environment variable of the specification", () => {
    const env = {
      SVCD_NETWORK: "regtest",
      SVCD_RPC_USER: "u",
      SVCD_RPC_PASSWORD: "p",
      SVCD_DATA_DIR: "/data",
      SVCD_LOG_LEVEL: "debug"
    }
    const settings = settingsOf([], { env })
    assert.deepStrictEqual([settings.chain.network, settings.chain.dataDir, settings.log.level], [
      "regtest",
      "/data",
      "debug"
    ])
    const credentials = credentialsOf(settings.rpc)
    assert.strictEqual(credentials?.user, "u")
    assert.strictEqual(credentials && Redacted.value(credentials.password), "p")
  })

  it("reads the switches of the RPC listener's pages", () => {
    const files = { [DEFAULT_FILE]: "statuspage = false\nrest = true" }
    const pick = (...input: Parameters<typeof settingsOf>) => {
      const { rest, statusPage } = settingsOf(...input).rpc
      return [statusPage, rest]
    }
    assert.deepStrictEqual(pick(["-nostatuspage", "-rest"]), [false, true])
    assert.deepStrictEqual(pick([], { files }), [false, true])
    assert.deepStrictEqual(pick(["-statuspage", "-norest"], { files }), [true, false])
  })

  it.each([
    {
      from: "a flag, relative to the caller",
      argv: ["-logfile", "logs/a.log"],
      files: {},
      logFile: "/place/logs/a.log"
    },
    { from: "a flag, at home", argv: ["-logfile=~/a.log"], files: {}, logFile: "/home/me/a.log" },
    {
      from: "the file, relative to the file",
      argv: [],
      files: { [DEFAULT_FILE]: "datadir = \"/data\"\nlogfile = \"a.log\"" },
      logFile: "/home/me/.svcd/a.log"
    },
    {
      from: "an empty flag, which turns the file's off",
      argv: ["-logfile="],
      files: { [DEFAULT_FILE]: "logfile = \"/a.log\"" },
      logFile: undefined
    }
  ])("takes the log file from $from", ({ argv, files, logFile }) => {
    assert.strictEqual(settingsOf(argv, { files }).log.file, logFile)
  })

  describe("the data directory", () => {
    it.each([
      { argv: ["-datadir", "/a/b"], dataDir: "/a/b" },
      { argv: ["-datadir", "deep/er"], dataDir: "/place/deep/er" },
      { argv: ["-datadir", "../x/./y"], dataDir: "/x/y" },
      { argv: ["-datadir", "~/node"], dataDir: "/home/me/node" },
      { argv: ["-datadir", "~"], dataDir: "/home/me" },
      { argv: ["-datadir", "~other"], dataDir: "/place/~other" },
      { argv: ["-datadir", "a = b"], dataDir: "/place/a = b" }
    ])("is $dataDir for $argv", ({ argv, dataDir }) => {
      assert.strictEqual(settingsOf(argv).chain.dataDir, dataDir)
    })

    it("contains the configuration file, which can set another data directory", () => {
      const files = { "/place/x/svcd.conf": "datadir = \"/data\"\nmaxpeers = 1" }
      assert.deepStrictEqual([settingsOf([], { files }).peers.maxPeers, settingsOf([], { files }).chain.dataDir], [
        125,
        "/home/me/.svcd"
      ])
      const moved = settingsOf([], { files, env: { SVCD_DATA_DIR: "x" } })
      assert.deepStrictEqual([moved.peers.maxPeers, moved.chain.dataDir], [1, "/place/x"])
      const atDefault = { [DEFAULT_FILE]: "datadir = \"/data\"" }
      assert.strictEqual(settingsOf([], { files: atDefault }).chain.dataDir, "/data")
    })

    it("in the file is relative to the file", () => {
      assert.strictEqual(
        settingsOf([], { files: { [DEFAULT_FILE]: "datadir = \"d\"" } }).chain.dataDir,
        "/home/me/.svcd/d"
      )
      assert.strictEqual(settingsOf([], { files: { [DEFAULT_FILE]: "datadir = \"~/d\"" } }).chain.dataDir, "/home/me/d")
    })

    it("must be given where the user has no home directory", () => {
      const homeless = (...argv: ReadonlyArray<string>) =>
        Either.match(decodeSettings({ ...inputOf(argv), homedir: NO_HOME }), {
          onLeft: ({ problems }) => problems.join(),
          onRight: ({ chain }) => chain.dataDir
        })
      assert.strictEqual(homeless("-datadir=/srv/svcd"), "/srv/svcd")
      for (const argv of [[], ["-datadir=~"], ["-datadir=~/names"]]) {
        assert.match(homeless(...argv), /no home directory, and HOME is not set; name another one with -datadir/)
      }
    })

    it("must not be empty", () => {
      assert.deepStrictEqual(problemsOf(["-datadir="]), ["-datadir: must not be empty"])
    })
  })

  it("makes paths of block files absolute", () => {
    assert.deepStrictEqual(settingsOf(["-loadblock", "a.dat", "-loadblock=/b", "-loadblock", "~/c"]).chain.loadBlocks, [
      "/place/a.dat",
      "/b",
      "/home/me/c"
    ])
  })

  it("has no listener with an empty -listen, and none offline", () => {
    assert.isUndefined(settingsOf(["-listen", ""]).peers.listen)
    assert.isUndefined(settingsOf(["-listen=127.0.0.1:5", "-maxpeers=0"]).peers.listen)
    assert.deepStrictEqual(settingsOf(["-listen=[::1]:5"]).peers.listen, { host: "::1", port: 5 })
  })

  it("turns -txindex, -nonamehistory and keys of the file into booleans", () => {
    const files = { [DEFAULT_FILE]: "allowexpired = true\ndisablewallet = 1" }
    const settings = settingsOf(["-txindex", "-nonamehistory"], { files })
    assert.deepStrictEqual(
      [
        settings.chain.txIndex,
        settings.answers.nameHistory,
        settings.answers.allowExpired,
        settings.wallet.disableWallet
      ],
      [true, false, true, true]
    )
  })

  it("leaves one core to the node and starts no more workers than the reference node", () => {
    const threads = (cores: number, ...argv: ReadonlyArray<string>) =>
      Either.getOrThrow(decodeSettings({ ...inputOf(argv), cores })).chain.verifyThreads
    assert.deepStrictEqual([threads(1), threads(2), threads(16), threads(64), threads(2, "-verifythreads=0")], [
      0,
      1,
      15,
      15,
      0
    ])
  })

  it("reads the options of regtest", () => {
    const { chain } = settingsOf([
      "-network=regtest",
      "-mocktime=1700000000",
      "-testactivationheight=segwit@300",
      "-testactivationheight=dersig@5",
      "-testactivationheight=segwit@400",
      "-vbparams=taproot:1:1"
    ])
    const { activation } = paramsFor(chain)
    assert.deepInclude(activation, { segwit: 400, bip66: 5, taproot: Infinity })
    assert.strictEqual(chain.mockTime, 1_700_000_000)
  })

  it("has other defaults with -blocksonly, unless the operator sets them", () => {
    const pick = (...argv: ReadonlyArray<string>) => {
      const { mempool, peers, wallet } = settingsOf(argv)
      return [peers.blocksOnly, mempool.maxMempool, peers.whitelistRelay, wallet.walletBroadcast]
    }
    assert.deepStrictEqual(pick(), [false, 300, true, true])
    assert.deepStrictEqual(pick("-blocksonly"), [true, 5, false, false])
    const given = ["-blocksonly", "-maxmempool=300", "-whitelistrelay", "-walletbroadcast"]
    assert.deepStrictEqual(pick(...given), [true, 300, true, true])
  })

  it("accepts an RPC listener that other machines can reach, with credentials or by permission", () => {
    assert.strictEqual(settingsOf(["-rpcaddr=:8336", "-rpcuser=u", "-rpcpassword=p"]).rpc.listenAddr.host, "")
    assert.isTrue(settingsOf(["-rpcaddr=:8336", "-rpcallowinsecure"]).rpc.allowInsecure)
    assert.strictEqual(settingsOf(["-rpcaddr=[::1]:8336"]).rpc.listenAddr.host, "::1")
  })

  it("ignores the address of a disabled listener", () => {
    assert.strictEqual(settingsOf(["-rpcaddr=127.0.0.1:8334", "-maxpeers=0"]).rpc.listenAddr.port, 8334)
    assert.strictEqual(settingsOf(["-rpcaddr=127.0.0.1:8334", "-listen="]).rpc.listenAddr.port, 8334)
  })

  it("disables credentials of the file with empty flags", () => {
    const files = { [DEFAULT_FILE]: "rpcuser = \"u\"\nrpcpassword = \"p\"" }
    assert.isUndefined(credentialsOf(settingsOf(["-rpcuser=", "-rpcpassword="], { files }).rpc))
  })

  it("accepts the input of this process", () => {
    const input = processInput()
    assert.strictEqual(input.readFile, readConfigFile)
    assert.isAtLeast(input.cores, 1)
  })
})
