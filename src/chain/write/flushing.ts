import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attempt, isStorageFailure } from "../attempt.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { ChainStores } from "../state/ChainStores.ts"
import { cursorOf } from "./followers.ts"

/** Seconds between flushes in a long series of batches, even with memory left. */
const FLUSH_SECONDS = 60

const noteFlush = (state: ChainState, ms: number): Effect.Effect<void> =>
  Effect.logDebug("chain state stored", {
    height: cursorOf(state, state.active.tip).height,
    milliseconds: Math.round(ms * 10) / 10
  }).pipe(Effect.annotateLogs("subsystem", "storage"))

export interface Flushing {
  readonly flush: Effect.Effect<void, StorageFailure>
  /** Flushes at once at the tip, otherwise by size and time. */
  readonly flushAfter: (many: boolean) => Effect.Effect<void, StorageFailure>
}

export const makeFlushing = (state: ChainState, stores: Pick<ChainStores, "database">): Flushing => {
  let flushedAt = monotonic()

  /** Block bytes are synced before the commit that refers to them, without blocking the event loop. */
  const syncBlocks: Effect.Effect<void, StorageFailure> = Effect.tryPromise({
    try: () => state.syncBlocks(),
    catch: (cause) => cause
  }).pipe(Effect.catchAll((cause) => isStorageFailure(cause) ? Effect.fail(cause) : Effect.die(cause)))

  /** Stores everything, then copies a large database log. With `more`, further blocks follow at once. */
  const flushWith = (more: boolean) =>
    Effect.suspend(() => {
      const started = monotonic()
      const stored = attempt(() => {
        const some = state.flush(more)
        flushedAt = monotonic()
        return some
      })
      return syncBlocks.pipe(
        Effect.zipRight(stored),
        Effect.zipLeft(Effect.suspend(() => stores.database.committedAside())),
        Effect.uninterruptible,
        Effect.tap((some) => Effect.annotateCurrentSpan("stored", some)),
        Effect.flatMap((some) => some ? noteFlush(state, flushedAt - started) : Effect.void)
      )
    }).pipe(Effect.withSpan("svcd.chain.commit"))

  return {
    flush: flushWith(false),
    flushAfter: (many) =>
      Effect.suspend(() =>
        !many || state.flushDue || monotonic() - flushedAt > 1000 * FLUSH_SECONDS ? flushWith(many) : Effect.void
      )
  }
}
