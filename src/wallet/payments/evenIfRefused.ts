import * as Effect from "effect/Effect"
import { rejectionText, TransactionRejected } from "../../mempool/errors.ts"
import { txidKeyOf } from "../../protocol/keys.ts"
import type { Wallet } from "../Wallet.ts"

/**
 * A transaction that the wallet made and stored counts as sent, even if the mempool refuses it: the answer is the same,
 * and the log has a warning (reference/rpc.md 5.7). `instead` makes the answer from its txid in display order.
 */
export const evenIfRefused = <A, E>(
  { ledger }: Pick<Wallet, "ledger">,
  sending: Effect.Effect<A, E | TransactionRejected>,
  instead: (txid: string) => A
): Effect.Effect<A, E | TransactionRejected> =>
  Effect.catchIf(
    sending,
    (failure): failure is TransactionRejected => {
      const key = failure instanceof TransactionRejected ? txidKeyOf(failure.txid) : undefined
      return key !== undefined && ledger.transaction(key) !== undefined
    },
    (failure) =>
      Effect.as(
        Effect.logWarning("the mempool refuses a transaction of the wallet", {
          txid: failure.txid,
          reason: rejectionText(failure)
        }),
        instead(failure.txid)
      )
  )
