import { MAX_BLOCK_WEIGHT } from "../consensus/params.ts"
import * as Kind from "./kinds.ts"
import { inGroup, oneOption } from "./optionRow.ts"

/** In the words of the reference node (`init.cpp`). */
const tooHeavy = (name: string, weight: number): string | undefined =>
  weight > MAX_BLOCK_WEIGHT
    ? `Specified -${name} (${weight}) exceeds consensus maximum block weight (${MAX_BLOCK_WEIGHT})`
    : undefined

/** Upstream `MINIMUM_BLOCK_RESERVED_WEIGHT`. */
const LEAST_RESERVED = 2_000

const MEMPOOL_OPTIONS = inGroup("Mempool", {
  maxmempool: oneOption(
    Kind.integerKind({
      min: 5,
      max: 65_536,
      outside: (mb) => mb < 5 ? "-maxmempool must be at least 5 MB" : undefined
    }),
    "mempool.maxMempool",
    { description: "memory for the mempool, in MB", default: "300" }
  ),
  mempoolexpiry: oneOption(Kind.integerKind({ min: 1, max: 100_000 }), "mempool.mempoolExpiry", {
    description: "hours after which an unconfirmed transaction is removed",
    default: "336"
  }),
  minrelaytxfee: oneOption(Kind.amountKind, "mempool.minRelayTxFee", {
    description: "minimum fee for relay, in NMC per 1000 virtual bytes",
    default: "0.001"
  }),
  persistmempool: oneOption(Kind.onOffKind, "mempool.persistMempool", {
    description: "keep the mempool across restarts",
    default: "1"
  }),
  incrementalrelayfee: oneOption(Kind.amountKind, "mempool.incrementalRelayFee", {
    description:
      "additional fee that a replacement pays, and step of a full mempool's minimum fee, in NMC per 1000 virtual bytes",
    default: "0.000001"
  }),
  dustrelayfee: oneOption(Kind.amountKind, "mempool.dustRelayFee", {
    description:
      "fee rate at which spending an output must not cost more than its value, in NMC per 1000 virtual bytes",
    default: "0.00003"
  }),
  acceptnonstdtxn: oneOption(Kind.onOffKind, "mempool.acceptNonStdTxn", {
    description: "relay and mine nonstandard transactions; not on mainnet"
  }),
  datacarrier: oneOption(Kind.onOffKind, "mempool.dataCarrier", {
    description: "relay and mine outputs that carry data",
    default: "1"
  }),
  datacarriersize: oneOption(Kind.integerKind({ min: 0, max: 1_000_000 }), "mempool.dataCarrierSize", {
    description: "maximum total size of the data outputs of a transaction, in bytes",
    default: "100000"
  }),
  permitbaremultisig: oneOption(Kind.onOffKind, "mempool.permitBareMultisig", {
    description: "relay transactions with bare multisig outputs",
    default: "1"
  }),
  bytespersigop: oneOption(Kind.integerKind({ min: 1, max: 1_000_000 }), "mempool.bytesPerSigop", {
    description: "minimum weight of a signature operation",
    default: "20"
  }),
  limitclustercount: oneOption(Kind.integerKind({ min: 1, max: 64 }), "mempool.limitClusterCount", {
    description: "maximum number of unconfirmed transactions that depend on each other",
    default: "64"
  }),
  limitclustersize: oneOption(Kind.integerKind({ min: 1, max: 1_000 }), "mempool.limitClusterSize", {
    description: "maximum total size of these transactions, in 1000 virtual bytes",
    default: "101"
  })
})

const MINING_OPTIONS = inGroup("Mining", {
  blockmaxweight: oneOption(
    Kind.integerKind({
      min: 8_000,
      max: MAX_BLOCK_WEIGHT,
      outside: (weight) => tooHeavy("blockmaxweight", weight)
    }),
    "mempool.blockMaxWeight",
    { description: "maximum weight of the blocks that this node creates", default: String(MAX_BLOCK_WEIGHT) }
  ),
  blockreservedweight: oneOption(
    Kind.integerKind({
      min: LEAST_RESERVED,
      max: MAX_BLOCK_WEIGHT,
      outside: (weight) =>
        weight < LEAST_RESERVED
          ? `Specified -blockreservedweight (${weight}) is lower than minimum safety value of (${LEAST_RESERVED})`
          : tooHeavy("blockreservedweight", weight)
    }),
    "mempool.blockReservedWeight",
    {
      description: "weight of these blocks reserved for header and coinbase, which the mining software adds",
      default: "8000"
    }
  ),
  blockmintxfee: oneOption(Kind.amountKind, "mempool.blockMinTxFee", {
    description: "minimum fee of transactions in these blocks, in NMC per 1000 virtual bytes",
    default: "0.00000001"
  }),
  blockversion: oneOption(Kind.integerKind({ min: 0, max: 65_535 }), "mempool.blockVersion", {
    description: "base version of these blocks, for tests on regtest; 0 for the usual one",
    default: "0"
  })
})

export const RELAY_OPTIONS = { ...MEMPOOL_OPTIONS, ...MINING_OPTIONS }
