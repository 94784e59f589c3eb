import * as Schema from "effect/Schema"
import { walletContract } from "../../method/contract.ts"
import {
  amount,
  array,
  boolean,
  hash,
  int32,
  int64,
  namedOptions,
  object,
  optional,
  orEmpty,
  string,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_OP } from "../../shapes/name.ts"
import { EXAMPLE_OWN_ADDRESS, EXAMPLE_TXID } from "../examples.ts"
import { AVOID_REUSE, NO_AVOID_REUSE } from "./walletParams.ts"
import { LAST_BLOCK, PARENT_DESCRIPTORS } from "./walletTransactions.ts"

export const DUMMY = "dummy first argument must be excluded or set to \"*\"."

export const UNSPENT = Schema.Struct({
  txid: Result.hex("The transaction"),
  vout: Result.integer("Index of the output"),
  nameOp: Schema.optional(NAME_OP.annotations({ description: "The name operation of a name output" })),
  address: Schema.optional(Result.string("The address")),
  label: Schema.optional(Result.string("Label of the address")),
  redeemScript: Schema.optional(Result.hex("The redeem script of a P2SH output")),
  witnessScript: Schema.optional(Result.hex("The witness script of a P2WSH output")),
  scriptPubKey: Result.hex("The output script"),
  amount: Result.amount("The amount"),
  confirmations: Result.integer("Confirmations"),
  ancestorcount: Schema.optional(Result.integer("Only in the mempool: number of ancestors, including itself")),
  ancestorsize: Schema.optional(Result.integer("Virtual bytes of the ancestors")),
  ancestorfees: Schema.optional(Result.integer("Fees of the ancestors in the smallest unit")),
  spendable: Result.boolean("true"),
  solvable: Result.boolean("Whether the wallet knows how to spend it, without regard to keys"),
  desc: Schema.optional(Result.string("Descriptor of the script")),
  parent_descs: PARENT_DESCRIPTORS,
  safe: Result.boolean(
    "Whether payments use it by default: confirmed, or the wallet's own change, except change of a fee bump"
  ),
  reused: Schema.optional(
    Result.boolean("Only with avoid_reuse: whether the wallet has spent from the address before")
  )
})

const OUTPOINTS = array(
  object({ txid: hash("The transaction.", { label: "txid" }), vout: int32("Index of the output.") }, "A coin."),
  "The coins."
)

const OUTPOINT = Schema.Struct({ txid: Result.hex("The transaction"), vout: Result.integer("Index of the output") })

export const GETBALANCE = walletContract({
  name: "getbalance",
  coins: "any",
  right: "names",
  summary: "Returns the spendable balance of the wallet: without immature coinbases, unconfirmed payments from " +
    "others, and amounts locked in names.",
  params: {
    dummy: withDefault(string("Must be omitted or *."), "*"),
    minconf: withDefault(int32("Minimum confirmations."), 0),
    include_watchonly: withDefault(boolean("Ignored."), false),
    avoid_reuse: AVOID_REUSE
  },
  results: [{ schema: Result.amount("The sum") }],
  examples: [[], ["*", 6]],
  errors: [`-32 ${DUMMY}`, `-4 ${NO_AVOID_REUSE}`]
})

export const GETBALANCES = walletContract({
  name: "getbalances",
  coins: "any",
  right: "names",
  summary: "Returns the spendable, the unconfirmed and the immature balance of the wallet, without amounts locked in " +
    "names.",
  params: {},
  results: [{
    schema: Schema.Struct({
      mine: Schema.Struct({
        trusted: Result.amount("The spendable balance"),
        untrusted_pending: Result.amount("Unconfirmed payments from others"),
        immature: Result.amount("Immature coinbases"),
        used: Schema.optional(
          Result.amount("Only with avoid_reuse: coins of addresses that the wallet has spent from")
        )
      }),
      lastprocessedblock: LAST_BLOCK
    })
  }],
  examples: [[]]
})

export const LOCKUNSPENT = walletContract({
  name: "lockunspent",
  coins: "any",
  right: "spend",
  writes: true,
  summary: "Locks coins so that payments do not use them, or unlocks them. Without coins, unlocks all.",
  params: {
    unlock: boolean("Whether to unlock instead of lock."),
    transactions: optional(OUTPOINTS, "all locked coins"),
    persistent: withDefault(boolean("Whether they stay locked after a restart."), false)
  },
  results: [{ schema: Result.boolean("true") }],
  examples: [[false, [{ txid: EXAMPLE_TXID, vout: 0 }]], [true]],
  errors: [
    "-8 Invalid parameter, vout cannot be negative",
    "-8 Invalid parameter, unknown transaction",
    "-8 Invalid parameter, vout index out of bounds",
    "-8 Invalid parameter, expected unspent output",
    "-8 Invalid parameter, expected locked output",
    "-8 Invalid parameter, output already locked"
  ]
})

export const LISTLOCKUNSPENT = walletContract({
  name: "listlockunspent",
  coins: "any",
  right: "names",
  summary: "Lists the locked coins.",
  params: {},
  results: [{ schema: Schema.Array(OUTPOINT) }],
  examples: [[]]
})

export const LISTUNSPENT = walletContract({
  name: "listunspent",
  coins: "any",
  right: "names",
  summary: "Lists the spendable coins. Includes unexpired names only on request, " +
    "and never expired ones.",
  params: {
    minconf: withDefault(int32("Minimum confirmations."), 1),
    maxconf: withDefault(int32("Maximum confirmations."), 9_999_999),
    addresses: withDefault(array(string("An address."), "Only coins of these addresses."), [], "[]"),
    include_unsafe: withDefault(boolean("Whether to list untrusted coins."), true),
    query_options: orEmpty(namedOptions({
      minimumAmount: withDefault(amount("Minimum amount of a coin."), 0, "0.00"),
      maximumAmount: withDefault(amount("Maximum amount of a coin."), Infinity, "none"),
      maximumCount: withDefault(int64("Maximum number of coins."), 0, "no limit"),
      minimumSumAmount: withDefault(amount("The list ends once the amounts reach this sum."), Infinity, "none"),
      include_immature_coinbase: withDefault(boolean("Whether to list immature coinbases."), false),
      includeNames: withDefault(boolean("Whether to list names."), false)
    }, "Further conditions."))
  },
  results: [{ schema: Schema.Array(UNSPENT) }],
  examples: [[], [6, 9_999_999, [EXAMPLE_OWN_ADDRESS]], [0, 9_999_999, [], true, { includeNames: true }]],
  errors: ["-5 Invalid address: <x>", "-8 Invalid parameter, duplicated address: <x>"]
})
