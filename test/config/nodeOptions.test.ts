import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Redacted, Schema } from "effect"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import { decodeNodeOptions, fieldsOf, type NodeOptions, type OptionProblem } from "../../src/config/nodeOptions.ts"
import { optionNamesOf } from "../../src/config/optionRow.ts"
import { isOptionName, type OptionName, OPTIONS } from "../../src/config/options.ts"
import type { Settings } from "../../src/config/settings.ts"
import { inputOf } from "./input.ts"

const NODE_FIELDS = fieldsOf("Node")

const AROUND = { cwd: "/place", homedir: "/home/me", cores: 4 }

const decoded = (options: NodeOptions): Either.Either<Settings, OptionProblem> => decodeNodeOptions(options, AROUND)

/** Without the listener of RPC, which a record of options says nothing about. */
const ofNode = ({ rpc: _, ...settings }: Settings): Omit<Settings, "rpc"> => settings

/** For values that the types refuse, as programs in JavaScript may give them. */
const decodedAnyway = (options: object): Either.Either<Settings, OptionProblem> =>
  decodeNodeOptions(options as NodeOptions, AROUND)

/** Options of a daemon alone: its servers and its log, what it runs, sends and publishes, and its command line. */
const DAEMON_OPTIONS = [
  "printconfig",
  "completions",
  "version",
  "help",
  "blocknotify",
  "walletnotify",
  "namenotify",
  "alertnotify",
  "startupnotify",
  "shutdownnotify",
  "webhook",
  "webhookprivate",
  "zmqpubhashblock",
  "zmqpubhashblockhwm",
  "zmqpubhashtx",
  "zmqpubhashtxhwm",
  "zmqpubrawblock",
  "zmqpubrawblockhwm",
  "zmqpubrawtx",
  "zmqpubrawtxhwm",
  "zmqpubsequence",
  "zmqpubsequencehwm",
  "rpcaddr",
  "rpcuser",
  "rpcpassword",
  "rpcauth",
  "rpccookie",
  "rpccookiefile",
  "rpccookieperms",
  "rpcwhitelist",
  "rpcwhitelistdefault",
  "rpcrights",
  "rpcbind",
  "rpcallowip",
  "webwallet",
  "webwalletproxy",
  "rpcworkqueue",
  "rpcservertimeout",
  "rpcdoccheck",
  "rpcallowinsecure",
  "ratelimit",
  "maxrequestsize",
  "metricsaddr",
  "metricsdetail",
  "statuspage",
  "rest",
  "alertmail",
  "alertmailserver",
  "alertmailfrom",
  "alertmailplain",
  "dns",
  "dnsns",
  "dnssuffix",
  "dnsid",
  "dnssec",
  "dnsrequireproof",
  "dnsttl",
  "dnsforward",
  "dnsallow",
  "dnstls",
  "dnshttps",
  "dnshttp",
  "dnscert",
  "dnskey",
  "dnstransfer",
  "dnsnotify",
  "dnstsig",
  "dnsrate",
  "electrum",
  "electrumtls",
  "electrumws",
  "electrumwss",
  "electrumcert",
  "electrumkey",
  "electrumhost",
  "loglevel",
  "logformat",
  "debugsubsystem",
  "logfile"
] as const satisfies ReadonlyArray<OptionName>

/** Texts that one option or another takes. */
const TEXTS = [
  "",
  "0",
  "1",
  "2",
  "5",
  "600",
  "100000",
  "4096",
  "-1",
  "0.001",
  "none",
  "a.b:8",
  "127.0.0.1:9",
  "127.0.0.1",
  "ab",
  "1k",
  "/x",
  "x y",
  "bip34@5",
  "taproot:-1:0",
  "bip94",
  "ipv4",
  "full",
  "light",
  "work",
  "regtest",
  "testnet",
  "utf8",
  "hex",
  "bech32",
  "noban@10.0.0.0/8",
  "00".repeat(32)
]

const single = (name: OptionName, text: string): unknown =>
  Schema.decodeUnknownSync(OPTIONS[name].schema() as Schema.Schema<unknown, string>)(text)

const list = (name: OptionName, text: string): unknown =>
  Schema.decodeUnknownSync(OPTIONS[name].schema() as Schema.Schema<unknown, ReadonlyArray<string>>)([text])

const byFlag = (name: OptionName, text: string): Either.Either<Settings, unknown> =>
  decodeSettings(inputOf([`-${name}=${text}`, "-network=regtest"]))

