import * as Effect from "effect/Effect"
import { type TransactionEvent, transactions, type ValidationError, validationErrors } from "../metrics/metrics.ts"
import type { RejectionKind, TransactionRejected } from "./errors.ts"
import type { MempoolEvent, RemovalReason } from "./PoolEntry.ts"
import type { PackageResult } from "./Trial.ts"

const REMOVED: Readonly<Record<RemovalReason, TransactionEvent>> = {
  "block": "mined",
  "conflict": "conflicted",
  "name-conflict": "conflicted",
  "replaced": "replaced",
  "expiry": "expired",
  "size-limit": "evicted",
  "reorg": "reorganised"
}

const REJECTED: Readonly<Record<RejectionKind, ValidationError>> = {
  "consensus": "transaction_consensus",
  "policy": "transaction_policy",
  "witness": "transaction_witness",
  "missing-inputs": "transaction_missing_inputs",
  "conflict": "transaction_conflict",
  "underpaid": "transaction_mempool_full",
  "premature": "transaction_premature"
}

export const recordNews = (news: ReadonlyArray<MempoolEvent>): void => {
  for (const event of news) transactions.of(event._tag === "Added" ? "accepted" : REMOVED[event.reason]).increase()
}

export const recordRejected = ({ kind }: TransactionRejected): Effect.Effect<void> =>
  Effect.sync(() => validationErrors.of(REJECTED[kind]).increase())

export const recordRejectedOf = ({ outcomes }: PackageResult): Effect.Effect<void> =>
  Effect.forEach(
    outcomes.values(),
    (outcome) => outcome.type === "rejected" ? recordRejected(outcome.rejected) : Effect.void,
    { discard: true }
  )
