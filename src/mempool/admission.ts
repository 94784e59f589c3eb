import * as Effect from "effect/Effect"
import { attempt } from "../chain/attempt.ts"
import type { TipState } from "../chain/state/TipState.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { displayHash } from "../protocol/bytes.ts"
import type { TxidKey } from "../protocol/keys.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type AcceptanceContext, type AcceptancePlan, planAcceptance } from "./acceptance.ts"
import { TransactionRejected } from "./errors.ts"
import type { RollingFee } from "./fees/RollingFee.ts"
import { rateOf } from "./policy/feeRate.ts"
import { blame, type PackagePlan, type PackageRefusal, planPackage } from "./policy/package.ts"
import type { Policy } from "./policy/Policy.ts"
import type { Pool } from "./Pool.ts"
import type { PoolEntry } from "./PoolEntry.ts"
import { refuse } from "./refusal.ts"
import { checkScripts } from "./scriptChecks.ts"
import { submitPackage } from "./submission.ts"
import type { PackageResult, Trial } from "./Trial.ts"

export interface AdmissionParts {
  readonly pool: Pool
  readonly rolling: RollingFee
  readonly params: ConsensusParams
  readonly policy: Policy
  /** Bytes of memory. */
  readonly maxUsage: number
  /** Seconds until a waiting transaction expires. */
  readonly expiry: number
  /** Seconds since 1970. */
  readonly now: () => number
}

/** How and when a transaction arrived, in seconds since 1970. */
type Arrival = Pick<AcceptanceContext, "origin" | "time"> & Partial<Pick<AcceptanceContext, "inPackage" | "maxFeeRate">>

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
  /** Offers a child with its parents. A fee rate above `maxFeeRate` (smallest units per kvB) is a mistake. */
  readonly submit: (
    state: TipState,
    transactions: ReadonlyArray<Transaction>,
    maxFeeRate: number | undefined
  ) => Effect.Effect<PackageResult, StorageFailure>
  /** Removes expired transactions, then evicts down to the memory limit. */
  readonly tidy: () => void
  /** The rolling minimum fee rate since the pool was full, smallest units per kvB. */
  readonly poolFeeRate: () => number
}

const NOTHING: ReadonlyMap<TxidKey, Transaction> = new Map()

const accepted = ({ entry, replaced }: AcceptancePlan): Trial => ({
  type: "accepted",
  entry,
  effectiveFeeRate: rateOf({ fee: entry.modifiedFee, vsize: entry.vsize }),
  replaced
})

/** The test results of a refused package, of which only the transaction to blame has its own. */
const unaccepted = (
  transactions: ReadonlyArray<Transaction>,
  { failed, refused }: PackageRefusal
): ReadonlyArray<Trial> =>
  transactions.map(({ txid }) => {
    if (failed === undefined) return { type: "unjudged", packageError: refused }
    return displayHash(txid) === failed.txid
      ? { type: "rejected", rejected: failed }
      : { type: "unjudged", packageError: undefined }
  })

export const makeAdmission = (parts: AdmissionParts): Admission => {
  const { expiry, maxUsage, now, params, policy, pool, rolling } = parts

  const poolFeeRate = (): number => rolling.at(now(), pool.usage / maxUsage)

  const tidy = (): void => {
    pool.expire(now() - expiry)
    pool.trim(maxUsage, rolling)
  }

  const context = (
    state: TipState,
    { inPackage = false, maxFeeRate, origin, time }: Arrival
  ): AcceptanceContext => ({
    state,
    params,
    policy,
    poolFeeRate: poolFeeRate(),
    time,
    origin,
    before: NOTHING,
    maxFeeRate,
    inPackage
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
    // Evicted at once, so no listener is notified of its arrival.
    pool.forget(entry)
    return refuse(transaction, "underpaid", { reason: "mempool full" })
  }

  const testOne = (state: TipState, transaction: Transaction): Effect.Effect<Trial, StorageFailure> =>
    plan(state, transaction, { origin: "offered", time: now() }).pipe(
      Effect.map(accepted),
      Effect.catchTag(
        "TransactionRejected",
        (rejected): Effect.Effect<Trial> => Effect.succeed({ type: "rejected", rejected })
      )
    )

  /** Checks transactions of a package, with their scripts. */
  const planAll = (
    state: TipState,
    transactions: ReadonlyArray<Transaction>,
    arrival: Arrival
  ): Effect.Effect<PackagePlan | PackageRefusal, StorageFailure> =>
    Effect.gen(function*() {
      const judged = yield* attempt(() => planPackage(pool, transactions, context(state, arrival)))
      if ("refused" in judged) return judged
      for (const one of judged.plans) {
        const refused = yield* scripts(state, one)
        if (refused !== undefined) return blame(refused)
      }
      return judged
    })

  const testAll = (
    state: TipState,
    transactions: ReadonlyArray<Transaction>
  ): Effect.Effect<ReadonlyArray<Trial>, StorageFailure> =>
    Effect.gen(function*() {
      const arrival = { origin: "tested", time: now() } as const
      const judged = yield* attempt(() => planPackage(pool, transactions, context(state, arrival)))
      if ("refused" in judged) return unaccepted(transactions, judged)
      const trials = transactions.map((): Trial => ({ type: "unjudged", packageError: undefined }))
      for (const [i, one] of judged.plans.entries()) {
        const refused = yield* scripts(state, one)
        trials[i] = refused === undefined ? accepted(one) : { type: "rejected", rejected: refused }
        if (refused !== undefined) break
      }
      return trials
    })

  const submit = (
    state: TipState,
    transactions: ReadonlyArray<Transaction>,
    maxFeeRate: number | undefined
  ): Effect.Effect<PackageResult, StorageFailure> => {
    const arrival = { time: now(), inPackage: true, maxFeeRate }
    return submitPackage({
      pool,
      tidy,
      planAlone: (transaction) => plan(state, transaction, { ...arrival, origin: "offered" }),
      planTogether: (together) => planAll(state, together, { ...arrival, origin: "package" })
    }, transactions)
  }

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
    submit,
    tidy,
    poolFeeRate
  }
}
