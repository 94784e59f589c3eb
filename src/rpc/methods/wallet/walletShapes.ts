import * as Shape from "../../method/shape.ts"
import { transactionMembers } from "../shapes.ts"

/** Results of wallet methods (reference/rpc.md 3.9), with members in output order. */

export const LAST_BLOCK = Shape.object({
  hash: Shape.hex("Hash of the block"),
  height: Shape.integer("Height of the block")
}, "The last block that the wallet has processed")

const PARENT_DESCRIPTORS = Shape.array(Shape.string("A descriptor"), "The descriptors from which the script is derived")

/** An output as a payment from or to the wallet. */
const PAYMENT = {
  address: Shape.optional(Shape.string("The address, if there is one; in a name output, the owner's")),
  name: Shape.optional(Shape.string("The name operation, as new: <hash> or update: 'd/example'")),
  parent_descs: Shape.optional(PARENT_DESCRIPTORS),
  category: Shape.string("send or receive; for coinbases generate, immature or orphan"),
  amount: Shape.amount("The amount, negative for send; 0 for name outputs"),
  label: Shape.optional(Shape.string("The label of the address, if any")),
  vout: Shape.integer("Index of the output"),
  fee: Shape.optional(
    Shape.amount("Only for send: the fee as a negative amount, including the amount that a name locks")
  )
}

const TXID = Shape.hex("A txid")

/** The state of a wallet transaction, and the wallet's data for it. */
const STANDING = {
  confirmations: Shape.integer(
    "1 in the tip, 0 if unconfirmed; negative after a conflict with a block"
  ),
  generated: Shape.optional(Shape.boolean("true for a coinbase")),
  blockhash: Shape.optional(Shape.hex("Hash of its block")),
  blockheight: Shape.optional(Shape.integer("Height of its block")),
  blockindex: Shape.optional(Shape.integer("Its position in the block")),
  blocktime: Shape.optional(Shape.time("Time of its block")),
  trusted: Shape.optional(Shape.boolean("Whether it is trusted; only if unconfirmed")),
  txid: Shape.hex("Hash without witnesses"),
  wtxid: Shape.hex("Hash with witnesses"),
  walletconflicts: Shape.array(TXID, "Transactions of the wallet that spend the same outputs"),
  mempoolconflicts: Shape.array(TXID, "Transactions of the mempool that spend the same outputs"),
  time: Shape.time("Time at which the wallet first saw it"),
  timereceived: Shape.time("Same as time"),
  "bip125-replaceable": Shape.string("Whether it signals replacement: yes, no or unknown"),
  comment: Shape.optional(Shape.string("The comment of the sender")),
  replaced_by_txid: Shape.optional(Shape.hex("The transaction that replaced it")),
  replaces_txid: Shape.optional(Shape.hex("The transaction that it replaced")),
  to: Shape.optional(Shape.string("The comment about the recipient"))
}

const ABANDONED = Shape.boolean("Whether the owner abandoned it")

export const ENTRY = Shape.object({ ...PAYMENT, ...STANDING, abandoned: ABANDONED })

const DECODED = Shape.object(
  transactionMembers({ ischange: Shape.optional(Shape.boolean("true for an output that is change of the wallet")) }),
  "The decoded transaction, if requested"
)

export const WALLET_TRANSACTION = Shape.object({
  amount: Shape.amount("Change of the wallet's balance, without the fee"),
  fee: Shape.optional(Shape.amount("The fee as a negative amount, if the wallet pays it")),
  ...STANDING,
  details: Shape.array(Shape.object({ ...PAYMENT, abandoned: ABANDONED }), "The outputs as payments"),
  hex: Shape.hex("The transaction"),
  decoded: Shape.optional(DECODED),
  lastprocessedblock: LAST_BLOCK
})

export const NAMED_WALLET = Shape.object({
  name: Shape.string("The wallet"),
  warnings: Shape.optional(Shape.array(Shape.string("A warning"), "Warnings"))
})
