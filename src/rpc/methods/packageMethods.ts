import * as Effect from "effect/Effect"
import { Mempool } from "../../mempool/Mempool.ts"
import { isChildWithParentsTree } from "../../mempool/policy/package.ts"
import { wtxidKey } from "../../protocol/keys.ts"
import { DISALLOWED, SUBMITPACKAGE } from "../contract/mempool/package.ts"
import { eachInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { packageJson } from "../shapes/package.ts"
import { storageError } from "./errors.ts"
import { checkBurns, checkPackageCount, decodeOffered } from "./offeredTransactions.ts"

/** Methods for packages of transactions (reference/rpc.md 3.4). */

export const packageMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool> = Effect.gen(function*() {
  const pool = yield* Mempool

  const submitpackage = method(
    SUBMITPACKAGE,
    ({ maxburnamount, maxfeerate, package: rawtxs }, { turns }) =>
      Effect.gen(function*() {
        yield* checkPackageCount(rawtxs)
        const rate = yield* maxfeerate
        const transactions = yield* eachInTurns(
          turns,
          rawtxs,
          (hexstring) => Effect.tap(decodeOffered(hexstring), (transaction) => checkBurns(transaction, maxburnamount))
        )
        if (transactions.length > 1 && !isChildWithParentsTree(transactions)) {
          return yield* RpcError.verifyError(DISALLOWED)
        }
        const submitted = pool.submit(transactions, rate === 0 ? undefined : rate)
        const result = yield* Effect.mapError(submitted, storageError)
        for (const { txidKey, wtxid } of transactions) {
          if (result.outcomes.get(wtxidKey(wtxid))?.type === "accepted") pool.broadcastLater(txidKey)
          else yield* pool.announceAgain(txidKey)
        }
        return packageJson(transactions, result)
      })
  )

  return [submitpackage]
})
