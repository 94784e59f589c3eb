import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import { monotonic } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { Reject } from "../../consensus/Reject.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attempt, isStorageFailure } from "../attempt.ts"
import type { ChainEvent } from "../ChainEvent.ts"
import type { BlocksPruned } from "../errors.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { ChainStores } from "../state/ChainStores.ts"
import { connectBatch, connectedEvent, disconnect, noteRefusal, noteWait } from "./chainSteps.ts"
import { makeFlushing } from "./flushing.ts"
import type { Follower } from "./Follower.ts"
import { FollowerList } from "./FollowerList.ts"
import { Untold } from "./Untold.ts"
import type { VerifyPool } from "./VerifyPool.ts"

/** Events kept for a slow listener, which misses older ones. */
const EVENT_BACKLOG = 4096

/** Receives the verdict on each validated block: its refusal, or `undefined` if it was connected. */
export type OnVerdict = (id: HeaderId, reject: Reject | undefined) => void

/** What only the writer of the chain may do, within `exclusively`. */
export interface HeldWriter {
  /**
   * Moves to the most work and reports the verdicts to `judged` without keeping them, as one call may connect the whole
   * chain. Followers may be notified of imported blocks later.
   */
  readonly activate: (imported: boolean, judged?: OnVerdict) => Effect.Effect<void, StorageFailure>
  /** Notifies followers and listeners of all new blocks and events. */
  readonly catchUp: Effect.Effect<void, StorageFailure>
  readonly flush: Effect.Effect<void, StorageFailure>
  /** Flushes at once at the tip, otherwise by size and time. */
  readonly flushAfter: (many: boolean) => Effect.Effect<void, StorageFailure>
  readonly enlist: (follower: Follower) => Effect.Effect<void, BlocksPruned | StorageFailure>
  readonly dismiss: (follower: Follower) => Effect.Effect<void>
  /** Prunes blocks up to a height or as the target demands, but none that a follower needs. */
  readonly prune: (upTo?: Height) => Effect.Effect<void, StorageFailure>
}

/**
 * The only writer of the best chain. It moves batch by batch to the most work, notifies the followers, then publishes
 * the events. Steps are uninterrupted and leave a consistent state.
 */
export interface ChainWriter {
  /** Runs work as the only writer. A failure to store also fails `failure`. */
  readonly exclusively: <A, E>(work: (held: HeldWriter) => Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs read-only work while there is no writer. A read failure does not end the node. */
  readonly undisturbed: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Does the same once followers know the tip, which may store blocks first. Without it, no work. */
  readonly followed: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  readonly stored: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  /** Whether followers are about to be notified, and will not lag then. */
  readonly telling: () => boolean
  /** The last tip of which all followers were notified; `undefined` before the first one. */
  readonly told: () => HeaderId | undefined
  readonly events: PubSub.PubSub<ChainEvent>
  readonly failure: Effect.Effect<never, StorageFailure>
}

export const make = (
  state: ChainState,
  pool: VerifyPool,
  stores: Pick<ChainStores, "database">
): Effect.Effect<ChainWriter, never, Scope.Scope> =>
  Effect.gen(function*() {
    const events = yield* PubSub.sliding<ChainEvent>(EVENT_BACKLOG)
    const permit = yield* Effect.makeSemaphore(1)
    const failure = yield* Deferred.make<never, StorageFailure>()
    const untold = new Untold()
    let telling = false
    let told: HeaderId | undefined

    const fatal = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.tapError(work, (error) => isStorageFailure(error) ? Deferred.fail(failure, error) : Effect.void)

    const undisturbed = permit.withPermits(1)

    const inTurn = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> => fatal(undisturbed(work))

    const { flush, flushAfter } = makeFlushing(state, stores)
    const followers = new FollowerList({ state, flush, inTurn }, yield* Effect.scope)

    const prune = (upTo?: Height): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        // After a crash, no follower may need a pruned block.
        yield* followers.settle
        const limit = followers.lastUnneeded()
        if (!(yield* attempt(() => state.pruning.mark({ limit, upTo })))) return
        yield* flush
        const bytes = yield* attempt(() => state.pruning.remove())
        yield* Effect.logInfo("old blocks pruned", { bytes, upTo: state.losses.prunedTo })
      }).pipe(
        Effect.uninterruptible,
        Effect.annotateLogs("subsystem", "storage"),
        Effect.withSpan("svcd.chain.prune")
      )

