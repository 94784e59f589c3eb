import * as Effect from "effect/Effect"
import { attempt } from "../chain/attempt.ts"
import type { TipState } from "../chain/state/TipState.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { TxidKey } from "../protocol/keys.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type AcceptanceContext, type AcceptancePlan, planAcceptance } from "./acceptance.ts"
import { TransactionRejected } from "./errors.ts"
import type { RollingFee } from "./fees/RollingFee.ts"
import { rateOf } from "./policy/feeRate.ts"
import { judgePackage } from "./policy/package.ts"
import type { Policy } from "./policy/Policy.ts"
import type { Pool } from "./Pool.ts"
import type { PoolEntry } from "./PoolEntry.ts"
import { refuse } from "./refusal.ts"
import { checkScripts } from "./scriptChecks.ts"
import type { Trial } from "./Trial.ts"

/** The dependencies of admission. */
export interface AdmissionParts {
  readonly pool: Pool
  readonly rolling: RollingFee
  readonly params: ConsensusParams
  readonly policy: Policy
  /** Bytes of memory. */
  readonly maxUsage: number
  /** Seconds after which a waiting transaction expires. */
  readonly expiry: number
  /** Seconds since 1970. */
  readonly now: () => number
}

/** How a transaction arrived, and when: seconds since 1970. */
type Arrival = Pick<AcceptanceContext, "origin" | "time">

/** The arrival of a transaction that stays if it is accepted. */
export interface AdmittedArrival extends Arrival {
  readonly origin: "offered" | "mined"
}

/** Admits transactions to the pool. The caller keeps the tip at `state` during every call. */
export interface Admission {
  /** Checks a transaction and adds it. */
  readonly admit: (
    state: TipState,
    transaction: Transaction,
    arrival: AdmittedArrival
  ) => Effect.Effect<PoolEntry, TransactionRejected | StorageFailure>
  /** Checks transactions and adds none. */
  readonly test: (
    state: TipState,
    transactions: ReadonlyArray<Transaction>
  ) => Effect.Effect<ReadonlyArray<Trial>, StorageFailure>
  /** Removes expired transactions, then evicts down to the memory limit. */
  readonly tidy: () => void
  /** The rolling minimum fee rate since the pool was full, smallest units a kvB. */
  readonly poolFeeRate: () => number
}

const NOTHING: ReadonlyMap<TxidKey, Transaction> = new Map()

/** The test result of a transaction that would be accepted. */
const accepted = ({ entry, replaced }: AcceptancePlan): Trial => ({
  type: "accepted",
  entry,
  effectiveFeeRate: rateOf({ fee: entry.modifiedFee, vsize: entry.vsize }),
  replaced
})

export const makeAdmission = (parts: AdmissionParts): Admission => {
  const { expiry, maxUsage, now, params, policy, pool, rolling } = parts

  const poolFeeRate = (): number => rolling.at(now(), pool.usage / maxUsage)

  const tidy = (): void => {
    pool.expire(now() - expiry)
    pool.trim(maxUsage, rolling)
  }

  const context = (state: TipState, { origin, time }: Arrival): AcceptanceContext => ({
    state,
    params,
    policy,
    poolFeeRate: poolFeeRate(),
    time,
    origin,
    before: NOTHING
  })

  const scripts = (state: TipState, plan: AcceptancePlan) => checkScripts(plan, state.tip.height + 1, params)

  const plan = (
    state: TipState,
    transaction: Transaction,
    arrival: Arrival
  ): Effect.Effect<AcceptancePlan, TransactionRejected | StorageFailure> =>
    Effect.gen(function*() {
      const judged = yield* attempt(() => planAcceptance(pool, transaction, context(state, arrival)))
      if (judged instanceof TransactionRejected) return yield* judged
      const refused = yield* scripts(state, judged)
      return refused === undefined ? judged : yield* refused
    })

  const commit = (
    { entry, replaced }: AcceptancePlan,
    { origin }: Arrival
  ): Effect.Effect<PoolEntry, TransactionRejected> => {
    const { transaction } = entry
    for (const { transaction: old } of replaced.toReversed()) pool.remove(old.txidKey, "replaced")
    if (origin === "mined") {
      pool.addBack(entry)
      return Effect.succeed(entry)
    }
    pool.add(entry)
    tidy()
    if (pool.has(transaction.txidKey)) return Effect.succeed(entry)
    // Evicted at once: no listener is notified of its arrival.
    pool.forget(entry)
    return refuse(transaction, "mempool-full", { reason: "mempool full" })
  }

  const testOne = (state: TipState, transaction: Transaction): Effect.Effect<Trial, StorageFailure> =>
    plan(state, transaction, { origin: "offered", time: now() }).pipe(
      Effect.map(accepted),
      Effect.catchTag(
        "TransactionRejected",
        (rejected): Effect.Effect<Trial> => Effect.succeed({ type: "rejected", rejected })
      )
    )

  const testAll = (
    state: TipState,
    transactions: ReadonlyArray<Transaction>
  ): Effect.Effect<ReadonlyArray<Trial>, StorageFailure> =>
    Effect.gen(function*() {
      const judged = yield* attempt(() =>
        judgePackage(pool, transactions, context(state, { origin: "package", time: now() }))
      )
      if ("trials" in judged) return judged.trials
      const trials = transactions.map((): Trial => ({ type: "unjudged", packageError: undefined }))
      for (const [i, one] of judged.plans.entries()) {
        const refused = yield* scripts(state, one)
        trials[i] = refused === undefined ? accepted(one) : { type: "rejected", rejected: refused }
        if (refused !== undefined) break
      }
      return trials
    })

  return {
    admit: (state, transaction, arrival) =>
      Effect.flatMap(
        plan(state, transaction, arrival),
        (planned) => Effect.suspend(() => commit(planned, arrival))
      ),
    test: (state, transactions) => {
      const [only] = transactions
      if (only === undefined) return Effect.succeed([])
      return transactions.length === 1 ? Effect.map(testOne(state, only), (one) => [one]) : testAll(state, transactions)
    },
    tidy,
    poolFeeRate
  }
}
