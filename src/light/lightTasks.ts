import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { turnOfEventLoop } from "../base/turns.ts"
import { attempt } from "../chain/attempt.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { LightChain } from "./LightChain.ts"
import type { SignatureQueue } from "./SignatureQueue.ts"

/** Time between looks for signatures to check. */
const PAUSE = "500 millis"

/**
 * While the window is filled, one transaction stores this many bytes of blocks, or those of this time, because each
 * rewrites much of the index of names. The first blocks are stored at once, so that recent changes have an answer.
 */
export const FILL = { bytes: 4 * 1024 * 1024, pause: "500 millis" } as const

export interface LightTasks {
  readonly chain: LightChain
  readonly params: ConsensusParams
  readonly queue: SignatureQueue
  readonly settle: Effect.Effect<void, StorageFailure>
  readonly failed: Deferred.Deferred<never, StorageFailure>
}

/** Starts the tasks of a light node: checking signatures, storing waiting blocks, writing headers. */
export const startTasks = (
  { chain, failed, params, queue, settle }: LightTasks
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { headers, index } = chain

    /** Runs work for the life of the node. Its end, even by a defect, ends the node. */
    const always = (work: Effect.Effect<unknown, StorageFailure>) =>
      Effect.forkScoped(Effect.catchAllCause(work, (cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.zipRight(
            Effect.logError("a task of the light node failed", cause),
            Deferred.failCause(failed, cause)
          )))

    yield* always(Effect.forever(
      Effect.flatMap(queue.verifySome, (some) => some ? turnOfEventLoop : Effect.sleep(PAUSE))
    ))
    let isTold = false
    /** Logs once why a filled window does not answer that a name is missing. */
    const tellShort = Effect.suspend(() => {
      const root = index.height(headers.root)
      if (isTold || chain.isComplete || !chain.isFilled || chain.range.low !== root + 1) return Effect.void
      isTold = true
      const missing = root + expirationDepth(chain.height, params) - chain.height
      return Effect.logWarning(
        "the anchor is too close to the tip: the absence of names is known only after more blocks",
        {
          anchor: root,
          missing
        }
      )
    })
    // Stores waiting blocks while others do not arrive.
    yield* always(Effect.repeat(
      Effect.zipRight(Effect.suspend(() => chain.waiting.bytes === 0 ? Effect.void : settle), tellShort),
      Schedule.spaced(FILL.pause)
    ))
    let flushed = index.count
    const flush = Effect.suspend(() => {
      if (flushed === index.count) return Effect.void
      flushed = index.count
      return attempt(() => chain.flush())
    })
    yield* always(Effect.repeat(flush, Schedule.spaced("2 seconds")))
    yield* Effect.addFinalizer(() => Effect.ignore(flush))
  })