    /** Notifies followers and listeners. With `more`, the series of blocks continues and followers may lag. */
    const tellAll = (more: boolean): Effect.Effect<void, StorageFailure> =>
      Effect.suspend(() => {
        const started = monotonic()
        const blocks = untold.blocks.size
        return followers.tell({ recent: untold.blocks, more }).pipe(
          Effect.ensuring(Effect.sync(() => state.spent("follow", monotonic() - started))),
          // After a failure or an interruption, the next call tells the same blocks again.
          Effect.map(() => {
            told = state.active.settledTip
            return untold.take(more)
          }),
          Effect.flatMap((news) =>
            PubSub.publishAll(events, news).pipe(
              Effect.withSpan("svcd.chain.publish", { attributes: { events: news.length } })
            )
          ),
          Effect.withSpan("svcd.chain.follow", { attributes: { blocks } }),
          Effect.asVoid
        )
      })

    const whileTelling = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.sync(() => void (telling = true)).pipe(
        Effect.zipRight(work),
        Effect.ensuring(Effect.sync(() => void (telling = false)))
      )

    const catchUp = whileTelling(tellAll(false))

    /** Followers and listeners only learn of stored blocks, which a crash cannot roll back. */
    const tellStored = whileTelling(flush.pipe(Effect.zipRight(turnOfEventLoop), Effect.zipRight(tellAll(false))))

    const followed: ChainWriter["followed"] = (work) =>
      undisturbed(
        Effect.suspend(() => untold.isEmpty ? Effect.void : Effect.uninterruptible(fatal(tellStored))).pipe(
          Effect.zipRight(work)
        )
      )

    const nextStep = attempt(() => state.forks.nextStep())

    const activate: HeldWriter["activate"] = (imported, judged) =>
      Effect.gen(function*() {
        for (let step = yield* nextStep; step.type !== "none"; step = yield* nextStep) {
          telling = !imported
          if (step.type === "wait") {
            yield* noteWait(state, step.missing)
            break
          }
          if (step.type === "disconnect") untold.happened(yield* disconnect(state))
          else {
            const { connected, refused } = yield* connectBatch(state, pool, step.target)
            for (const one of connected) {
              judged?.(one.id, undefined)
              untold.connected(one, connectedEvent(state, one, imported))
            }
            if (refused !== undefined) {
              judged?.(refused.id, refused.reject)
              yield* noteRefusal(state, refused)
            }
          }
          // A long way is stored and published in pieces, to bound memory.
          if (state.flushDue) yield* flush
          if (untold.isLong) yield* Effect.zipRight(turnOfEventLoop, tellAll(true))
          if (state.pruning.due) yield* prune()
          yield* turnOfEventLoop
        }
        if (!imported) yield* tellStored
      }).pipe(Effect.ensuring(Effect.sync(() => void (telling = false))))

    const held: HeldWriter = {
      activate,
      catchUp,
      flush,
      flushAfter,
      prune,
      enlist: (follower) => followers.enlist(follower, untold.blocks),
      dismiss: (follower) => followers.dismiss(follower)
    }

    return {
      exclusively: (work) => inTurn(Effect.suspend(() => work(held))),
      undisturbed,
      followed,
      stored: (work) => undisturbed(Effect.zipRight(fatal(flush), work)),
      telling: () => telling,
      told: () => told,
      events,
      failure: Deferred.await(failure)
    }
  })
