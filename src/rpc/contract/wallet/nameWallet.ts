import * as Schema from "effect/Schema"
import { namesContract } from "../../method/contract.ts"
import { amount, hash, hexText, notNull, object, optional, orEmpty, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NAME_OUTPUT_MEMBERS, OUTLOOK_MEMBERS, PROOF } from "../../shapes/name.ts"
import { ENCODINGS, PROOF_ERRORS, REQUIRE_PROOF } from "../names/nameParams.ts"
import { COMMENT, COMMENT_TO, REPLACEABLE, SUBTRACT_FEE } from "./simplePayments.ts"
import { PAYMENT_ERRORS } from "./walletParams.ts"

const TXID = "654166d8a5607765aeab942929249c4f9286d3bd37610f33e2f6c9e13a9dd1fa"

const TRANSACTION = "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const OWNED_NAME = Schema.Struct({
  ...NAME_OUTPUT_MEMBERS,
  ismine: Result.boolean("Whether the wallet has the address"),
  height: Result.integer("Height of the operation"),
  expires_in: Result.integer("Blocks until the record expires; 0 or less if it has expired"),
  expired: Result.boolean("Whether the record has expired"),
  proof: PROOF,
  outlook: Schema.optional(
    Schema.Struct(OUTLOOK_MEMBERS).annotations({
      description: "Outlook for the name; missing while the node is syncing"
    })
  )
})

export const QUEUERAWTRANSACTION = namesContract({
  name: "queuerawtransaction",
  coins: "any",
  right: "spend",
  writes: true,
  summary: "Sends a transaction as soon as the mempool accepts it: now, or after a later block. Until then it waits " +
    "in the wallet's queue.",
  params: { hexstring: hexText("The transaction.") },
  results: [{ schema: Result.hex("Its txid") }],
  examples: [[TRANSACTION]],
  errors: ["-22 TX decode failed", "-4 Invalid transaction (<reason>)"]
})

export const DEQUEUETRANSACTION = namesContract({
  name: "dequeuetransaction",
  coins: "any",
  right: "spend",
  writes: true,
  summary: "Removes a transaction from the queue. A missing transaction is not an error.",
  params: { txid: hash("The transaction.") },
  results: [{ schema: Result.nothing("") }],
  examples: [[TXID]]
})

export const LISTQUEUEDTRANSACTIONS = namesContract({
  name: "listqueuedtransactions",
  coins: "any",
  right: "names",
  summary: "Lists the transactions in the queue.",
  params: {},
  results: [{ schema: Result.map("txid", Schema.Struct({ transaction: Result.hex("The transaction") })) }],
  examples: [[]]
})

export const NAME_LIST = namesContract({
  name: "name_list",
  coins: "any",
  right: "names",
  heavy: true,
  summary: "Lists the names set by confirmed transactions of the wallet, each with the last one, including " +
    "transferred and expired names.",
  params: {
    name: optional(string("Only this name."), "all names"),
    options: orEmpty(notNull(object({ ...ENCODINGS, requireProof: REQUIRE_PROOF }, "Options.")))
  },
  results: [{ schema: Schema.Array(OWNED_NAME) }],
  examples: [[], ["d/example"]],
  errors: [
    "-10 Namecoin is downloading blocks...",
    ...PROOF_ERRORS,
    "-1000 Name/value is invalid for encoding <encoding>"
  ]
})

export const SENDTONAME = namesContract({
  name: "sendtoname",
  right: "spend",
  writes: true,
  summary: "Pays the owner of a name.",
  params: {
    name: string("The name, in the node's encoding."),
    amount: amount("The amount in NMC."),
    comment: COMMENT,
    comment_to: COMMENT_TO,
    subtractfeefromamount: SUBTRACT_FEE,
    replaceable: REPLACEABLE
  },
  results: [{ schema: Result.hex("The transaction") }],
  examples: [["id/example", 0.1]],
  errors: [
    "-5 name not found: '<name>'",
    "-5 the name is expired",
    "-10 Namecoin is downloading blocks...",
    "-1000 Name/value is invalid for encoding <encoding>",
    ...PAYMENT_ERRORS
  ]
})
