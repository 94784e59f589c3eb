import * as Schema from "effect/Schema"
import { walletContract } from "../../method/contract.ts"
import { boolean, freeText, hash, int32, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EXAMPLE_TXID } from "../examples.ts"
import { label, UNKNOWN_TRANSACTION } from "./walletParams.ts"
import { ENTRY, WALLET_TRANSACTION } from "./walletTransactions.ts"

const WATCH_ONLY = withDefault(boolean("Ignored."), false)

export const NOT_ELIGIBLE = "Transaction not eligible for abandonment"

export const ABANDONTRANSACTION = walletContract({
  name: "abandontransaction",
  coins: "any",
  right: "spend",
  writes: true,
  summary: "Abandons a transaction that is neither in a block nor in the mempool, and its descendants, so that " +
    "other transactions can spend their inputs.",
  params: { txid: hash("The transaction.") },
  results: [{ schema: Result.nothing("") }],
  examples: [[EXAMPLE_TXID]],
  errors: [`-5 ${UNKNOWN_TRANSACTION}`, `-5 ${NOT_ELIGIBLE}`]
})

export const GETTRANSACTION = walletContract({
  name: "gettransaction",
  coins: "any",
  right: "names",
  summary: "Returns a transaction of the wallet: its effect on the balance, its state, and its outputs as payments.",
  params: {
    txid: hash("The transaction."),
    include_watchonly: WATCH_ONLY,
    verbose: withDefault(boolean("Whether to include the decoded transaction."), false)
  },
  results: [{ schema: WALLET_TRANSACTION }],
  examples: [[EXAMPLE_TXID], [EXAMPLE_TXID, false, true]],
  errors: [`-5 ${UNKNOWN_TRANSACTION}`]
})

export const LISTTRANSACTIONS = walletContract({
  name: "listtransactions",
  coins: "any",
  right: "names",
  summary: "Lists the latest payments from and to the wallet, the oldest of them first. One transaction may " +
    "contain several payments.",
  params: {
    label: freeText(optional(string("Only payments received with this label; * for all payments."))),
    count: withDefault(int32("Maximum number of payments."), 10),
    skip: withDefault(int32("Number of latest payments to skip."), 0),
    include_watchonly: WATCH_ONLY
  },
  results: [{ schema: Schema.Array(ENTRY) }],
  examples: [[], ["*", 20, 100]],
  errors: [
    "-8 Label argument must be a valid label name or \"*\".",
    "-8 Negative count",
    "-8 Negative from"
  ]
})

export const LISTSINCEBLOCK = walletContract({
  name: "listsinceblock",
  coins: "any",
  right: "names",
  summary: "Lists the payments in blocks after a given block and the unconfirmed ones; without a block, all " +
    "payments. If the block is not in the best chain, also lists the payments of its disconnected branch.",
  params: {
    blockhash: freeText(optional(string("The block."))),
    target_confirmations: withDefault(
      int32("Confirmations of the block returned as lastblock, for the next call."),
      1
    ),
    include_watchonly: WATCH_ONLY,
    include_removed: withDefault(boolean("Whether to list payments of a disconnected branch."), true),
    include_change: withDefault(boolean("Whether to list change."), false),
    label: freeText(optional(label("Only payments received with this label.")))
  },
  results: [{
    schema: Schema.Struct({
      transactions: Schema.Array(ENTRY).annotations({ description: "The payments" }),
      removed: Schema.optional(
        Schema.Array(ENTRY).annotations({
          description: "Payments of the disconnected branch, in their current state"
        })
      ),
      lastblock: Result.hex("The block to pass to the next call")
    })
  }],
  examples: [[], ["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770", 6]],
  errors: [
    "-5 Block not found",
    "-8 Invalid parameter",
    "-11 Invalid label name",
    "-32603 Can't read block from disk"
  ]
})
