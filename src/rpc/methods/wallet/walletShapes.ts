import * as Shape from "../../method/shape.ts"
import { transactionMembers } from "../shapes.ts"

/** What methods of the wallet answer with (reference/rpc.md 3.9), members in the order in which they come. */

export const LAST_BLOCK = Shape.object({
  hash: Shape.hex("Hash of the block"),
  height: Shape.integer("Its height")
}, "The last block that the wallet has seen")

const PARENT_DESCRIPTORS = Shape.array(Shape.string("A descriptor"), "The descriptors that the output's script is of")

/** An output as a payment, from the wallet or to it. */
const PAYMENT = {
  address: Shape.optional(Shape.string("The address, where there is one; a name's owner in a name output")),
  name: Shape.optional(Shape.string("The name operation, as new: <hash> or update: 'd/example'")),
  parent_descs: Shape.optional(PARENT_DESCRIPTORS),
  category: Shape.string("send, receive, or of coinbases generate, immature and orphan"),
  amount: Shape.amount("The amount, negative where it is sent; 0 of name outputs"),
  label: Shape.optional(Shape.string("The label of the address, if it has one")),
  vout: Shape.integer("Which output it is"),
  fee: Shape.optional(
    Shape.amount("The fee of the transaction where it is sent, as a negative amount; what a name locks is a part of it")
  )
}

const TXID = Shape.hex("A txid")

/** Where a transaction of the wallet stands, and what the wallet knows of it. */
const STANDING = {
  confirmations: Shape.integer(
    "1 where the tip holds it, 0 where no block does; negative since a conflict with a block"
  ),
  generated: Shape.optional(Shape.boolean("true for a coinbase")),
  blockhash: Shape.optional(Shape.hex("Hash of its block")),
  blockheight: Shape.optional(Shape.integer("Height of its block")),
  blockindex: Shape.optional(Shape.integer("Its place in the block")),
  blocktime: Shape.optional(Shape.time("Time of its block")),
  trusted: Shape.optional(Shape.boolean("Whether it can be counted on; only of those that no block holds")),
  txid: Shape.hex("Hash without witnesses"),
  wtxid: Shape.hex("Hash with witnesses"),
  walletconflicts: Shape.array(TXID, "Transactions of the wallet that spend what it spends"),
  mempoolconflicts: Shape.array(TXID, "Transactions of the mempool that do"),
  time: Shape.time("When the wallet saw it first"),
  timereceived: Shape.time("The same"),
  "bip125-replaceable": Shape.string("yes, no, or unknown: whether it announces a replacement"),
  comment: Shape.optional(Shape.string("The comment that its sender made")),
  replaced_by_txid: Shape.optional(Shape.hex("The transaction that replaced it")),
  replaces_txid: Shape.optional(Shape.hex("The transaction that it replaced")),
  to: Shape.optional(Shape.string("The comment about who is paid"))
}

const ABANDONED = Shape.boolean("Whether its owner gave it up")

/** An entry of `listtransactions`. */
export const ENTRY = Shape.object({ ...PAYMENT, ...STANDING, abandoned: ABANDONED })

const DECODED = Shape.object(
  transactionMembers({ ischange: Shape.optional(Shape.boolean("true for an output that is change of the wallet")) }),
  "The transaction taken apart, where it is asked for"
)

/** What `gettransaction` answers with. */
export const WALLET_TRANSACTION = Shape.object({
  amount: Shape.amount("What the wallet has more for it, without the fee"),
  fee: Shape.optional(Shape.amount("The fee as a negative amount, where the wallet pays it")),
  ...STANDING,
  details: Shape.array(Shape.object({ ...PAYMENT, abandoned: ABANDONED }), "Its outputs as payments"),
  hex: Shape.hex("The transaction"),
  decoded: Shape.optional(DECODED),
  lastprocessedblock: LAST_BLOCK
})

/** A wallet that was made or loaded. */
export const NAMED_WALLET = Shape.object({
  name: Shape.string("The wallet"),
  warnings: Shape.optional(Shape.array(Shape.string("A warning"), "What is to be known"))
})
