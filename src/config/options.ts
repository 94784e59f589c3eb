import { NAME_ENCODINGS } from "../protocol/nameText.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { ACCESS_OPTIONS } from "./accessOptions.ts"
import { ALERT_OPTIONS } from "./alertOptions.ts"
import * as ChainKind from "./chainKinds.ts"
import * as Kind from "./kinds.ts"
import { LIGHT_OPTIONS } from "./lightOptions.ts"
import { NOTIFY_OPTIONS } from "./notifyOptions.ts"
import { listOption, type OptionTable, singleOption } from "./optionRow.ts"
import { PEER_OPTIONS } from "./peerOptions.ts"
import { RELAY_OPTIONS } from "./relayOptions.ts"
import { WALLET_OPTIONS } from "./walletOptions.ts"
import { WEBHOOK_OPTIONS } from "./webhookOptions.ts"
import { ZMQ_OPTIONS } from "./zmqOptions.ts"

/**
 * The table of all svcd options: names in each source, validation, default and help text. The readers of flags,
 * environment and file use this table, and so do the help and `-printconfig`.
 */

export const NETWORK_NAMES = ["mainnet", "testnet", "regtest"] as const satisfies ReadonlyArray<NetworkName>

/** Shells for which the programs print completions. */
export const SHELLS = ["bash", "zsh", "fish"] as const
export type Shell = (typeof SHELLS)[number]

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const
export type LogLevelName = (typeof LOG_LEVELS)[number]

export const LOG_FORMATS = ["text", "json"] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** The subsystems of the node in log entries: the annotation `subsystem`. */
export const SUBSYSTEMS = [
  "chain",
  "mail",
  "mempool",
  "metrics",
  "names",
  "network",
  "rpc",
  "storage",
  "wallet",
  "webhooks"
] as const
export type Subsystem = (typeof SUBSYSTEMS)[number]

/** Requests per minute, 0 for the default and -1 for no limit (reference/rpc.md 9.1). */
const rateLimit = Kind.integerKind({ min: -1, max: 1_000_000_000 })

const GIB = 1024 ** 3

