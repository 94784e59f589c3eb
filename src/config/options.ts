import { NAME_ENCODINGS } from "../protocol/nameText.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { ACCESS_OPTIONS } from "./accessOptions.ts"
import { ALERT_OPTIONS } from "./alertOptions.ts"
import * as ChainKind from "./chainKinds.ts"
import { DNS_OPTIONS } from "./dnsOptions.ts"
import { ELECTRUM_OPTIONS } from "./electrumOptions.ts"
import * as Kind from "./kinds.ts"
import { LIGHT_OPTIONS } from "./lightOptions.ts"
import { NOTIFY_OPTIONS } from "./notifyOptions.ts"
import { inGroup, listOption, oneOption, type OptionTable } from "./optionRow.ts"
import { PEER_OPTIONS } from "./peerOptions.ts"
import { RELAY_OPTIONS } from "./relayOptions.ts"
import { WALLET_OPTIONS } from "./walletOptions.ts"
import { WEBHOOK_OPTIONS } from "./webhookOptions.ts"
import { ZMQ_OPTIONS } from "./zmqOptions.ts"

/** The table of all svcd options, for the readers of flags, environment and file, the help and `-printconfig`. */

export const NETWORK_NAMES = ["mainnet", "testnet", "regtest"] as const satisfies ReadonlyArray<NetworkName>

/** With completions. */
export const SHELLS = ["bash", "zsh", "fish"] as const
export type Shell = (typeof SHELLS)[number]

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const
export type LogLevelName = (typeof LOG_LEVELS)[number]

