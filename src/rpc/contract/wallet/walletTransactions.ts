import * as Schema from "effect/Schema"
import * as Result from "../../method/results.ts"
import { MARKED_TRANSACTION } from "../../shapes/transaction.ts"

export const PARENT_DESCRIPTORS = Schema.Array(Result.string("A descriptor")).annotations({
  description: "The descriptors from which the script is derived"
})

/** An output as a payment from or to the wallet. */
export const PAYMENT = {
  address: Schema.optional(Result.string("The address, if there is one; in a name output, the owner's")),
  name: Schema.optional(Result.string("The name operation, as new: <hash> or update: 'd/example'")),
  parent_descs: Schema.optional(PARENT_DESCRIPTORS),
  category: Result.string("send or receive; for coinbases generate, immature or orphan"),
  amount: Result.amount("The amount, negative for send; 0 for name outputs"),
  label: Schema.optional(Result.string("The label of the address, if any")),
  vout: Result.integer("Index of the output"),
  fee: Schema.optional(
    Result.amount("Only for send: the fee as a negative amount, including the amount that a name locks")
  )
}

const TXID = Result.hex("A txid")

export const STANDING = {
  confirmations: Result.integer(
    "1 in the tip, 0 if unconfirmed; negative after a conflict with a block"
  ),
  generated: Schema.optional(Result.boolean("true for a coinbase")),
  blockhash: Schema.optional(Result.hex("Hash of its block")),
  blockheight: Schema.optional(Result.integer("Height of its block")),
  blockindex: Schema.optional(Result.integer("Its position in the block")),
  blocktime: Schema.optional(Result.time("Time of its block")),
  trusted: Schema.optional(Result.boolean("Whether it is trusted; only if unconfirmed")),
  txid: Result.hex("Hash without witnesses"),
  wtxid: Result.hex("Hash with witnesses"),
  walletconflicts: Schema.Array(TXID).annotations({
    description: "Transactions of the wallet that spend the same outputs"
  }),
  mempoolconflicts: Schema.Array(TXID).annotations({
    description: "Mempool transactions that conflict with it or an ancestor"
  }),
  time: Result.time("Time at which the wallet first saw it"),
  timereceived: Result.time("Same as time"),
  "bip125-replaceable": Result.string("Whether it signals replacement: yes, no or unknown"),
  comment: Schema.optional(Result.string("The comment of the sender")),
  replaced_by_txid: Schema.optional(Result.hex("The replacement")),
  replaces_txid: Schema.optional(Result.hex("The replaced transaction")),
  to: Schema.optional(Result.string("The comment about the recipient"))
}

export const ABANDONED = Result.boolean("Whether the owner abandoned it")

export const ENTRY = Schema.Struct({ ...PAYMENT, ...STANDING, abandoned: ABANDONED })

/** Without the state, which is next to it. */
export const DETAIL = Schema.Struct({ ...PAYMENT, abandoned: ABANDONED })

export const LAST_BLOCK = Schema.Struct({
  hash: Result.hex("Hash of the block"),
  height: Result.integer("Height of the block")
}).annotations({ description: "The last block processed by the wallet" })

const DECODED = MARKED_TRANSACTION.annotations({ description: "The decoded transaction, if requested" })

/** `gettransaction`; the client reads it too. */
export const WALLET_TRANSACTION = Schema.Struct({
  amount: Result.amount("Change of the wallet's balance, without the fee"),
  fee: Schema.optional(Result.amount("The fee as a negative amount, if the wallet pays it")),
  ...STANDING,
  details: Schema.Array(DETAIL).annotations({
    description: "The outputs as payments"
  }),
  hex: Result.hex("The transaction"),
  decoded: Schema.optional(DECODED),
  lastprocessedblock: LAST_BLOCK
})