describe("options of a node", () => {
  it("are those of the table, but for those of a daemon", () => {
    assert.sameMembers(
      [...NODE_FIELDS.values(), ...DAEMON_OPTIONS],
      optionNamesOf(OPTIONS).filter(isOptionName)
    )
  })

  it("are by default what flags are by default", () => {
    assert.deepStrictEqual(
      ofNode(Either.getOrThrow(decoded({}))),
      ofNode(Either.getOrThrow(decodeSettings(inputOf([]))))
    )
  })

  it.each([...NODE_FIELDS].filter(([, name]) => name !== "network" && OPTIONS[name].flag))(
    "%s gives the settings of its flag, as text and as value",
    (field, name) => {
      let accepted = 0
      for (const text of TEXTS) {
        const flag = byFlag(name, text)
        const { repeatable } = OPTIONS[name]
        const given = repeatable ? [text] : text
        const asText = decodedAnyway({ network: "regtest", [field]: given })
        if (Either.isLeft(flag)) {
          // Some words are values, and have no text.
          if (text !== "none") assert.isTrue(Either.isLeft(asText), text)
          continue
        }
        accepted++
        assert.deepStrictEqual(ofNode(Either.getOrThrow(asText)), ofNode(flag.right), text)
        const value = repeatable ? list(name, text) : single(name, text)
        // To leave a field out is its default.
        if (value === undefined) continue
        const asValue = decodedAnyway({ network: "regtest", [field]: value })
        assert.deepStrictEqual(ofNode(Either.getOrThrow(asValue)), ofNode(flag.right), text)
      }
      assert.isAbove(accepted, 0)
    }
  )

  it("have the bounds of the flag for every number", () => {
    const numbers = [...NODE_FIELDS].filter(([, name]) =>
      OPTIONS[name].toml === "integer" && !OPTIONS[name].repeatable && OPTIONS[name].flag
    )
    assert.isAbove(numbers.length, 20)
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom(...numbers),
        FastCheck.oneof(FastCheck.integer(), FastCheck.nat(1_000), FastCheck.maxSafeInteger()),
        ([field, name], value) => {
          const typed = decodedAnyway({ network: "regtest", [field]: value })
          const flag = byFlag(name, `${value}`)
          assert.strictEqual(Either.isRight(typed), Either.isRight(flag))
          if (Either.isRight(flag)) assert.deepStrictEqual(ofNode(Either.getOrThrow(typed)), ofNode(flag.right))
        }
      )
    )
  })

  it.each<[object, string, RegExp]>([
    [{ network: "moonnet" }, "network", /^"moonnet" is not one of mainnet, testnet, regtest$/],
    [{ maxPeers: -1 }, "maxPeers", /is not a whole number from 0 to/],
    [{ maxPeers: 1.5 }, "maxPeers", /^1.5 is not a whole number/],
    [{ maxPeers: Number.NaN }, "maxPeers", /^NaN is not a whole number/],
    [{ maxPeers: true }, "maxPeers", /./],
    [{ bootstrapPeers: ["127.0.0.1:1", "nowhere"] }, "bootstrapPeers", /^number 2: /],
    [{ bootstrapPeers: "127.0.0.1:1" }, "bootstrapPeers", /^has to be a list$/],
    [{ maxPers: 1 }, "maxPers", /^is not an option here; did you mean maxPeers\?$/],
    [{ prune: 600, txIndex: true }, "prune", /incompatible/],
    [{ peerBlockFilters: true }, "options", /blockfilterindex/],
    [{ network: "mainnet", fastPrune: true }, "fastPrune", /regtest alone/],
    [{ pageSize: 4095 }, "pageSize", /is not a power of two/],
    [{ dataDir: "" }, "dataDir", /must not be empty/]
  ])("that are wrong are named with the reason: %j", (options, field, reason) => {
    const problem = Either.getOrThrow(Either.flip(decodedAnyway(options)))
    assert.strictEqual(problem.field, field)
    assert.match(problem.reason, reason)
  })

  it("take paths from the working directory and the home directory", () => {
    const pathOf = (dataDir: string): string => Either.getOrThrow(decoded({ dataDir })).chain.dataDir
    assert.deepStrictEqual(["names", "~/x", "/y/../z"].map(pathOf), ["/place/names", "/home/me/x", "/z"])
  })

  it("never repeat what may be a secret", () => {
    const problem = Either.getOrThrow(Either.flip(decodedAnyway({ maxPeers: Redacted.make("secret") })))
    assert.notInclude(JSON.stringify(problem), "secret")
  })
})
