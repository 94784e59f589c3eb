import { walletContract } from "../../method/contract.ts"
import { hash, hex, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { NOT_IN_CHAIN } from "../chain/proof.ts"
import { GENESIS_PROOF, TRUNCATED } from "../chain/proof.ts"

const TRANSACTION =
  "010000000111111111111111111111111111111111111111111111111111111111111111110000000000ffffffff0140420f" +
  "00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const TXID = "e616a6a39c5941a5fb36f024f1bf9b6f1e05c5bc51c005af06757c28bdfc6ac4"

export const WRONG_PROOF = "Something wrong with merkleblock"

export const NOT_IN_PROOF = "Transaction given doesn't exist in proof"

export const NOT_OURS = "No addresses in wallet correspond to included transaction"

export const IMPORTPRUNEDFUNDS = walletContract({
  name: "importprunedfunds",
  coins: "any",
  writes: true,
  summary: "Adds a transaction to the wallet without a scan of blocks. The wallet must watch a script of the " +
    "transaction, and a proof of gettxoutproof must show that a block of the best chain has it. Transactions that " +
    "spend its outputs are the caller's to import as well.",
  params: {
    rawtransaction: string("The transaction in hexadecimal digits."),
    txoutproof: hex("The proof.")
  },
  results: [{ schema: Result.nothing("") }],
  examples: [[TRANSACTION, GENESIS_PROOF]],
  errors: [
    "-22 TX decode failed. Make sure the tx has at least one input.",
    `-5 ${WRONG_PROOF}`,
    `-5 ${NOT_IN_CHAIN}`,
    `-5 ${NOT_IN_PROOF}`,
    `-5 ${NOT_OURS}`,
    `-1 ${TRUNCATED}`
  ]
})

export const REMOVEPRUNEDFUNDS = walletContract({
  name: "removeprunedfunds",
  coins: "any",
  writes: true,
  summary: "Removes a transaction from the wallet. The balances change; a rescan of its block finds it again.",
  params: { txid: hash("The transaction.", { label: "txid" }) },
  results: [{ schema: Result.nothing("") }],
  examples: [[TXID]],
  errors: ["-4 Transaction <txid> does not belong to this wallet"]
})
