import * as Effect from "effect/Effect"
import { Mempool } from "../../mempool/Mempool.ts"
import { isChildWithParentsTree } from "../../mempool/policy/package.ts"
import { wtxidKey } from "../../protocol/keys.ts"
import { eachInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { array, hexText } from "../method/params.ts"
import { RpcError } from "../method/RpcError.ts"
import { PACKAGE, packageJson } from "../shapes/package.ts"
import { storageError } from "./errors.ts"
import {
  BURN_EXCEEDED,
  checkBurns,
  checkPackageCount,
  decodeOffered,
  FEE_RATE_TOO_HIGH,
  maxBurnAmount,
  maxFeeRateLater,
  NO_INPUTS,
  PACKAGE_COUNT,
  RAW_TRANSACTION
} from "./offeredTransactions.ts"

/** Methods for packages of transactions (reference/rpc.md 3.4). */

const DISALLOWED = "package topology disallowed. not child-with-parents or parents depend on each other."

export const packageMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool> = Effect.gen(function*() {
  const pool = yield* Mempool

  const submitpackage = method({
    name: "submitpackage",
    right: "spend",
    writes: true,
    group: "Raw transactions",
    summary: "Adds a transaction with some or all of its unconfirmed parents to the mempool, and announces them. The " +
      "child, which comes last, may pay for parents that the mempool refuses for their fee alone. Parents may not " +
      "spend each other.",
    params: {
      package: array(hexText("A transaction."), "The transactions; at most 25."),
      maxfeerate: maxFeeRateLater,
      maxburnamount: maxBurnAmount
    },
    results: [{ schema: PACKAGE }],
    examples: [[[RAW_TRANSACTION]]],
    errors: [
      `-8 ${PACKAGE_COUNT}`,
      `-8 ${FEE_RATE_TOO_HIGH}`,
      `-22 TX decode failed: <hex> ${NO_INPUTS}`,
      `-25 ${BURN_EXCEEDED}`,
      `-25 ${DISALLOWED}`
    ],
    handler: ({ maxburnamount, maxfeerate, package: rawtxs }, { turns }) =>
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
  })

  return [submitpackage]
})
