import * as Effect from "effect/Effect"
import { Chain } from "../chain/Chain.ts"
import { ChainCoins } from "../chain/ChainCoins.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { isExpired } from "../consensus/expiry.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { NamesIncomplete } from "./errors.ts"
import { NameDb, type NameEntry } from "./NameDb.ts"

export type KnownName =
  | { readonly type: "active"; readonly record: NameEntry }
  | { readonly type: "expired" }
  | { readonly type: "unknown" }

/**
 * The only code that decides whether the node may deny a name, reporting it as not registered or expired: if names.db
 * is at the tip, no known block is missing, and there is no doubt about stored data.
 */
export interface CompleteNames {
  /** Whether a missing name does not exist. */
  readonly complete: Effect.Effect<boolean, StorageFailure>
  /** The tip at which names are complete, for `asking`; `undefined` if they are not. */
  readonly settled: Effect.Effect<Cursor | undefined, StorageFailure>
  /**
   * Runs a query about names. If the answer denies a name, names must be complete at the tip that they had before the
   * query. If that tip has moved, as in a reorg, runs the query once more. Fails with `NamesIncomplete` without a stable
   * tip.
   */
  readonly ask: <A, E>(
    question: Effect.Effect<A, E>,
    denies: (answer: A) => boolean
  ) => Effect.Effect<A, E | NamesIncomplete | StorageFailure>
  /** The state of a name at the tip. Without a record, or with an expired one, it is certainly free. */
  readonly known: (name: Bytes) => Effect.Effect<KnownName, NamesIncomplete | StorageFailure>
}

export interface AskingParts {
  /** The tip of the names, complete or not, at the cost of a read from memory. */
  readonly cursor: Effect.Effect<Cursor | undefined, StorageFailure>
  /** As in `CompleteNames`. */
  readonly settled: Effect.Effect<Cursor | undefined, StorageFailure>
}

const isSameTip = (a: Cursor | undefined, b: Cursor): boolean => a !== undefined && equal(a.hash, b.hash)

/** Makes `ask` for names that are complete at a tip. */
export const asking = ({ cursor, settled }: AskingParts): CompleteNames["ask"] => (question, denies) =>
  Effect.gen(function*() {
    const first = yield* cursor
    const answer = yield* question
    if (!denies(answer)) return answer
    const tip = yield* settled
    if (tip === undefined) return yield* new NamesIncomplete()
    if (isSameTip(first, tip)) return answer
    const again = yield* question
    if (!denies(again)) return again
    const after = yield* settled
    return after !== undefined && isSameTip(tip, after) ? again : yield* new NamesIncomplete()
  })

/** `syncing` returns whether blocks are missing; by default `SyncStatus` decides. */
export const completeNames = (
  syncing?: Effect.Effect<boolean>
): Effect.Effect<CompleteNames, never, Chain | ChainCoins | NameDb | SyncStatus | DataHealth> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const chainCoins = yield* ChainCoins
    const names = yield* NameDb
    const status = yield* SyncStatus
    const health = yield* DataHealth
    const missing = syncing ?? status.syncing

    /** The tip, if names.db is complete there. Waits while followers are about to be notified of a block. */
    const position: Effect.Effect<Cursor | undefined, StorageFailure> = Effect.gen(function*() {
      if ((yield* health.doubts).length > 0 || (yield* missing)) return undefined
      yield* chain.toldTip
      const tip = yield* chain.tip
      const at = yield* names.cursor
      return at !== undefined && equal(at.hash, tip.hash) ? at : undefined
    })

    /** The same for a denial. A stored block that is not connected yet counts as missing. */
    const settled = Effect.gen(function*() {
      const at = yield* position
      if (at !== undefined || (yield* status.initialDownload)) return at
      yield* chainCoins.atTip(() => Effect.void)
      return yield* position
    })

    const ask = asking({ cursor: names.cursor, settled })

    const known: CompleteNames["known"] = (name) => {
      const question = Effect.gen(function*() {
        const record = yield* Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))
        if (record === undefined) return { type: "unknown" } as const
        const { height } = yield* chain.tip
        return isExpired(record, height, chain.params)
          ? { type: "expired" } as const
          : { type: "active", record } as const
      })
      return ask(question, ({ type }) => type !== "active")
    }

    return { complete: Effect.map(position, (at) => at !== undefined), settled, ask, known }
  })
