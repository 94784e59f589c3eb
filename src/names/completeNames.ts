import * as Effect from "effect/Effect"
import { Chain } from "../chain/Chain.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { isExpired } from "../consensus/expiry.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { NamesIncomplete } from "./errors.ts"
import { NameDb, type NameRecord } from "./NameDb.ts"

/** What is known of a name at the tip. */
export type KnownName =
  | { readonly type: "active"; readonly record: NameRecord }
  | { readonly type: "expired" }
  | { readonly type: "unknown" }

/**
 * The one place that decides whether a node may deny a name: that it never existed, or is expired. It may where names.db
 * holds the names of the tip, no known block is missing, and nothing on disk is in doubt.
 */
export interface CompleteNames {
  /** Whether a name that is not found does not exist. */
  readonly complete: Effect.Effect<boolean, StorageFailure>
  /**
   * Asks a question about names. An answer that denies a name is asked for again between two looks at the same tip, since
   * names may be half way through a reorganisation at first; without such a tip the question fails.
   */
  readonly ask: <A, E>(
    question: Effect.Effect<A, E>,
    denies: (answer: A) => boolean
  ) => Effect.Effect<A, E | NamesIncomplete | StorageFailure>
  /** What a name is at the tip: one of no record, or an expired one, is known to be free. */
  readonly known: (name: Bytes) => Effect.Effect<KnownName, NamesIncomplete | StorageFailure>
}

/** `syncing` tells whether blocks are missing, where it is not for `SyncStatus` to tell. */
export const completeNames = (
  syncing?: Effect.Effect<boolean>
): Effect.Effect<CompleteNames, never, Chain | NameDb | SyncStatus | DataHealth> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const status = yield* SyncStatus
    const health = yield* DataHealth
    const missing = syncing ?? status.syncing

    /** The tip, where names are complete there. A block that the followers are about to hear of is waited for. */
    const position: Effect.Effect<Cursor | undefined, StorageFailure> = Effect.gen(function*() {
      if ((yield* health.doubts).length > 0 || (yield* missing)) return undefined
      const tip = yield* chain.toldTip
      const at = yield* names.cursor
      return at !== undefined && equal(at.hash, tip.hash) ? at : undefined
    })

    /** The same for a denial. A block that was stored a moment ago counts as missing until it is connected. */
    const settled = Effect.gen(function*() {
      const at = yield* position
      if (at !== undefined || (yield* status.initialDownload)) return at
      yield* chain.atTip(() => Effect.void)
      return yield* position
    })

    const ask: CompleteNames["ask"] = (question, denies) =>
      Effect.gen(function*() {
        const answer = yield* question
        if (!denies(answer)) return answer
        const before = yield* settled
        if (before === undefined) return yield* new NamesIncomplete()
        const again = yield* question
        if (!denies(again)) return again
        const after = yield* settled
        return after !== undefined && equal(before.hash, after.hash) ? again : yield* new NamesIncomplete()
      })

    const known: CompleteNames["known"] = (name) => {
      const question = Effect.gen(function*() {
        const record = yield* Effect.catchTag(names.resolve(name), "NameNotFound", () => Effect.succeed(undefined))
        if (record === undefined) return { type: "unknown" } as const
        const { height } = yield* chain.tip
        return isExpired(record.height, height, chain.params)
          ? { type: "expired" } as const
          : { type: "active", record } as const
      })
      return ask(question, ({ type }) => type !== "active")
    }

    return { complete: Effect.map(position, (at) => at !== undefined), ask, known }
  })
