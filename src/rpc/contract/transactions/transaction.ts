import * as Schema from "effect/Schema"
import { MAX_SCRIPT_SIZE } from "../../../protocol/script.ts"
import { rawContract } from "../../method/contract.ts"
import {
  alias,
  boolean,
  hash,
  hexText,
  optional,
  readHex,
  refined,
  verbosity,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { DECODED_SCRIPT } from "../../shapes/decodeScript.ts"
import {
  BLOCK_OF_TRANSACTION,
  TRANSACTION,
  TRANSACTION_OF_BLOCK,
  TRANSACTION_WITH_COINS
} from "../../shapes/transaction.ts"

const IN_ACTIVE_CHAIN = Schema.optional(
  Result.boolean("Whether the given block is on the best chain; only with a given block")
)

const { fee, hex } = TRANSACTION_OF_BLOCK.fields

const WAITING_TRANSACTION = Schema.Struct({ ...TRANSACTION.fields, hex })

const PLACED_TRANSACTION = Schema.Struct({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION.fields,
  hex,
  ...BLOCK_OF_TRANSACTION
})

const PLACED_TRANSACTION_WITH_COINS = Schema.Struct({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION_WITH_COINS.fields,
  fee,
  hex,
  ...BLOCK_OF_TRANSACTION
})

/** Blocks contain scripts above the limit of executable scripts, so decoding allows more by this factor. */
const SHOWN_FACTOR = 10

export const MAX_SHOWN_SCRIPT = SHOWN_FACTOR * MAX_SCRIPT_SIZE

const readScript = (text: string): Uint8Array | RpcError =>
  text.length > 2 * MAX_SHOWN_SCRIPT
    ? RpcError.invalidParameter(`argument must not be longer than ${MAX_SHOWN_SCRIPT} bytes`)
    : readHex(text, { label: "argument" })

export const DECODERAWTRANSACTION = rawContract({
  name: "decoderawtransaction",
  right: "read",
  heavy: true,
  summary: "Decodes a transaction.",
  params: {
    hexstring: hexText("The transaction."),
    iswitness: optional(boolean("Whether the transaction is in witness format."), "tries both")
  },
  results: [{ schema: TRANSACTION }],
  examples: [["01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"]],
  errors: ["-22 TX decode failed", `-22 TX decode failed a script is longer than ${MAX_SHOWN_SCRIPT} bytes`]
})

export const GETRAWTRANSACTION = rawContract({
  name: "getrawtransaction",
  right: "read",
  heavy: true,
  summary:
    "Returns a transaction, as hexadecimal digits or as an object. Without -txindex or -electrumindex, it must be in the " +
    "mempool or in the given block, have an unspent output, or have changed a name.",
  params: {
    txid: hash("The transaction.", { label: "parameter 1" }),
    verbosity: withDefault(
      alias(verbosity("0: hexadecimal digits; 1: an object; 2: with fee and spent coins."), "verbose"),
      0
    ),
    blockhash: optional(hash("The block of the transaction.", { label: "parameter 3" }))
  },
  results: [
    { when: "verbosity is 0 or less", schema: Result.hex("The transaction") },
    { when: "verbosity is 1", schema: PLACED_TRANSACTION },
    { when: "verbosity is 2 or more", schema: PLACED_TRANSACTION_WITH_COINS },
    { when: "verbosity is 1 or more and it is in the mempool", schema: WAITING_TRANSACTION }
  ],
  examples: [["0c686779a1dcc867039a3c71934d6cde487c4eabd9cd2efd0bdcf15262ed9886"], [
    "0c686779a1dcc867039a3c71934d6cde487c4eabd9cd2efd0bdcf15262ed9886",
    1
  ]],
  errors: [
    "-5 No such mempool or blockchain transaction. Use gettransaction for wallet transactions.",
    "-5 No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction " +
    "queries. Use gettransaction for wallet transactions.",
    "-5 No such transaction found in the provided block. Use gettransaction for wallet transactions.",
    "-5 Block hash not found",
    "-5 The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved",
    "-1 Block not available",
    "-1 Can't read undo data from disk"
  ]
})

export const DECODESCRIPT = rawContract({
  name: "decodescript",
  right: "read",
  summary: "Decodes a script and returns its addresses.",
  params: { hexstring: refined(hexText("The script."), readScript) },
  results: [{ schema: DECODED_SCRIPT }],
  examples: [["5303642f6201316d7576a914333333333333333333333333333333333333333388ac"]],
  errors: [
    "-8 argument must be hexadecimal string (not '<x>')",
    `-8 argument must not be longer than ${MAX_SHOWN_SCRIPT} bytes`
  ]
})
