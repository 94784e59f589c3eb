import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { readConfigFile } from "../../src/config/configFile.ts"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import { processInput } from "../../src/config/gather.ts"
import { NO_HOME } from "../../src/config/homeDirectory.ts"
import { reachableNetworks } from "../../src/config/peerSettings.ts"
import { proxyRoutes } from "../../src/config/proxies.ts"
import { credentialsOf, type Settings } from "../../src/config/settings.ts"
import { paramsFor } from "../../src/node/layers/rules.ts"
import { version } from "../../src/version.ts"
import { DEFAULT_FILE, inputOf, problemsOf, settingsOf } from "./input.ts"

type PeerFacts = Settings["peers"] & {
  readonly networks: ReturnType<typeof reachableNetworks>
  readonly proxies: ReturnType<typeof proxyRoutes>
}

const TOR = { host: "127.0.0.1", port: 9050 }
const NO_PROXIES = { ipv4: undefined, ipv6: undefined, onion: undefined, cjdns: undefined, names: undefined }
const NO_WAY_TO_TOR = "-onlynet: allows Tor, and there is no way to it; set proxy or onion to Tor's SOCKS5 port"

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

  it.each([
    [["-network=moonnet"], "-network: \"moonnet\" is not one of mainnet, testnet, regtest"],
    [["-rpcaddr=nonsense"], "-rpcaddr: \"nonsense\" is not an address of the form host:port"],
    [["-rpcaddr=127.0.0.1:99999"], "-rpcaddr: \"127.0.0.1:99999\" has no port from 1 to 65535"],
    [["-maxpeers=-1"], "-maxpeers: \"-1\" is not a whole number from 0 to 10000"],
    [["-maxpeers=ten"], "-maxpeers: \"ten\" is not a whole number from 0 to 10000"],
    [["-addpeer=a:1", "-addpeer=127.0.0.1:0"], "-addpeer: \"127.0.0.1:0\" has no port from 1 to 65535"],
    [["-metricsaddr=9100x"], "-metricsaddr: \"9100x\" is not an address of the form host:port"],
    [["-ratelimit=-5"], "-ratelimit: \"-5\" is not a whole number from -1 to 1000000000"],
    [["-maxrequestsize=lots"], "-maxrequestsize: \"lots\" is not a whole number from 0 to 1073741824"],
    [["-nameencoding=latin1"], "-nameencoding: \"latin1\" is not one of ascii, utf8, hex"],
    [["-prune=549"], "Prune configured below the minimum of 550 MiB.  Please use a higher number."],
    [["-prune=-1"], "Prune cannot be configured with a negative value."],
    [["-prune=1", "-txindex"], "Prune mode is incompatible with -txindex."],
    [["-prune=550", "-txospenderindex"], "Prune mode is incompatible with -txospenderindex."],
    [["-prune=550", "-electrumindex"], "Prune mode is incompatible with -electrumindex."],
    [
      ["-electrumindex", "-sync=light"],
      "-electrumindex: is for sync full: a light node keeps no blocks to index; set sync full, or leave it out"
    ],
    [
      ["-prune=1", "-reindex-chainstate"],
      "Prune mode is incompatible with -reindex-chainstate. Use full -reindex instead."
    ],
    [
      ["-loadsnapshot=a.dat", "-reindex"],
      "-loadsnapshot: cannot be given with reindex, which rebuilds the chain state from the stored blocks"
    ],
    [
      ["-loadsnapshot=a.dat", "-reindex-chainstate"],
      "-loadsnapshot: cannot be given with reindex-chainstate, which rebuilds the chain state from the stored blocks"
    ],
    [["-loadsnapshot=a.dat", "-sync=light"], "-loadsnapshot: is for sync full: a light node keeps no coins"],
    [["-fastprune"], "-fastprune: is for regtest alone, and the network is mainnet"],
    [["-peerblockfilters"], "Cannot set -peerblockfilters without -blockfilterindex."],
    [["-blockfilterindex=abc"], "Unknown -blockfilterindex value abc."],
    [["-uacomment=a(b)"], "User Agent comment (a(b)) contains unsafe characters."],
    [
      [`-uacomment=${"a".repeat(248 - version.length)}`],
      "Total length of network version string (257) exceeds maximum length (256). Reduce the number or size of uacomments."
    ],
    [["-maxmempool=4"], "-maxmempool must be at least 5 MB"],
    [["-maxmempool=70000"], "-maxmempool: \"70000\" is not a whole number from 5 to 65536"],
    [
      ["-blockmaxweight=4000001"],
      "Specified -blockmaxweight (4000001) exceeds consensus maximum block weight (4000000)"
    ],
    [
      ["-blockreservedweight=4000001"],
      "Specified -blockreservedweight (4000001) exceeds consensus maximum block weight (4000000)"
    ],
    [
      ["-blockreservedweight=1999"],
      "Specified -blockreservedweight (1999) is lower than minimum safety value of (2000)"
    ],
    [["-maxuploadtarget=5x"], "Unable to parse -maxuploadtarget: '5x'"],
    [["-maxuploadtarget=8192T"], "Unable to parse -maxuploadtarget: '8192T'"],
    [["-peertimeout=0"], "-peertimeout: \"0\" is not a whole number from 1 to 999999999"],
    [["-timeout=0"], "-timeout: \"0\" is not a whole number from 1 to 3600000"],
    [["-onlynet=i2p"], "-onlynet: \"i2p\" is not one of ipv4, ipv6, onion"],
    [["-onlynet=onion"], NO_WAY_TO_TOR],
    [["-onlynet=onion", "-onlynet=ipv4", "-proxy=127.0.0.1=ipv4"], NO_WAY_TO_TOR],
    [
      ["-onlynet=onion", "-proxy=127.0.0.1", "-onion=0"],
      "-onlynet: allows Tor, and there is no way to it; -onion=0 forbids it"
    ],
    [["-proxy=a b"], "Invalid -proxy address or hostname: 'a b'"],
    [["-proxy=127.0.0.1:9050="], "Invalid -proxy address or hostname, ends with '=': '127.0.0.1:9050='"],
    [["-proxy=127.0.0.1=i2p"], "Unrecognized network in -proxy='127.0.0.1=i2p': 'i2p'"],
    [["-proxy=unix:"], "Invalid -proxy address or hostname: 'unix:'"],
    [[`-onion=unix:/${"x".repeat(107)}`], `Invalid -onion address or hostname: 'unix:/${"x".repeat(107)}'`],
    [["-noonion"], "-noonion: unknown flag; write -onion=0"],
    [["-seednode=a b"], "-seednode: \"a b\" is not a host or host:port"],
    [
      ["-externalip=node.example"],
      "-externalip: \"node.example\" is not an IPv4, IPv6 or onion address, with or without a port"
    ],
    [
      ["-forcednsseed", "-nodnsseed"],
      "Cannot set -forcednsseed to true when setting -dnsseed to false."
    ],
    [["-forcednsseed", "-addpeer=a:1"], "Cannot set -forcednsseed to true when setting -dnsseed to false."],
    [
      ["-forcednsseed", "-onlynet=onion", "-proxy=127.0.0.1:9050"],
      "Cannot set -forcednsseed to true when setting -dnsseed to false; -onlynet=onion does that"
    ],
    [
      ["-dnsseed", "-onlynet=onion", "-proxy=127.0.0.1:9050"],
      "-dnsseed: finds peers of IPv4 and IPv6, and onlynet forbids connections to them"
    ],
    [["-blockfilterindex=all"], "Unknown -blockfilterindex value all."],
    [["-txindex=yes"], "-txindex: \"yes\" is not one of 0, 1, true, false"],
    [["-loadblock="], "-loadblock: must not be empty"],
    [["-dbcache=3"], "-dbcache: \"3\" is not a whole number from 4 to 65536"],
    [["-rpcuser", "alice"], "-rpcuser: is given without rpcpassword; RPC needs both or neither"],
    [["-rpcpassword", "x"], "-rpcpassword: is given without rpcuser; RPC needs both or neither"],
    [["-rpcuser=a", "-rpcpassword="], "-rpcuser: is given without rpcpassword; RPC needs both or neither"],
    [["-metricsaddr=127.0.0.1:8336"], "-metricsaddr: 127.0.0.1:8336 is taken by rpcaddr 127.0.0.1:8336"],
    [["-metricsaddr=:8336"], "-metricsaddr: :8336 is taken by rpcaddr 127.0.0.1:8336"],
    [["-metricsaddr=:8334"], "-metricsaddr: :8334 is taken by listen :8334"],
    [["-rpcaddr=127.0.0.1:8334"], "-rpcaddr: 127.0.0.1:8334 is taken by listen :8334"],
    [["-mocktime=5"], "-mocktime: is for regtest alone, and the network is mainnet"],
    [
      ["-network=testnet", "-testactivationheight=csv@5"],
      "-testactivationheight: is for regtest alone, and the network is testnet"
    ],
    [["-vbparams=taproot:-1:0"], "-vbparams: is for regtest alone, and the network is mainnet"],
    [
      ["-rpcaddr=0.0.0.0:8336", "-rpccookiefile="],
      "-rpcaddr: 0.0.0.0:8336 is open to other machines, and there are no credentials; " +
      "set rpcuser and rpcpassword, or rpcauth, or rpccookiefile, or rpcallowinsecure"
    ]
  ])("refuses %j", (argv, problem) => {
    assert.deepStrictEqual(problemsOf(argv), [problem])
  })

  it.each<readonly [argv: ReadonlyArray<string>, expected: Partial<PeerFacts>]>([
    [["-addpeer=a:1", "-seednode=b"], { dnsSeed: false, seedNodes: [] }],
    [["-addpeer=a:1", "-dnsseed"], { dnsSeed: true }],
    [["-seednode=b", "-seednode=[::1]:5", "-seednode=::1"], { dnsSeed: true, seedNodes: ["b", "[::1]:5", "::1"] }],
    [["-proxy=127.0.0.1:9050"], { networks: ["ipv4", "ipv6", "onion"], discover: false }],
    [["-proxy=127.0.0.1:9050", "-onlynet=onion"], { networks: ["onion"], dnsSeed: false }],
    [["-onion=127.0.0.1"], {
      networks: ["ipv4", "ipv6", "onion"],
      discover: true,
      proxies: { ...NO_PROXIES, onion: TOR }
    }],
    [["-proxy=127.0.0.1", "-onion=0"], {
      networks: ["ipv4", "ipv6"],
      discover: false,
      proxies: { ipv4: TOR, ipv6: TOR, onion: undefined, cjdns: TOR, names: TOR }
    }],
    [["-proxy=[::1]:1", "-proxy=unix:/run/tor/socks=onion", "-proxy=127.0.0.1=IPv4", "-proxyrandomize=0"], {
      proxies: {
        ipv4: TOR,
        ipv6: { host: "::1", port: 1 },
        onion: { path: "/run/tor/socks" },
        cjdns: { host: "::1", port: 1 },
        names: TOR
      },
      proxyRandomize: false
    }],
    [["-proxy=127.0.0.1", "-proxy=0"], { networks: ["ipv4", "ipv6"], discover: true, proxies: NO_PROXIES }],
    [["-proxy="], { proxies: NO_PROXIES }],
    [["-proxy=127.0.0.1", "-proxy==ipv6"], {
      discover: false,
      proxies: { ipv4: TOR, ipv6: undefined, onion: TOR, cjdns: TOR, names: undefined }
    }],
    [["-onlynet=ipv6"], { networks: ["ipv6"], dnsSeed: true }],
    [["-externalip=192.0.2.1", "-externalip=[2001:db8::1]:5"], {
      discover: false,
      externalAddresses: [{ host: "192.0.2.1", port: 0 }, { host: "2001:db8::1", port: 5 }]
    }],
    [["-externalip=192.0.2.1", "-discover"], { discover: true }],
    [["-listen="], { discover: false }],
    [["-maxuploadtarget=500"], { maxUploadTarget: 500 * 1024 * 1024 }],
    [["-maxuploadtarget=2g"], { maxUploadTarget: 2_000_000_000 }]
  ])("derives the settings of peers from %j", (argv, expected) => {
    const { peers } = settingsOf(argv)
    assert.deepInclude({ ...peers, networks: reachableNetworks(peers), proxies: proxyRoutes(peers) }, expected)
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

  it("names the source of each invalid value", () => {
    const files = { [DEFAULT_FILE]: "maxinbound = 1\nlisten = \"x\"\n[database]\n\npagesize = 5000" }
    const env = { SVCD_NETWORK: "moonnet", SVCD_LOG_LEVEL: "loud" }
    assert.sameMembers([...problemsOf(["-maxpeers=x"], { env, files })], [
      "SVCD_NETWORK: \"moonnet\" is not one of mainnet, testnet, regtest",
      `${DEFAULT_FILE}:2 listen: "x" is not an address of the form host:port`,
      "-maxpeers: \"x\" is not a whole number from 0 to 10000",
      `${DEFAULT_FILE}:5 database.pagesize: "5000" is not a power of two from 512 to 65536`,
      "SVCD_LOG_LEVEL: \"loud\" is not one of debug, info, warn, error"
    ])
  })

  it("names a file that cannot be read, and the remedy for a directory of another user", () => {
    const problemOf = (why: string, isForbidden = false) => {
      const outcome = decodeSettings({ ...inputOf([]), readFile: () => Either.left({ why, isForbidden }) })
      return Either.isLeft(outcome) ? outcome.left.problems : []
    }
    assert.deepStrictEqual(problemOf("is not UTF-8"), [`${DEFAULT_FILE} is not UTF-8`])
    assert.deepStrictEqual(problemOf("cannot be read: permission denied", true), [
      `${DEFAULT_FILE} cannot be read: permission denied; run it as the user of the node (sudo -u USER …), ` +
      "or name another directory with -datadir"
    ])
  })

  it("says where a value is, unless it is a flag that the message names", () => {
    assert.deepStrictEqual(problemsOf([], { files: { [DEFAULT_FILE]: "maxmempool = 4" } }), [
      `${DEFAULT_FILE}:1 maxmempool: -maxmempool must be at least 5 MB`
    ])
  })

  it("never shows a password", () => {
    const password = "top-secret"
    const files = { [DEFAULT_FILE]: `rpcpassword = "${password}"\nrpcuser = "a:b"` }
    assert.notInclude(problemsOf(["-maxpeers=x", "-rpcuser=a:b", `-rpcpassword=${password}`]).join(), password)
    assert.notInclude(problemsOf([], { files }).join(), password)
    assert.notInclude(JSON.stringify(settingsOf(["-rpcuser=a", `-rpcpassword=${password}`])), password)
  })

  it("accepts the input of this process", () => {
    const input = processInput()
    assert.strictEqual(input.readFile, readConfigFile)
    assert.isAtLeast(input.cores, 1)
  })
})
