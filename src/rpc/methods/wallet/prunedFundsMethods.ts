import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import { equal } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import { provenBy } from "../../../protocol/merkleProof.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import type { Method } from "../../method/methodTable.ts"
import { hash, hex, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { decodeProof, GENESIS_PROOF, TRUNCATED } from "../proofMethods.ts"
import { decodeTransactionParam } from "../rawTransactionMethods.ts"
import { walletMethod } from "./walletContext.ts"

/**
 * Transactions that a caller proves to a wallet, for nodes without the blocks (reference/rpc.md 3.9). Upstream
 * `wallet/rpc/backup.cpp`.
 */

const TRANSACTION =
  "010000000111111111111111111111111111111111111111111111111111111111111111110000000000ffffffff0140420f" +
  "00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"
const TXID = "e616a6a39c5941a5fb36f024f1bf9b6f1e05c5bc51c005af06757c28bdfc6ac4"

const WRONG_PROOF = "Something wrong with merkleblock"
const NOT_IN_CHAIN = "Block not found in chain"
const NOT_IN_PROOF = "Transaction given doesn't exist in proof"
const NOT_OURS = "No addresses in wallet correspond to included transaction"

export const prunedFundsMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets | Chain> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const make = walletMethod(yield* Wallets)

    const importprunedfunds = make({
      name: "importprunedfunds",
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
      ],
      handler: ({ rawtransaction, txoutproof }, wallet) =>
        Effect.gen(function*() {
          const transaction = yield* decodeTransactionParam(rawtransaction)
          const { head, tree } = yield* decodeProof(txoutproof)
          const proven = provenBy(tree)
          if (proven === undefined || !equal(proven.root, head.header.merkleRoot)) {
            return yield* RpcError.invalidAddressOrKey(WRONG_PROOF)
          }
          const info = yield* Effect.mapError(chain.header(head.header.hash), () =>
            RpcError.invalidAddressOrKey(NOT_IN_CHAIN))
          if (info.confirmations < 1 || info.height > wallet.ledger.lastBlock().height) {
            return yield* RpcError.invalidAddressOrKey(NOT_IN_CHAIN)
          }
          const position = proven.positions[
            proven.txids.findIndex((txid) =>
              equal(txid, transaction.txid)
            )
          ]
          if (position === undefined) return yield* RpcError.invalidAddressOrKey(NOT_IN_PROOF)
          if (!wallet.ledger.concerns(transaction)) return yield* RpcError.invalidAddressOrKey(NOT_OURS)
          const { hash, header, height } = info
          yield* wallet.ledger.insert(transaction, { height, hash, time: header.time, position })
          return null
        })
    })

    const removeprunedfunds = make({
      name: "removeprunedfunds",
      writes: true,
      summary: "Removes a transaction from the wallet. The balances change; a scan of its block finds it again.",
      params: { txid: hash("The transaction.", { label: "txid" }) },
      results: [{ schema: Result.nothing("") }],
      examples: [[TXID]],
      errors: ["-4 Transaction <txid> does not belong to this wallet"],
      handler: ({ txid }, wallet) => Effect.as(wallet.ledger.remove(txidKey(txid)), null)
    })

    return [importprunedfunds, removeprunedfunds]
  }
)
