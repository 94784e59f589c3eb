import * as Effect from "effect/Effect"
import { Mempool } from "../../mempool/Mempool.ts"
import { MAX_PACKAGE_COUNT } from "../../mempool/policy/limits.ts"
import { isChildWithParentsTree } from "../../mempool/policy/package.ts"
import { fromHex } from "../../protocol/bytes.ts"
import { wtxidKey } from "../../protocol/keys.ts"
import { isUnspendable } from "../../protocol/script.ts"
import { hasValidOperations } from "../../protocol/scriptOperations.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import { BURN_EXCEEDED, DISALLOWED, NO_INPUTS, PACKAGE_COUNT, SUBMITPACKAGE } from "../contract/mempool/offer.ts"
import { eachInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { decodeWithInputs } from "../shapes/decodeTransaction.ts"
import { packageJson } from "../shapes/package.ts"
import { storageError } from "./errors.ts"

/** reference/rpc.md 3.4. */

export const packageMethods: Methods<Mempool> = Effect.gen(function*() {
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

/** `undefined` if malformed. */
export const readOffered = (hexstring: string): Transaction | undefined => {
  const bytes = fromHex(hexstring)
  return bytes === undefined ? undefined : decodeWithInputs(bytes)
}

/** Whether the amount is lost, as far as the script shows. */
const burns = ({ script }: TransactionOutput): boolean => isUnspendable(script) || !hasValidOperations(script)

/** Refuses outputs that would lose more than `most` smallest units. */
export const checkBurns = ({ outputs }: Transaction, most: number): Effect.Effect<void, RpcError> =>
  outputs.some((output) => burns(output) && output.value > most) ? RpcError.verifyError(BURN_EXCEEDED) : Effect.void

/** For a call with several transactions. */
export const decodeOffered = (hexstring: string): Effect.Effect<Transaction, RpcError> => {
  const transaction = readOffered(hexstring)
  return transaction === undefined
    ? RpcError.deserialization(`TX decode failed: ${hexstring} ${NO_INPUTS}`)
    : Effect.succeed(transaction)
}

export const checkPackageCount = ({ length }: ReadonlyArray<string>): Effect.Effect<void, RpcError> =>
  length < 1 || length > MAX_PACKAGE_COUNT ? RpcError.invalidParameter(PACKAGE_COUNT) : Effect.void
