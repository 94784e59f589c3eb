import * as Schema from "effect/Schema"
import { chainContract } from "../../method/contract.ts"
import { array, hash, hex, optional } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

export const NOT_IN_BLOCK = "Transaction not yet in block"

export const PROOF_NOT_FOUND = "Not all transactions found in specified or retrieved block"

export const NOT_IN_CHAIN = "Block not found in chain"

export const TRUNCATED = "SpanReader::read(): end of data: iostream error"

/** The proof of the only transaction of the main network's first block, for the examples. */
export const GENESIS_PROOF =
  "0100000000000000000000000000000000000000000000000000000000000000000000000dcbd3e6f061215bf3b3383c" +
  "8ce2ec201bc65acde32595449ac86890bd2dc641c133aa4dff7f001c92a11ea201000000010dcbd3e6f061215bf3b3383c8ce2ec201bc65acd" +
  "e32595449ac86890bd2dc6410101"

export const GETTXOUTPROOF = chainContract({
  name: "gettxoutproof",
  right: "read",
  heavy: true,
  summary:
    "Returns a proof that a block contains transactions, in hexadecimal digits: the header with its merged-mining " +
    "proof, and a part of the merkle tree. Without -txindex or -electrumindex and without a block, one of them must " +
    "have an unspent output, or the first one must have changed a name.",
  params: {
    txids: array(hash("A transaction.", { label: "txid" }), "The transactions, all in one block."),
    blockhash: optional(hash("Their block."))
  },
  results: [{ schema: Result.hex("The proof") }],
  examples: [[["0c686779a1dcc867039a3c71934d6cde487c4eabd9cd2efd0bdcf15262ed9886"]]],
  errors: [
    "-8 Parameter 'txids' cannot be empty",
    "-8 Invalid parameter, duplicated txid: <txid>",
    "-5 Block not found",
    `-5 ${NOT_IN_BLOCK}`,
    `-5 ${PROOF_NOT_FOUND}`,
    "-1 Block not available (not fully downloaded)",
    "-32603 Can't read block from disk"
  ]
})

export const VERIFYTXOUTPROOF = chainContract({
  name: "verifytxoutproof",
  right: "read",
  summary: "Verifies a proof of `gettxoutproof` and returns the transactions that it proves: none for an invalid " +
    "proof. The block must be on the best chain.",
  params: { proof: hex("The proof.") },
  results: [{ schema: Schema.Array(Result.hex("A txid")) }],
  examples: [[GENESIS_PROOF]],
  errors: [`-5 ${NOT_IN_CHAIN}`, `-1 ${TRUNCATED}`]
})
