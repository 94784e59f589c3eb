import * as Effect from "effect/Effect"
import { displayHash } from "../protocol/bytes.ts"
import { type WtxidKey, wtxidKey } from "../protocol/keys.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { AcceptancePlan } from "./acceptance.ts"
import type { RejectionKind, TransactionRejected } from "./errors.ts"
import { rateOf } from "./policy/feeRate.ts"
import {
  isChildWithParents,
  malformation,
  ONE_FAILED,
  type PackagePlan,
  type PackageRefusal
} from "./policy/package.ts"
import type { Pool } from "./Pool.ts"
import type { PoolEntry } from "./PoolEntry.ts"
import { refuse } from "./refusal.ts"
import type { PackageOutcome, PackageResult } from "./Trial.ts"

// Offers a child with its parents to the pool: each transaction alone first, then together those that only lack a fee
// or a parent. So a fee counts once, and a child does not pay for a parent that needs no help. Source: upstream
// `validation.cpp`, `MemPoolAccept::AcceptPackage`.

/** What a submission needs. Plans have passed all checks, including scripts. */
export interface SubmissionParts {
  readonly pool: Pool
  readonly planAlone: (
    transaction: Transaction
  ) => Effect.Effect<AcceptancePlan, TransactionRejected | StorageFailure>
  readonly planTogether: (
    transactions: ReadonlyArray<Transaction>
  ) => Effect.Effect<PackagePlan | PackageRefusal, StorageFailure>
  /** Evicts down to the memory limit. */
  readonly tidy: () => void
}

/** Refusals of a single transaction that its package may prevent. */
const CURABLE: ReadonlySet<RejectionKind> = new Set(["underpaid", "missing-inputs"])

const FULL = { reason: "mempool full" }

const keyOf = ({ wtxid }: Transaction): WtxidKey => wtxidKey(wtxid)

class Submission {
  refused: string | undefined
  readonly left: Array<Transaction> = []
  private readonly outcomes = new Map<WtxidKey, PackageOutcome>()
  private readonly pool: Pool
  private readonly transactions: ReadonlyArray<Transaction>

  constructor(pool: Pool, transactions: ReadonlyArray<Transaction>) {
    this.pool = pool
    this.transactions = transactions
  }

  /** Notes a transaction that the pool has, perhaps with another witness. */
  isPresent(transaction: Transaction): boolean {
    const entry = this.pool.get(transaction.txidKey)
    if (entry === undefined) return false
    const type = keyOf(entry.transaction) === keyOf(transaction) ? "present" : "other-witness"
    this.outcomes.set(keyOf(transaction), { type, entry })
    return true
  }

  /** Notes the refusal of a transaction alone. */
  refusedAlone(transaction: Transaction, rejected: TransactionRejected): void {
    this.outcomes.set(keyOf(transaction), { type: "rejected", rejected })
    if (this.transactions.length > 1 && CURABLE.has(rejected.kind)) this.left.push(transaction)
    else this.refused = ONE_FAILED
  }

  /** Adds transactions to the pool, replacing others. */
  accept(plans: ReadonlyArray<AcceptancePlan>, replaced: ReadonlyArray<PoolEntry>): void {
    for (const { transaction } of replaced.toReversed()) this.pool.remove(transaction.txidKey, "replaced")
    const includes = plans.map(({ entry }) => entry.transaction)
    let [fee, vsize] = [0, 0]
    for (const { entry } of plans) {
      fee += entry.modifiedFee
      vsize += entry.vsize
      this.pool.add(entry)
    }
    const effectiveFeeRate = rateOf({ fee, vsize })
    for (const [i, { entry }] of plans.entries()) {
      const outcome: PackageOutcome = {
        type: "accepted",
        entry,
        effectiveFeeRate,
        includes,
        replaced: i === 0 ? replaced : []
      }
      this.outcomes.set(keyOf(entry.transaction), outcome)
    }
  }

  /** Notes the refusal of transactions together. The others keep the refusal they had alone. */
  refusedTogether({ failed, refused }: PackageRefusal): void {
    this.refused = refused
    const blamed = this.left.find(({ txid }) => displayHash(txid) === failed?.txid)
    if (failed !== undefined && blamed !== undefined) {
      this.outcomes.set(keyOf(blamed), { type: "rejected", rejected: failed })
    }
  }

  /** The result after trimming the pool, which may have evicted some of the package. */
  result(): PackageResult {
    for (const transaction of this.transactions) {
      if (this.outcomes.get(keyOf(transaction))?.type === "rejected" || this.pool.has(transaction.txidKey)) continue
      this.refused = ONE_FAILED
      this.outcomes.set(keyOf(transaction), { type: "rejected", rejected: refuse(transaction, "policy", FULL) })
    }
    return { refused: this.refused, outcomes: this.outcomes }
  }
}

/** Returns what is wrong with a package before looking at its transactions. */
const disorder = (transactions: ReadonlyArray<Transaction>): string | undefined =>
  malformation(transactions) ??
    (transactions.length < 2 || isChildWithParents(transactions) ? undefined : "package-not-child-with-parents")

/** Offers a package. The caller keeps the tip meanwhile. */
export const submitPackage = (
  { planAlone, planTogether, pool, tidy }: SubmissionParts,
  transactions: ReadonlyArray<Transaction>
): Effect.Effect<PackageResult, StorageFailure> =>
  Effect.gen(function*() {
    const refused = disorder(transactions)
    if (refused !== undefined) return { refused, outcomes: new Map() }
    const submission = new Submission(pool, transactions)
    for (const transaction of transactions) {
      if (submission.isPresent(transaction)) continue
      yield* planAlone(transaction).pipe(
        Effect.map((plan) => submission.accept([plan], plan.replaced)),
        Effect.catchTag("TransactionRejected", (rejected) =>
          Effect.sync(() => submission.refusedAlone(transaction, rejected)))
      )
    }
    const { left } = submission
    if (left.length === 1) {
      submission.refused = ONE_FAILED
    }
    if (left.length > 1 && submission.refused === undefined) {
      const planned = yield* planTogether(left)
      if ("refused" in planned) {
        submission.refusedTogether(planned)
      } else submission.accept(planned.plans, planned.replaced)
    }
    tidy()
    return submission.result()
  })
