import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import {
  storageChecked,
  storageDamage,
  storageDoubts,
  storagePasses,
  type StoreLabel,
  STORES
} from "../metrics/storageMetrics.ts"
import type { StorageFailure } from "./errors.ts"

export interface Doubt {
  /** Usual name of the file or store: `names.db`, `blocks`. */
  readonly what: string
  /** One sentence: what was found, and what the node does about it. */
  readonly reason: string
}

export interface Checkable {
  /** As in `Doubt`, unique per part. */
  readonly what: string
  /** What `total` counts: `pages`, `blocks`. */
  readonly unit: string
  readonly total: Effect.Effect<number>
  /**
   * Checks units, starting at `from`, for a few milliseconds. Returns the next one, or `undefined` at the end. Damage
   * does not fail the check, which records a doubt, counts it and starts a repair.
   */
  readonly check: (from: number) => Effect.Effect<number | undefined, StorageFailure>
}

export interface CheckProgress {
  readonly what: string
  readonly unit: string
  readonly checked: number
  readonly total: number
  readonly passes: number
  readonly damaged: number
}

/** Tracks damage of the node's files and repairs in progress. */
export class DataHealth extends Context.Tag("svcd/DataHealth")<DataHealth, {
  /** While there is a doubt, `/ready` returns 503. */
  readonly doubts: Effect.Effect<ReadonlyArray<Doubt>>
  /** Logs the doubt, too. The returned effect withdraws it. */
  readonly doubt: (doubt: Doubt) => Effect.Effect<Effect.Effect<void>>
  /** Facts for the operator that affect neither answers nor `/ready`. */
  readonly notices: Effect.Effect<ReadonlyArray<Doubt>>
  /** Logs the notice, too. The returned effect withdraws it. */
  readonly notice: (notice: Doubt) => Effect.Effect<Effect.Effect<void>>
  readonly damaged: (what: string) => Effect.Effect<void>
  /** Checks the part in the background until the scope closes. */
  readonly register: (part: Checkable) => Effect.Effect<void, never, Scope.Scope>
  readonly parts: Effect.Effect<ReadonlyArray<Checkable>>
  readonly checked: (what: string, upTo: number) => Effect.Effect<void>
  readonly passed: (what: string) => Effect.Effect<void>
  readonly progress: Effect.Effect<ReadonlyArray<CheckProgress>>
}>() {}

interface Tally {
  checked: number
  passes: number
  damaged: number
}

/** The metrics label. All wallets share one. */
const labelOf = (what: string): StoreLabel =>
  STORES.find((store) => store === what) ?? (what.startsWith("wallet-") ? "wallet.db" : "other")

const make = Effect.sync(() => {
  const doubts = new Set<Doubt>()
  const show = (): void => storageDoubts.set(doubts.size)
  const notices = new Set<Doubt>()
  const parts = new Map<string, Checkable>()
  const tallies = new Map<string, Tally>()
  const tally = (what: string): Tally => {
    const known = tallies.get(what)
    if (known !== undefined) return known
    const fresh = { checked: 0, passes: 0, damaged: 0 }
    tallies.set(what, fresh)
    return fresh
  }
  const progressOf = ({ total, unit, what }: Checkable) =>
    Effect.map(total, (count): CheckProgress => ({ what, unit, total: count, ...tally(what) }))

  return DataHealth.of({
    doubts: Effect.sync(() => [...doubts]),
    doubt: (doubt) =>
      Effect.sync(() => {
        doubts.add(doubt)
        show()
      }).pipe(
        Effect.zipRight(
          Effect.logError("stored data damaged or missing: answers may be wrong until it is repaired", { ...doubt })
        ),
        Effect.as(Effect.suspend(() => {
          const held = doubts.delete(doubt)
          show()
          return held ? Effect.logInfo("stored data repaired", { what: doubt.what }) : Effect.void
        }))
      ),
    notices: Effect.sync(() => [...notices]),
    notice: (notice) =>
      Effect.sync(() => void notices.add(notice)).pipe(
        Effect.zipRight(Effect.logWarning("operator action may be needed", { ...notice })),
        Effect.as(Effect.sync(() => void notices.delete(notice)))
      ),
    damaged: (what) =>
      Effect.sync(() => {
        tally(what).damaged += 1
        storageDamage.of(labelOf(what)).increase()
      }),
    register: (part) =>
      Effect.acquireRelease(
        Effect.sync(() => void parts.set(part.what, part)),
        () => Effect.sync(() => void parts.delete(part.what))
      ),
    parts: Effect.sync(() => [...parts.values()]),
    checked: (what, upTo) =>
      Effect.sync(() => {
        const seen = tally(what)
        if (upTo > seen.checked) storageChecked.of(labelOf(what)).increase(upTo - seen.checked)
        seen.checked = upTo
      }),
    passed: (what) =>
      Effect.sync(() => {
        const seen = tally(what)
        storagePasses.of(labelOf(what)).increase()
        seen.passes += 1
        seen.checked = 0
      }),
    progress: Effect.suspend(() => Effect.forEach(parts.values(), progressOf))
  })
})

export const layer: Layer.Layer<DataHealth> = Layer.effect(DataHealth, make)
