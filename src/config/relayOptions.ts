import { MAX_BLOCK_WEIGHT } from "../consensus/params.ts"
import * as Kind from "./kinds.ts"
import { type OptionTable, singleOption } from "./optionRow.ts"

/** The message for a weight that no block can have, in the words of the reference node (`init.cpp`). */
const tooHeavy = (name: string, weight: number): string | undefined =>
  weight > MAX_BLOCK_WEIGHT
    ? `Specified -${name} (${weight}) exceeds consensus maximum block weight (${MAX_BLOCK_WEIGHT})`
    : undefined

/** The least weight that may be reserved (upstream `MINIMUM_BLOCK_RESERVED_WEIGHT`). */
const LEAST_RESERVED = 2_000

/** The options of the mempool, of its policy, and of the blocks that are made from it. */

export const RELAY_OPTIONS = {
  maxmempool: singleOption(
    Kind.integerKind({
      min: 5,
      max: 65_536,
      outside: (mb) => mb < 5 ? "-maxmempool must be at least 5 MB" : undefined
    }),
    "maxmempool",
    "Mempool",
    "memory for the mempool, in MB",
    {
      default: "300"
    }
  ),
  mempoolexpiry: singleOption(
    Kind.integerKind({ min: 1, max: 100_000 }),
    "mempoolexpiry",
    "Mempool",
    "hours after which an unconfirmed transaction is removed",
    { default: "336" }
  ),
  minrelaytxfee: singleOption(
    Kind.amountKind,
    "minrelaytxfee",
    "Mempool",
    "minimum fee for relay, in NMC per 1000 virtual bytes",
    { default: "0.001" }
  ),
  persistmempool: singleOption(Kind.onOffKind, "persistmempool", "Mempool", "keep the mempool over a restart", {
    default: "1"
  }),
  incrementalrelayfee: singleOption(
    Kind.amountKind,
    "incrementalrelayfee",
    "Mempool",
    "fee that a replacement pays on top, and step of a full mempool's minimum fee, in NMC per 1000 virtual bytes",
    { default: "0.000001" }
  ),
  dustrelayfee: singleOption(
    Kind.amountKind,
    "dustrelayfee",
    "Mempool",
    "fee rate at which spending an output must not cost more than its value, in NMC per 1000 virtual bytes",
    { default: "0.00003" }
  ),
  acceptnonstdtxn: singleOption(
    Kind.onOffKind,
    "acceptnonstdtxn",
    "Mempool",
    "relay and mine nonstandard transactions; not on mainnet",
    { default: "0" }
  ),
  datacarrier: singleOption(Kind.onOffKind, "datacarrier", "Mempool", "relay and mine outputs that carry data", {
    default: "1"
  }),
  datacarriersize: singleOption(
    Kind.integerKind({ min: 0, max: 1_000_000 }),
    "datacarriersize",
    "Mempool",
    "bytes of all data outputs of a transaction together",
    { default: "100000" }
  ),
  permitbaremultisig: singleOption(
    Kind.onOffKind,
    "permitbaremultisig",
    "Mempool",
    "relay transactions with outputs of bare multisignatures",
    { default: "1" }
  ),
  bytespersigop: singleOption(
    Kind.integerKind({ min: 1, max: 1_000_000 }),
    "bytespersigop",
    "Mempool",
    "weight that a signature operation counts for at least",
    { default: "20" }
  ),
  limitclustercount: singleOption(
    Kind.integerKind({ min: 1, max: 64 }),
    "limitclustercount",
    "Mempool",
    "unconfirmed transactions that may depend on each other",
    { default: "64" }
  ),
  limitclustersize: singleOption(
    Kind.integerKind({ min: 1, max: 1_000 }),
    "limitclustersize",
    "Mempool",
    "size of these transactions together, in 1000 virtual bytes",
    { default: "101" }
  ),
  blockmaxweight: singleOption(
    Kind.integerKind({
      min: 8_000,
      max: MAX_BLOCK_WEIGHT,
      outside: (weight) => tooHeavy("blockmaxweight", weight)
    }),
    "blockmaxweight",
    "Mining",
    "maximum weight of the blocks that this node makes",
    { default: "4000000" }
  ),
  blockreservedweight: singleOption(
    Kind.integerKind({
      min: LEAST_RESERVED,
      max: MAX_BLOCK_WEIGHT,
      outside: (weight) =>
        weight < LEAST_RESERVED
          ? `Specified -blockreservedweight (${weight}) is lower than minimum safety value of (${LEAST_RESERVED})`
          : tooHeavy("blockreservedweight", weight)
    }),
    "blockreservedweight",
    "Mining",
    "weight of these blocks that is kept for header and coinbase, as the mining software makes them",
    { default: "8000" }
  ),
  blockmintxfee: singleOption(
    Kind.amountKind,
    "blockmintxfee",
    "Mining",
    "minimum fee of transactions in these blocks, in NMC per 1000 virtual bytes",
    { default: "0.00000001" }
  ),
  blockversion: singleOption(
    Kind.integerKind({ min: 0, max: 65_535 }),
    "blockversion",
    "Mining",
    "base version of these blocks, for tests on regtest; 0 for the usual one",
    { default: "0" }
  )
} satisfies OptionTable
