import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { monotonic } from "../../base/clock.ts"
import { withLoneSpan, withoutSpan } from "../../base/spans.ts"
import { Threads } from "../../base/threads.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import type { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attempt } from "../attempt.ts"
import type { ChainParts } from "../ChainParts.ts"
import { GENESIS } from "../index/BlockIndex.ts"
import type { BegunWith } from "../snapshot/snapshotState.ts"
import { backgroundDirectory, removeBackground } from "../snapshot/snapshotState.ts"
import { BackgroundThread } from "./BackgroundThread.ts"
import { backgroundFile, type Beginning, continuesAt, prepareBackground } from "./beginBackground.ts"
import { connectBelow, flushBelow, type Running } from "./connectBelow.ts"
import { judgeSnapshot } from "./judgeSnapshot.ts"

export interface BackgroundValidationOptions {
  readonly chainstateDirectory: string
  readonly pageSize: number
  readonly cacheBytes: number
}

/** Validates the blocks up to the base of a snapshot, from genesis, while the node answers from the snapshot. */
export interface BackgroundValidation {
  /** Begins if the chain state began with an unvalidated snapshot. */
  readonly begin: Effect.Effect<void>
  /** The last validated block (genesis until the files are open); `undefined` if there is nothing to validate. */
  readonly tip: Effect.Effect<HeaderId | undefined>
}

/** The node ends when the background database has been damaged this often in one run. */
const MOST_DAMAGES = 3

const TIMES_A_TURN = 50_000

/** The times of the headers up to the base, by height, in shared memory. */
const timesUpTo = ({ state }: ChainParts, { height, id }: BegunWith): Effect.Effect<Uint32Array> =>
  Effect.gen(function*() {
    const { index } = state
    const times = new Uint32Array(new SharedArrayBuffer(4 * (height + 1)))
    let walk: HeaderId = id
    for (let at = height; at >= 0; at--) {
      times[at] = index.time(walk)
      walk = index.parent(walk)
      if (at % TIMES_A_TURN === 0) yield* turnOfEventLoop
    }
    return times
  })

export const make = (
  parts: ChainParts,
  options: BackgroundValidationOptions
): Effect.Effect<BackgroundValidation, never, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { state, writer } = parts
    const { cacheBytes, chainstateDirectory: own, pageSize } = options
    const wanted = yield* Queue.sliding<void>(1)
    const changes = yield* Queue.sliding<void>(1)
    let reached: HeaderId | undefined
    yield* Effect.acquireRelease(
      Effect.sync(() => state.losses.listen(() => void changes.unsafeOffer(undefined))),
      (end) => Effect.sync(end)
    )

    const opened = (base: BegunWith, times: Uint32Array) =>
      Effect.gen(function*() {
        const thread = yield* Effect.acquireRelease(
          Effect.map(Threads, (launchOf) => new BackgroundThread(backgroundFile(own), launchOf)),
          (thread) => thread.end
        )
        const directory = backgroundDirectory(own)
        const { tip } = yield* Effect.uninterruptible(thread.ask({
          type: "open",
          options: { directory, pageSize, cacheBytes, params: state.params, times }
        }))
        return { thread, at: continuesAt(state.index, { base: base.id, tip }) }
      })

    /** Connects the blocks up to the base in one thread, then compares. */
    const validate = (base: BegunWith, from: Beginning): Effect.Effect<boolean, StorageFailure, DataHealth> =>
      Effect.scoped(Effect.gen(function*() {
        yield* prepareBackground(own, from)
        const { at, thread } = yield* opened(base, yield* timesUpTo(parts, base))
        if (at === undefined) return false
        const running: Running = { thread, base, at, flushedAt: monotonic() }
        reached = at
        yield* Effect.logInfo("validating the blocks below the snapshot in the background", {
          height: state.index.height(at),
          of: base.height
        })
        const flushed = Effect.catchAll(
          flushBelow(parts, running),
          (failure) => Effect.logError("validated blocks could not be saved at shutdown", { reason: failure.message })
        )
        const refused = yield* connectBelow(parts, running, {
          changed: Queue.take(changes),
          moved: (id) => void (reached = id)
        }).pipe(Effect.onInterrupt(() => flushed))
        yield* judgeSnapshot(parts, running, { own, refused })
        return true
      })).pipe(Effect.ensuring(Effect.sync(() => void (reached = undefined))))

    /** Restarts at genesis if the files of an earlier run do not match the index. */
    const once = (base: BegunWith): Effect.Effect<void, StorageFailure, DataHealth> =>
      Effect.gen(function*() {
        if (yield* validate(base, "own")) return
        yield* Effect.logWarning("validation of the blocks below the snapshot restarts at genesis")
        yield* attempt(() => removeBackground(own))
        yield* validate(base, "genesis")
      })

    const run = Effect.gen(function*() {
      const base = state.snapshot
      if (base === undefined) return
      let damages = 0
      yield* Effect.retry(once(base), {
        while: (failure) =>
          failure._tag === "StorageCorrupted" && failure.file === backgroundFile(own) && ++damages < MOST_DAMAGES
      })
    }).pipe(
      // Ends the node, as for any chain state that cannot be stored.
      Effect.catchAll((failure) => Effect.ignore(writer.exclusively(() => Effect.fail(failure)))),
      withLoneSpan("svcd.chain.background")
    )

    yield* Effect.zipRight(Queue.take(wanted), run).pipe(
      Effect.forever,
      withoutSpan,
      Effect.annotateLogs("subsystem", "chain"),
      Effect.forkScoped
    )
    return {
      begin: Effect.asVoid(Queue.offer(wanted, undefined)),
      tip: Effect.sync(() => state.snapshot === undefined ? undefined : reached ?? GENESIS)
    }
  })
