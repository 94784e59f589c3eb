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

/** A reason why answers may be wrong just now. */
export interface Doubt {
  /** The file or store, as operators know it: `names.db`, `blocks`. */
  readonly what: string
  /** What was found and what is done about it, one sentence. */
  readonly reason: string
}

/** Something on disk that the background check walks through. */
export interface Checkable {
  /** As in `Doubt`; each part has its own. */
  readonly what: string
  /** What `total` counts, in the plural: `pages`, `blocks`. */
  readonly unit: string
  /** Units to check in all, now. */
  readonly total: Effect.Effect<number>
  /**
   * Checks units from number `from` on for some milliseconds, and returns the number of the next one; `undefined` at the
   * end. Damage is no failure: the part notes the doubt, counts it, and starts its repair by itself.
   */
  readonly check: (from: number) => Effect.Effect<number | undefined, StorageFailure>
}

/** How far the background check of a part is. */
export interface CheckProgress {
  readonly what: string
  readonly unit: string
  readonly checked: number
  readonly total: number
  /** Passes that reached the end since the node started. */
  readonly passes: number
  /** Units that were found damaged since the node started. */
  readonly damaged: number
}

/** Knows whether the files of the node are as they were written, and what is being done where they are not. */
export class DataHealth extends Context.Tag("svcd/DataHealth")<DataHealth, {
  /** What may be wrong just now; empty while everything is sound as far as is known. `/ready` is 503 while there is one. */
  readonly doubts: Effect.Effect<ReadonlyArray<Doubt>>
  /** Notes a doubt, in the log too, until the returned effect is run. */
  readonly doubt: (doubt: Doubt) => Effect.Effect<Effect.Effect<void>>
  /** What the operator is to know and what makes no answer wrong: `/ready` stays as it is. */
  readonly notices: Effect.Effect<ReadonlyArray<Doubt>>
  /** Notes such a thing, in the log too, until the returned effect is run. */
  readonly notice: (notice: Doubt) => Effect.Effect<Effect.Effect<void>>
  /** Notes damage that was found, for the metric and the progress. */
  readonly damaged: (what: string) => Effect.Effect<void>
  /** Hands a part to the background check for as long as the scope lives. */
  readonly register: (part: Checkable) => Effect.Effect<void, never, Scope.Scope>
  /** The parts that are registered now. */
  readonly parts: Effect.Effect<ReadonlyArray<Checkable>>
  /** Notes how far the check of a part is. */
  readonly checked: (what: string, upTo: number) => Effect.Effect<void>
  /** Notes that the check of a part has seen all of it, and begins again. */
  readonly passed: (what: string) => Effect.Effect<void>
  readonly progress: Effect.Effect<ReadonlyArray<CheckProgress>>
}>() {}

interface Tally {
  checked: number
  passes: number
  damaged: number
}

/** The label of a store for the metric: wallets have a file each. */
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
        Effect.zipRight(Effect.logError("answers may be wrong", { ...doubt })),
        Effect.as(Effect.suspend(() => {
          const held = doubts.delete(doubt)
          show()
          return held ? Effect.logInfo("repaired", { what: doubt.what }) : Effect.void
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
