import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { monotonic } from "../../base/clock.ts"
import { Threads } from "../../base/threads.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import type { SettledBlocks, ToSetThread } from "./setChanges.ts"
import { SetThread } from "./SetThread.ts"

/**
 * Batches that a thread settles while the chain continues, each stored in its turn. After a failure nothing more is
 * stored, and everything but `abandoned` fails.
 */
export interface Aside {
  /** Hands a batch over. Waits only if too many are pending. */
  readonly settle: (
    batch: ToSetThread,
    store: (settled: SettledBlocks) => Effect.Effect<void, StorageFailure>
  ) => Effect.Effect<void, StorageFailure>
  readonly pending: () => number
  /** Waits until all batches are stored. */
  readonly drained: Effect.Effect<void, StorageFailure>
  /** Ends the thread if it has been idle for a while. The next batch starts it again. */
  readonly rested: Effect.Effect<void, StorageFailure>
  /** Waits for the batches and forgets a failure, to let the store start over. */
  readonly abandoned: Effect.Effect<void>
}

/** Batches that may wait for the thread: some ten megabytes. */
const MOST_PENDING = 4

/** Idle milliseconds after which the thread ends. */
const REST_MS = 10_000

/** `file` is the index, for errors. */
export const makeAside = (file: string): Effect.Effect<Aside, never, Scope.Scope> =>
  Effect.gen(function*() {
    const run = Runtime.runPromiseExit(yield* Effect.runtime())
    const thread = new SetThread(yield* Threads)
    const turns: Array<Promise<void>> = []
    let failure: Cause.Cause<StorageFailure> | undefined
    let usedAt = 0

    const allTurns = Effect.promise(() => Promise.all(turns))

    // Ending the thread rejects what it has not answered. Nothing is written afterwards.
    yield* Effect.addFinalizer(() => Effect.zipRight(Effect.promise(() => thread.end()), allTurns))

    const checked = Effect.suspend(() => failure === undefined ? Effect.void : Effect.failCause(failure))

    const take = async (
      before: Promise<void> | undefined,
      stored: Effect.Effect<void, StorageFailure>
    ): Promise<void> => {
      await before
      const exit = await run(Effect.suspend(() => failure === undefined ? stored : Effect.void))
      if (Exit.isFailure(exit)) failure ??= exit.cause
      turns.shift()
    }

    return {
      settle: (batch, store) =>
        Effect.gen(function*() {
          while (turns.length >= MOST_PENDING) yield* Effect.promise(() => turns[0] ?? Promise.resolve())
          yield* checked
          usedAt = monotonic()
          const answer = thread.settle(batch)
          answer.catch(() => undefined)
          const settled = Effect.tryPromise({
            try: () => answer,
            catch: (cause) => new StorageUnavailable({ file, doing: "computing", reason: String(cause) })
          })
          turns.push(take(turns.at(-1), Effect.flatMap(settled, store)))
        }),
      pending: () => turns.length,
      drained: Effect.zipRight(Effect.suspend(() => turns.length === 0 ? Effect.void : allTurns), checked),
      rested: Effect.suspend(() =>
        thread.isRunning && turns.length === 0 && monotonic() - usedAt > REST_MS
          ? Effect.promise(() => thread.end())
          : Effect.void
      ).pipe(Effect.zipRight(checked)),
      abandoned: Effect.zipRight(allTurns, Effect.sync(() => void (failure = undefined)))
    }
  })