export const OPTIONS = {
  network: singleOption(Kind.choiceKind(NETWORK_NAMES), "network", "General", "network to join", {
    default: "mainnet",
    env: "SVCD_NETWORK"
  }),
  datadir: singleOption(Kind.pathKind, "datadir", "General", "data directory", {
    default: "~/.svcd",
    env: "SVCD_DATA_DIR"
  }),
  printconfig: singleOption(
    Kind.onOffKind,
    "printconfig",
    "General",
    "print the settings in force, each with its source, and exit",
    { default: "0", flagOnly: true }
  ),
  completions: singleOption(
    Kind.optionalKind(Kind.choiceKind(SHELLS)),
    "completions",
    "General",
    "print what makes a shell complete flags, and exit",
    { flagOnly: true }
  ),
  version: singleOption(Kind.onOffKind, "version", "General", "print the version and exit", {
    default: "0",
    flagOnly: true
  }),
  help: singleOption(Kind.onOffKind, "help", "General", "print this text and exit", { default: "0", flagOnly: true }),

  ...NOTIFY_OPTIONS,
  ...WEBHOOK_OPTIONS,
  ...ZMQ_OPTIONS,

  rpcaddr: singleOption(Kind.addressKind("optional"), "rpcaddr", "RPC", "address of the RPC listener", {
    default: "127.0.0.1:8336"
  }),
  rpcuser: singleOption(Kind.optionalKind(Kind.userNameKind), "rpcuser", "RPC", "user name for RPC", {
    env: "SVCD_RPC_USER",
    defaultNote: "no credentials"
  }),
  rpcpassword: singleOption(
    Kind.optionalKind(Kind.secretKind),
    "rpcpassword",
    "RPC",
    "password for RPC; set it by environment or file, because other users can see flags",
    { env: "SVCD_RPC_PASSWORD", secret: true }
  ),
  ...ACCESS_OPTIONS,
  rpcallowinsecure: singleOption(
    Kind.onOffKind,
    "rpcallowinsecure",
    "RPC",
    "allow an RPC listener that other machines can reach without credentials",
    { default: "0" }
  ),
  ratelimit: singleOption(rateLimit, "ratelimit", "RPC", "requests per minute and client address; -1 for no limit", {
    default: "0",
    defaultNote: "0, which is 6000, and no limit on loopback"
  }),
  maxrequestsize: singleOption(
    Kind.integerKind({ min: 0, max: GIB }),
    "maxrequestsize",
    "RPC",
    "maximum body of an RPC request, in bytes",
    { default: "0", defaultNote: "0, which is 33554432" }
  ),
  metricsaddr: singleOption(
    Kind.optionalKind(Kind.addressKind("optional")),
    "metricsaddr",
    "RPC",
    "address of the metrics endpoint",
    { defaultNote: "no endpoint" }
  ),
  metricsdetail: singleOption(
    Kind.onOffKind,
    "metricsdetail",
    "RPC",
    "show all metrics, not only those that each node has",
    { default: "0" }
  ),
  statuspage: singleOption(
    Kind.onOffKind,
    "statuspage",
    "RPC",
    "serve pages about the node, blocks and names to browsers on the RPC listener",
    { default: "1" }
  ),
  rest: singleOption(
    Kind.onOffKind,
    "rest",
    "RPC",
    "serve GET /rest/name/ and /rest/names.json, read-only and without credentials",
    {
      default: "0"
    }
  ),

  ...PEER_OPTIONS,

  ...RELAY_OPTIONS,

  loadblock: listOption(
    Kind.pathKind,
    "loadblock",
    "Chain",
    "block file, or blocks directory of Namecoin Core, to import at the start; may be repeated",
    { flagOnly: true }
  ),
  loadsnapshot: singleOption(
    Kind.optionalKind(Kind.pathKind),
    "loadsnapshot",
    "Chain",
    "snapshot of the coins, as dumptxoutset writes it, to begin with",
    { flagOnly: true, defaultNote: "no snapshot" }
  ),
  snapshothash: singleOption(
    Kind.optionalKind(ChainKind.displayedHash),
    "snapshothash",
    "Chain",
    "txoutset_hash of the snapshot that may be loaded",
    { defaultNote: "those of the network" }
  ),
  assumevalid: singleOption(
    ChainKind.assumeValid,
    "assumevalid",
    "Chain",
    "block up to which scripts are assumed valid; 0 to check them all",
    { defaultNote: "the network's own" }
  ),
  minimumchainwork: singleOption(
    Kind.optionalKind(ChainKind.chainWork),
    "minimumchainwork",
    "Chain",
    "least work of a chain to download, in hexadecimal digits",
    { defaultNote: "the network's own" }
  ),
  maxtipage: singleOption(
    Kind.integerKind({ min: 0, max: 9_223_372_036 }),
    "maxtipage",
    "Chain",
    "largest age of the last block, in seconds, at which the node leaves the initial download",
    { default: "86400" }
  ),
  verifythreads: singleOption(
    Kind.optionalKind(Kind.integerKind({ min: 0, max: 64 })),
    "verifythreads",
    "Chain",
    "worker threads that check scripts",
    { defaultNote: "processors - 1" }
  ),
  dbcache: singleOption(
    Kind.integerKind({ min: 4, max: 65_536 }),
    "dbcache",
    "Chain",
    "memory for unspent coins, in MiB",
    {
      default: "32"
    }
  ),
  txindex: singleOption(Kind.onOffKind, "txindex", "Chain", "keep an index of all transactions", { default: "0" }),
  blockfilterindex: singleOption(
    ChainKind.filterIndex,
    "blockfilterindex",
    "Chain",
    "keep an index of compact block filters: basic or 1 for basic filters, 0 for none",
    { default: "0" }
  ),
  coinstatsindex: singleOption(
    Kind.onOffKind,
    "coinstatsindex",
    "Chain",
    "keep statistics of the unspent outputs at every block",
    { default: "0" }
  ),
  txospenderindex: singleOption(
    Kind.onOffKind,
    "txospenderindex",
    "Chain",
    "keep an index of the transactions that spend outputs",
    { default: "0" }
  ),
  reindex: singleOption(
    Kind.onOffKind,
    "reindex",
    "Chain",
    "rebuild the chain state, names and all indexes from the stored blocks",
    { default: "0", flagOnly: true }
  ),
  "reindex-chainstate": singleOption(
    Kind.onOffKind,
    "reindex-chainstate",
    "Chain",
    "rebuild the chain state and names from the stored blocks, and keep the indexes",
    { default: "0", flagOnly: true }
  ),
  reindexnames: singleOption(
    Kind.onOffKind,
    "reindexnames",
    "Chain",
    "build the search indexes of names again, in the background",
    { default: "0", flagOnly: true }
  ),
  prune: singleOption(
    ChainKind.pruneKind,
    "prune",
    "Chain",
    "delete old blocks: 1 when pruneblockchain is called, 550 or more to keep blocks below this size in MiB",
    { default: "0" }
  ),
  checkblocks: singleOption(
    Kind.integerKind({ min: 0, max: 2_147_483_647 }),
    "checkblocks",
    "Chain",
    "number of last blocks to check at the start; 0 for all",
    { default: "6" }
  ),
  checklevel: singleOption(
    Kind.integerKind({ min: 0, max: 4 }),
    "checklevel",
    "Chain",
    "level of that check: 0 reads the blocks, 1 checks their rules, 2 their undo data, 3 their coins, 4 their scripts",
    { default: "3" }
  ),
  backgroundcheck: singleOption(
    Kind.onOffKind,
    "backgroundcheck",
    "Chain",
    "verify all data on disk continuously in the background",
    { default: "1" }
  ),
  pagesize: singleOption(Kind.pageSizeKind, "pagesize", "Chain", "page size of new databases, in bytes", {
    default: "4096",
    key: "database.pagesize",
    fileOnly: true
  }),

  namehistory: singleOption(Kind.onOffKind, "namehistory", "Names and wallet", "allow name_history", { default: "1" }),
  namehashindex: singleOption(
    Kind.onOffKind,
    "namehashindex",
    "Names and wallet",
    "keep an index of the hashes of names",
    {
      default: "0"
    }
  ),
  nameencoding: singleOption(
    Kind.choiceKind(NAME_ENCODINGS),
    "nameencoding",
    "Names and wallet",
    "RPC encoding of names",
    {
      default: NAME_ENCODINGS[0]
    }
  ),
  valueencoding: singleOption(
    Kind.choiceKind(NAME_ENCODINGS),
    "valueencoding",
    "Names and wallet",
    "RPC encoding of values",
    {
      default: NAME_ENCODINGS[0]
    }
  ),
  allowexpired: singleOption(Kind.onOffKind, "allowexpired", "Names and wallet", "let name_show return expired names", {
    default: "0"
  }),
  ...LIGHT_OPTIONS,
  disablewallet: singleOption(
    Kind.onOffKind,
    "disablewallet",
    "Names and wallet",
    "run without wallets and their methods",
    {
      default: "0"
    }
  ),
  nowallet: singleOption(Kind.onOffKind, "nowallet", "Names and wallet", "load no wallet at the start", {
    default: "0"
  }),
  limitnamechains: singleOption(
    Kind.integerKind({ min: 1, max: 60 }),
    "limitnamechains",
    "Names and wallet",
    "operations on one name that may wait for a block at once",
    { default: "1" }
  ),
  ...WALLET_OPTIONS,
  ...ALERT_OPTIONS,

  loglevel: singleOption(Kind.choiceKind(LOG_LEVELS), "loglevel", "Logging", "lowest level to log", {
    default: "info",
    env: "SVCD_LOG_LEVEL"
  }),
  logformat: singleOption(Kind.choiceKind(LOG_FORMATS), "logformat", "Logging", "lines of text or of JSON", {
    default: "text"
  }),
  debugsubsystem: singleOption(
    Kind.commaSeparatedKind(Kind.choiceKind(SUBSYSTEMS)),
    "debugsubsystem",
    "Logging",
    `subsystems whose debug entries are logged too, separated by commas: ${SUBSYSTEMS.join(", ")}`
  ),
  logfile: singleOption(
    Kind.optionalKind(Kind.pathKind),
    "logfile",
    "Logging",
    "file to append the log to instead of standard output; SIGHUP reopens it",
    { defaultNote: "standard output" }
  ),

  testactivationheight: listOption(
    ChainKind.activationHeight,
    "testactivationheight",
    "Tests, on regtest alone",
    "height from which a rule is active: bip16, bip34, dersig, cltv, csv or segwit; may be repeated"
  ),
  vbparams: listOption(
    ChainKind.versionBits,
    "vbparams",
    "Tests, on regtest alone",
    "taproot:-1:0 makes taproot always active, taproot:-2:0 never; may be repeated"
  ),
  test: listOption(
    Kind.choiceKind(["bip94"]),
    "test",
    "Tests, on regtest alone",
    "bip94 limits the time of the first block of a difficulty period"
  ),
  fastprune: singleOption(
    Kind.onOffKind,
    "fastprune",
    "Tests, on regtest alone",
    "small block files, and pruning from block 100 on",
    { default: "0" }
  ),
  mocktime: singleOption(
    // The range of `setmocktime` (reference/rpc.md 3, setmocktime).
    Kind.integerKind({ min: 0, max: 9_223_372_036 }),
    "mocktime",
    "Tests, on regtest alone",
    "seconds since 1970 to use as the present time; 0 for the real time",
    { default: "0" }
  )
} satisfies OptionTable

export type OptionName = keyof typeof OPTIONS

export const isOptionName = (text: string): text is OptionName => Object.hasOwn(OPTIONS, text)

export const optionNamesOf = <O extends OptionTable>(options: O): ReadonlyArray<keyof O & string> =>
  Object.keys(options)

type FieldsOf<O extends OptionTable> = { readonly [K in keyof O]: ReturnType<O[K]["schema"]> }

export const fieldsOf = <O extends OptionTable>(options: O): FieldsOf<O> => {
  const fields = Object.fromEntries(optionNamesOf(options).map((name) => [name, options[name]?.schema()]))
  // Built key by key from the same table, which the type of Object.fromEntries cannot express.
  return fields as FieldsOf<O>
}
