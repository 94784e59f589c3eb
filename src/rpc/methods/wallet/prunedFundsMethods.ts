import * as Effect from "effect/Effect"
import { Chain } from "../../../chain/Chain.ts"
import { equal } from "../../../protocol/bytes.ts"
import { txidKey } from "../../../protocol/keys.ts"
import { provenBy } from "../../../protocol/merkleProof.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import { NOT_IN_CHAIN } from "../../contract/chain/proof.ts"
import {
  IMPORTPRUNEDFUNDS,
  NOT_IN_PROOF,
  NOT_OURS,
  REMOVEPRUNEDFUNDS,
  WRONG_PROOF
} from "../../contract/wallet/prunedFunds.ts"
import type { Methods } from "../../method/methodTable.ts"
import { RpcError } from "../../method/RpcError.ts"
import { decodeProof } from "../proofMethods.ts"
import { decodeTransactionParam } from "../rawTransactionMethods.ts"
import { walletMethod } from "./walletContext.ts"

/** For nodes without the blocks. Upstream `wallet/rpc/backup.cpp` (reference/rpc.md 3.9). */

export const prunedFundsMethods: Methods<Wallets | Chain> = Effect.gen(function*() {
  const chain = yield* Chain
  const make = walletMethod(yield* Wallets)

  const importprunedfunds = make(
    IMPORTPRUNEDFUNDS,
    ({ rawtransaction, txoutproof }, wallet) =>
      Effect.gen(function*() {
        const transaction = yield* decodeTransactionParam(rawtransaction)
        const { head, tree } = yield* decodeProof(txoutproof)
        const proven = provenBy(tree)
        if (proven === undefined || !equal(proven.root, head.header.merkleRoot)) {
          return yield* RpcError.invalidAddressOrKey(WRONG_PROOF)
        }
        const info = yield* Effect.mapError(
          chain.header(head.header.hash),
          () => RpcError.invalidAddressOrKey(NOT_IN_CHAIN)
        )
        if (info.confirmations < 1 || info.height > wallet.ledger.lastBlock().height) {
          return yield* RpcError.invalidAddressOrKey(NOT_IN_CHAIN)
        }
        const position = proven.positions[
          proven.txids.findIndex((txid) => equal(txid, transaction.txid))
        ]
        if (position === undefined) return yield* RpcError.invalidAddressOrKey(NOT_IN_PROOF)
        if (!wallet.ledger.concerns(transaction)) return yield* RpcError.invalidAddressOrKey(NOT_OURS)
        const { hash, header, height } = info
        yield* wallet.ledger.insert(transaction, { height, hash, time: header.time, position })
        return null
      })
  )

  const removeprunedfunds = make(
    REMOVEPRUNEDFUNDS,
    ({ txid }, wallet) => Effect.as(wallet.ledger.remove(txidKey(txid)), null)
  )

  return [importprunedfunds, removeprunedfunds]
})