export const LOG_FORMATS = ["text", "json"] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** Values of the annotation `subsystem` in log entries. */
export const SUBSYSTEMS = [
  "chain",
  "dns",
  "electrum",
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

/** Per minute, 0 for the default and -1 for no limit (reference/rpc.md 9.1). */
const rateLimit = Kind.integerKind({ min: -1, max: 1_000_000_000 })

const GIB = 1024 ** 3

export const OPTIONS = {
  ...inGroup("General", {
    network: oneOption(Kind.choiceKind(NETWORK_NAMES), "chain.network", {
      description: "network to join",
      default: "mainnet",
      env: "SVCD_NETWORK"
    }),
    datadir: oneOption(Kind.pathKind, "chain.dataDir", {
      description: "data directory",
      default: "~/.svcd",
      env: "SVCD_DATA_DIR"
    }),
    printconfig: oneOption(Kind.onOffKind, "command.printConfig", {
      description: "print the settings in force, each with its source, and exit",
      flagOnly: true
    }),
    completions: oneOption(Kind.optionalKind(Kind.choiceKind(SHELLS)), "command.completions", {
      description: "print the completion script of a shell, and exit",
      flagOnly: true
    }),
    version: oneOption(Kind.onOffKind, "command.version", {
      description: "print the version and exit",
      flagOnly: true
    }),
    help: oneOption(Kind.onOffKind, "command.help", {
      description: "print this text and exit",
      flagOnly: true
    })
  }),

  ...NOTIFY_OPTIONS,
  ...WEBHOOK_OPTIONS,
  ...ZMQ_OPTIONS,

  ...inGroup("RPC", {
    rpcaddr: oneOption(Kind.addressKind("optional"), "rpc.listenAddr", {
      description: "address of the RPC listener",
      default: "127.0.0.1:8336"
    }),
    rpcuser: oneOption(Kind.optionalKind(Kind.userNameKind), "rpc.rpcUser", {
      description: "user name for RPC",
      env: "SVCD_RPC_USER",
      defaultNote: "no credentials"
    }),
    rpcpassword: oneOption(Kind.optionalKind(Kind.secretKind), "rpc.rpcPassword", {
      description: "password for RPC; set it by environment or file, because other users can see flags",
      env: "SVCD_RPC_PASSWORD",
      secret: true
    })
  }),
  ...ACCESS_OPTIONS,
  ...inGroup("RPC", {
    rpcallowinsecure: oneOption(Kind.onOffKind, "rpc.allowInsecure", {
      description: "allow an RPC listener that other machines can reach without credentials"
    }),
    ratelimit: oneOption(rateLimit, "rpc.rateLimit", {
      description: "requests per minute and client address; -1 for no limit",
      default: "0",
      defaultNote: "0, which is 6000, and no limit on loopback"
    }),
    maxrequestsize: oneOption(Kind.integerKind({ min: 0, max: GIB }), "rpc.maxRequestSize", {
      description: "maximum body of an RPC request, in bytes",
      default: "0",
      defaultNote: "0, which is 33554432"
    }),
    metricsaddr: oneOption(Kind.optionalKind(Kind.addressKind("optional")), "metrics.listen", {
      description: "address of the metrics endpoint",
      defaultNote: "no endpoint"
    }),
    metricsdetail: oneOption(Kind.onOffKind, "metrics.detail", {
      description: "show all metrics, not only those that every node has"
    }),
    statuspage: oneOption(Kind.onOffKind, "rpc.statusPage", {
      description: "serve pages about the node, blocks and names to browsers on the RPC listener",
      default: "1"
    }),
    rest: oneOption(Kind.onOffKind, "rpc.rest", {
      description:
        "serve GET /rest/name/, /rest/name-proof/, /rest/names.json and /rest/resolve/, read-only and without credentials"
    })
  }),

  ...PEER_OPTIONS,

  ...RELAY_OPTIONS,

  ...inGroup("Chain", {
    loadblock: listOption(Kind.pathKind, "chain.loadBlocks", {
      description: "block file, or blocks directory of Namecoin Core, to import at the start; may be repeated",
      flagOnly: true
    }),
    loadsnapshot: oneOption(Kind.optionalKind(Kind.pathKind), "chain.loadSnapshot", {
      description: "snapshot of the coins, written by dumptxoutset, to start from",
      flagOnly: true,
      defaultNote: "no snapshot"
    }),
    snapshothash: oneOption(Kind.optionalKind(ChainKind.displayedHash), "chain.snapshotHash", {
      description: "txoutset_hash of the snapshot that may be loaded",
      defaultNote: "those of the network"
    }),
    assumevalid: oneOption(ChainKind.assumeValid, "chain.assumeValid", {
      description: "block up to which scripts are assumed valid; 0 to check them all",
      defaultNote: "the network's own"
    }),
    minimumchainwork: oneOption(Kind.optionalKind(ChainKind.chainWork), "chain.minimumChainWork", {
      description: "minimum work of a chain to download, in hexadecimal digits",
      defaultNote: "the network's own"
    }),
    maxtipage: oneOption(Kind.integerKind({ min: 0, max: 9_223_372_036 }), "chain.maxTipAge", {
      description: "maximum age of the last block, in seconds, at which the node leaves the initial download",
      default: "86400"
    }),
    verifythreads: oneOption(Kind.optionalKind(Kind.integerKind({ min: 0, max: 64 })), "chain.verifyThreads", {
      description: "worker threads that check scripts",
      defaultNote: "processors - 1"
    }),
    dbcache: oneOption(Kind.integerKind({ min: 4, max: 65_536 }), "chain.dbCache", {
      description: "memory for coins that are not stored yet, in MiB",
      default: "32"
    }),
    txindex: oneOption(Kind.onOffKind, "chain.txIndex", { description: "keep an index of all transactions" }),
    blockfilterindex: oneOption(ChainKind.filterIndex, "chain.blockFilterIndex", {
      description: "keep an index of compact block filters: basic or 1 for basic filters, 0 for none",
      default: "0"
    }),
    coinstatsindex: oneOption(Kind.onOffKind, "chain.coinStatsIndex", {
      description: "keep statistics of the unspent outputs at every block"
    }),
    txospenderindex: oneOption(Kind.onOffKind, "chain.txoSpenderIndex", {
      description: "keep an index of the transactions that spend outputs"
    }),
    electrumindex: oneOption(Kind.onOffKind, "chain.electrumIndex", {
      description: "keep an index of the history and coins of all addresses, for Electrum wallets and the explorer"
    }),
    reindex: oneOption(Kind.onOffKind, "chain.reindex", {
      description: "rebuild the chain state, names and all indexes from the stored blocks",
      flagOnly: true
    }),
    "reindex-chainstate": oneOption(Kind.onOffKind, "chain.reindexChainstate", {
      description: "rebuild the chain state and names from the stored blocks, and keep the indexes",
      flagOnly: true
    }),
    reindexnames: oneOption(Kind.onOffKind, "names.reindexNames", {
      description: "rebuild the search indexes of names in the background",
      flagOnly: true
    }),
    prune: oneOption(ChainKind.pruneKind, "chain.prune", {
      description:
        "delete old blocks: 1 when pruneblockchain is called, 550 or more to keep blocks below this size in MiB",
      default: "0"
    }),
    checkblocks: oneOption(Kind.integerKind({ min: 0, max: 2_147_483_647 }), "chain.checkBlocks", {
      description: "number of last blocks to check at the start; 0 for all",
      default: "6"
    }),
    checklevel: oneOption(Kind.integerKind({ min: 0, max: 4 }), "chain.checkLevel", {
      description:
        "level of that check: 0 reads the blocks, 1 checks their rules, 2 their undo data, 3 their coins, 4 their scripts",
      default: "3"
    }),
    backgroundcheck: oneOption(Kind.onOffKind, "chain.backgroundCheck", {
      description: "verify all data on disk continuously in the background",
      default: "1"
    }),
    pagesize: oneOption(Kind.pageSizeKind, "chain.pageSize", {
      description: "page size of new databases, in bytes",
      default: "4096",
      key: "database.pagesize",
      fileOnly: true
    })
  }),
  ...inGroup("Names and wallet", {
    namehistory: oneOption(Kind.onOffKind, "answers.nameHistory", { description: "allow name_history", default: "1" }),
    namehashindex: oneOption(Kind.onOffKind, "answers.nameHashIndex", {
      description: "keep an index of the hashes of names"
    }),
    nameencoding: oneOption(Kind.choiceKind(NAME_ENCODINGS), "answers.nameEncoding", {
      description: "RPC encoding of names",
      default: NAME_ENCODINGS[0]
    }),
    valueencoding: oneOption(Kind.choiceKind(NAME_ENCODINGS), "answers.valueEncoding", {
      description: "RPC encoding of values",
      default: NAME_ENCODINGS[0]
    }),
    allowexpired: oneOption(Kind.onOffKind, "answers.allowExpired", {
      description: "let name_show return expired names"
    })
  }),
  ...LIGHT_OPTIONS,
  ...inGroup("Names and wallet", {
    disablewallet: oneOption(Kind.onOffKind, "wallet.disableWallet", {
      description: "run without wallets and their methods"
    }),
    nowallet: oneOption(Kind.onOffKind, "wallet.noWallet", { description: "load no wallet at the start" }),
    limitnamechains: oneOption(Kind.integerKind({ min: 1, max: 60 }), "wallet.limitNameChains", {
      description: "unconfirmed operations on one name that a wallet may have at once",
      default: "1"
    })
  }),
  ...WALLET_OPTIONS,
  ...ALERT_OPTIONS,
  ...DNS_OPTIONS,
  ...ELECTRUM_OPTIONS,

  ...inGroup("Logging", {
    loglevel: oneOption(Kind.choiceKind(LOG_LEVELS), "log.level", {
      description: "lowest level to log",
      default: "info",
      env: "SVCD_LOG_LEVEL"
    }),
    logformat: oneOption(Kind.choiceKind(LOG_FORMATS), "log.format", {
      description: "format of log lines: text or json",
      default: "text"
    }),
    debugsubsystem: oneOption(Kind.commaSeparatedKind(Kind.choiceKind(SUBSYSTEMS)), "log.debugSubsystems", {
      description: `subsystems whose debug entries are logged too, separated by commas: ${SUBSYSTEMS.join(", ")}`
    }),
    logfile: oneOption(Kind.optionalKind(Kind.pathKind), "log.file", {
      description: "file to append the log to instead of standard output; SIGHUP reopens it",
      defaultNote: "standard output"
    })
  }),
  ...inGroup("Tests, on regtest alone", {
    testactivationheight: listOption(ChainKind.activationHeight, "chain.testActivationHeights", {
      description: "height from which a rule is active: bip16, bip34, dersig, cltv, csv or segwit; may be repeated"
    }),
    vbparams: listOption(ChainKind.versionBits, "chain.versionBits", {
      description: "taproot:-1:0 makes taproot always active, taproot:-2:0 never; may be repeated"
    }),
    test: listOption(Kind.choiceKind(["bip94"]), "chain.test", {
      description: "bip94 limits the time of the first block of a difficulty period"
    }),
    fastprune: oneOption(Kind.onOffKind, "chain.fastPrune", {
      description: "small block files, and pruning from block 100 on"
    }),
    mocktime: oneOption(Kind.integerKind({ min: 0, max: 9_223_372_036 }), "chain.mockTime", {
      description: "seconds since 1970 to use as the present time; 0 for the real time",
      default: "0"
    })
  })
} satisfies OptionTable

export type OptionName = keyof typeof OPTIONS

export const isOptionName = (text: string): text is OptionName => Object.hasOwn(OPTIONS, text)
