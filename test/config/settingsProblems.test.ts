import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import { version } from "../../src/version.ts"
import { DEFAULT_FILE, inputOf, problemsOf, settingsOf } from "./input.ts"

const NO_WAY_TO_TOR = "-onlynet: allows Tor, and there is no way to it; set proxy or onion to Tor's SOCKS5 port"

describe("the problems of settings", () => {
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
})
