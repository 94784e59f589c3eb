import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import { withLoneSpan, withoutSpan } from "../../base/spans.ts"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { Flag } from "../../consensus/flags.ts"
import type { Reject } from "../../consensus/Reject.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import type { Repair } from "../../storage/repair.ts"
import { attempt, attemptSteps, isStorageFailure } from "../attempt.ts"
import { ChainEvent } from "../ChainEvent.ts"
import type { BlocksPruned } from "../errors.ts"
import { lastUnneeded, refusePruned } from "../prune/pruneLocks.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { ChainStores } from "../state/ChainStores.ts"
import type { Connected, Settled } from "../state/Connector.ts"
import type { Follower } from "./Follower.ts"
import { advance, cursorOf, follow, type Following, type News, settle, startsBehind } from "./followers.ts"
import { recordBatch, recordDisconnected } from "./recordChain.ts"
import { type ScriptFailure, scriptReject } from "./verifyMessage.ts"
import type { VerifyPool } from "./VerifyPool.ts"

const BATCH = { blocks: 64, inputs: 4_000, bytes: 4 * 1024 * 1024 }

/** The most blocks and bytes by which followers lag during an import: larger writes are faster. */
const BACKLOG = { blocks: 256, bytes: 4 * 1024 * 1024 }

/** Seconds between flushes during a long series of batches, even if there is room in memory. */
const FLUSH_SECONDS = 60

/** Events kept for a slow listener. Beyond that it misses the oldest. */
const EVENT_BACKLOG = 4096

/** Receives the verdict on each validated block: its refusal, or `undefined` if it was connected. */
export type OnVerdict = (id: HeaderId, reject: Reject | undefined) => void

/**
 * The only writer of the best chain. It moves batch by batch to the most work, notifies the followers, then publishes
 * the events. A step is not interrupted, and each step leaves a consistent state.
 */
export interface ChainWriter {
  /** Runs work as the only writer. A failure to store also fails `failure`. */
  readonly exclusively: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs read-only work while there is no writer. A read failure does not end the node. */
  readonly undisturbed: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly stored: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  /**
   * Moves to the most work, and tells `judged` the verdicts: they are not kept, as one call may connect the whole chain.
   * Followers may be notified later of imported blocks. Needs `exclusively`.
   */
  readonly activate: (imported: boolean, judged?: OnVerdict) => Effect.Effect<void, StorageFailure>
  /** Notifies followers and listeners of all new blocks and events. Needs `exclusively`. */
  readonly catchUp: Effect.Effect<void, StorageFailure>
  /** Needs `exclusively`. */
  readonly flush: Effect.Effect<void, StorageFailure>
  /** Flushes at once at the tip, otherwise by size and time. Needs `exclusively`. */
  readonly flushAfter: (many: boolean) => Effect.Effect<void, StorageFailure>
  /** Needs `exclusively`. */
  readonly enlist: (follower: Follower) => Effect.Effect<void, BlocksPruned | StorageFailure>
  readonly dismiss: (follower: Follower) => Effect.Effect<void>
  /** Prunes blocks up to a height, or as the target demands; none that a follower needs. Needs `exclusively`. */
  readonly prune: (upTo?: Height) => Effect.Effect<void, StorageFailure>
  /** Whether the best chain has blocks that the followers are about to be notified of, without imported blocks. */
  readonly telling: () => boolean
  readonly events: PubSub.PubSub<ChainEvent>
  readonly failure: Effect.Effect<never, StorageFailure>
}

/**
 * The refusal of a block with a script that fails. Without other threads the reference node calls it a failure of the
 * mempool's rules, if one of the block's rules is not among those of `MANDATORY_SCRIPT_VERIFY_FLAGS`: that is the rule of
 * long salts. Source: upstream `validation.cpp`, `Chainstate::ConnectBlock`, `CheckInputScripts`.
 */
export const blockReject = (failure: ScriptFailure, { threads }: VerifyPool): Reject =>
  scriptReject(failure, threads === 0 && (failure.flags & Flag.NAMES_LONG_SALT) !== 0 ? "mempool" : "block")

/** The block with a number, as attributes of a span. */
const placeOf = (state: ChainState, id: HeaderId) => {
  const { hash, height } = cursorOf(state, id)
  return { hash: displayHash(hash), height }
}

const noteFlush = (state: ChainState, ms: number): Effect.Effect<void> =>
  Effect.logDebug("chain state stored", {
    height: cursorOf(state, state.tip).height,
    milliseconds: Math.round(ms * 10) / 10
  }).pipe(Effect.annotateLogs("subsystem", "storage"))

/** Logs an invalid block. Such blocks are rare, since each one needs proof of work. */
const noteRefusal = (state: ChainState, { id, reject }: NonNullable<Settled["refused"]>): Effect.Effect<void> => {
  const { hash, height } = cursorOf(state, id)
  const facts = { height, hash: displayHash(hash), reason: reject.reason, detail: reject.detail }
  return Effect.annotateLogs(Effect.logWarning("invalid block refused", facts), "subsystem", "chain")
}

const noteWait = (state: ChainState, missing: HeaderId): Effect.Effect<void> => {
  const { hash, height } = cursorOf(state, missing)
  const facts = { height, hash: displayHash(hash) }
  return Effect.annotateLogs(
    Effect.logDebug("reorg waits for a missing block of the best chain", facts),
    "subsystem",
    "chain"
  )
}

export const make = (
  state: ChainState,
  pool: VerifyPool,
  stores: Pick<ChainStores, "database">
): Effect.Effect<ChainWriter, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const events = yield* PubSub.sliding<ChainEvent>(EVENT_BACKLOG)
    const permit = yield* Effect.makeSemaphore(1)
    const failure = yield* Deferred.make<never, StorageFailure>()
    const followers: Array<Following> = []
    /** Connected blocks and events that the followers and listeners have not been notified of. */
    const untold = new Map<HeaderId, Connected>()
    let untoldBytes = 0
    const happened: Array<ChainEvent> = []
    let flushedAt = performance.now()
    let telling = false

    /** Block bytes are synced before the commit that refers to them, without blocking the event loop. */
    const syncBlocks: Effect.Effect<void, StorageFailure> = Effect.tryPromise({
      try: () => state.syncBlocks(),
      catch: (cause) => cause
    }).pipe(Effect.catchAll((cause) => isStorageFailure(cause) ? Effect.fail(cause) : Effect.die(cause)))

    /** Stores everything, then copies the log of the database if it is large. `more`: further blocks come at once. */
    const flushWith = (more: boolean) =>
      Effect.suspend(() => {
        const started = performance.now()
        const stored = attempt(() => {
          const some = state.flush(more)
          flushedAt = performance.now()
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

    const flush = flushWith(false)

    /** A store that is found damaged is rebuilt from then on. */
    const noticing = (
      following: Following,
      work: Effect.Effect<void, StorageFailure>
    ): Effect.Effect<void, StorageFailure> =>
      Effect.catchIf(
        work,
        (failure) => following.follower.repair?.concerns(failure) === true,
        () => Effect.sync(() => void (following.rebuilding = true))
      )

    const prune = (upTo?: Height): Effect.Effect<void, StorageFailure> =>
      Effect.gen(function*() {
        // A follower must not need a pruned block after a crash.
        yield* Effect.forEach(followers, (following) => noticing(following, settle(following)), { discard: true })
        const limit = lastUnneeded(state, followers)
        if (!(yield* attempt(() => state.pruning.mark({ limit, upTo })))) return
        yield* flush
        const bytes = yield* attempt(() => state.pruning.remove())
        yield* Effect.logInfo("old blocks pruned", { bytes, upTo: state.losses.prunedTo })
      }).pipe(
        Effect.uninterruptible,
        Effect.annotateLogs("subsystem", "storage"),
        Effect.withSpan("svcd.chain.prune")
      )

    const tell = (following: Following, news: News): Effect.Effect<void, StorageFailure> =>
      following.rebuilding ? Effect.void : noticing(following, follow(state, following, news))

    /** Notifies followers and listeners. `more`: the blocks of this series go on, and followers may lag. */
    const tellAll = (more: boolean): Effect.Effect<void, StorageFailure> =>
      Effect.suspend(() => {
        const started = performance.now()
        const recent = new Map(untold)
        // One event is left for the end, when no follower lags: a listener then finds all blocks everywhere.
        const news = happened.splice(0, happened.length - (more ? 1 : 0))
        untold.clear()
        untoldBytes = 0
        return Effect.forEach(followers, (following) => tell(following, { recent, more }), { discard: true }).pipe(
          Effect.ensuring(Effect.sync(() => state.spent("follow", performance.now() - started))),
          Effect.zipRight(
            PubSub.publishAll(events, news).pipe(
              Effect.withSpan("svcd.chain.publish", { attributes: { events: news.length } })
            )
          ),
          Effect.withSpan("svcd.chain.follow", { attributes: { blocks: recent.size } }),
          Effect.asVoid
        )
      })

    const catchUp = tellAll(false)

    /** Connects one batch towards `target`: rules on this thread, scripts on all threads. */
    const connectBatch = (target: HeaderId): Effect.Effect<Settled, StorageFailure> =>
      Effect.gen(function*() {
        const batch = pool.begin()
        const begun = performance.now()
        const prepared = yield* attemptSteps(() => state.prepare(target, BATCH, batch.add))
        const started = performance.now()
        // If a worker thread ended, it is unknown which scripts are valid.
        const failed = yield* Effect.onError(batch.finish, () => Effect.sync(() => state.takeBack(prepared))).pipe(
          Effect.withSpan("svcd.chain.verify")
        )
        state.spent("scripts", performance.now() - started)
        const verdict = failed === undefined ? undefined : { block: failed.block, reject: blockReject(failed, pool) }
        const settled = yield* attempt(() => state.settle(prepared, verdict))
        recordBatch(settled, performance.now() - begun)
        yield* Effect.annotateCurrentSpan("blocks", settled.connected.length)
        return settled
      }).pipe(Effect.uninterruptible, Effect.withSpan("svcd.chain.connect", { attributes: placeOf(state, target) }))

    const nextStep = attempt(() => state.nextStep())

    /** Disconnects the last block. Does nothing if it is damaged: it counts as missing from then on. */
    const disconnect: Effect.Effect<ReadonlyArray<ChainEvent>, StorageFailure> = Effect.suspend(() => {
      const { tip } = state
      const block = cursorOf(state, tip)
      return attempt(() => {
        try {
          state.disconnectTip()
        } catch (cause) {
          if (cause instanceof StorageCorrupted && !state.hasBlock(tip)) return []
          throw cause
        }
        recordDisconnected()
        return [ChainEvent.BlockDisconnected({ block })]
      }).pipe(Effect.withSpan("svcd.chain.disconnect", { attributes: placeOf(state, tip) }))
    })

    const connectedEvent = ({ block, id }: Connected, imported: boolean): ChainEvent =>
      ChainEvent.BlockConnected({
        block: cursorOf(state, id),
        transactions: block.transactions.length,
        imported
      })

    const activate: ChainWriter["activate"] = (imported, judged) =>
      Effect.gen(function*() {
        for (let step = yield* nextStep; step.type !== "none"; step = yield* nextStep) {
          telling = !imported
          if (step.type === "wait") {
            yield* noteWait(state, step.missing)
            break
          }
          if (step.type === "disconnect") happened.push(...yield* disconnect)
          else {
            const { connected, refused } = yield* connectBatch(step.target)
            for (const one of connected) {
              judged?.(one.id, undefined)
              untold.set(one.id, one)
              untoldBytes += one.block.size
              happened.push(connectedEvent(one, imported))
            }
            if (refused !== undefined) {
              judged?.(refused.id, refused.reject)
              yield* noteRefusal(state, refused)
            }
          }
          // A long way is stored and published in pieces, so that memory stays bounded.
          if (state.flushDue) yield* flush
          if (untold.size >= BACKLOG.blocks || untoldBytes >= BACKLOG.bytes) {
            yield* Effect.zipRight(turnOfEventLoop, tellAll(true))
          }
          if (state.pruning.due) yield* prune()
          yield* turnOfEventLoop
        }
        // At the tip, followers and listeners are notified only of stored blocks: a crash cannot roll them back.
        if (!imported) yield* flush.pipe(Effect.zipRight(turnOfEventLoop), Effect.zipRight(catchUp))
      }).pipe(Effect.ensuring(Effect.sync(() => void (telling = false))))

    const fatal = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.tapError(work, (error) => isStorageFailure(error) ? Deferred.fail(failure, error) : Effect.void)

    const undisturbed = permit.withPermits(1)

    const exclusively: ChainWriter["exclusively"] = (work) => fatal(undisturbed(work))

    /** Brings a follower that is not notified of new blocks to the tip, between these. */
    const catchUpAlone = (following: Following): Effect.Effect<void, StorageFailure> => {
      /** Whether the store is at the tip. Set in the same step as the last blocks: no block comes in between. */
      const onward = Effect.gen(function*() {
        if (yield* advance(state, following)) return false
        following.rebuilding = false
        if (following.follower.arrived !== undefined) yield* following.follower.arrived
        return true
      }).pipe(
        // The repair of a store that is found damaged on its first way begins again.
        Effect.catchIf(
          (failure) => following.cursor !== undefined && following.follower.repair?.concerns(failure) === true,
          () => Effect.succeed(true)
        )
      )
      return Effect.asVoid(Effect.repeat(
        Effect.zipLeft(exclusively(onward), turnOfEventLoop),
        { until: (arrived) => arrived }
      ))
    }

    /** Rebuilds the store of a follower each time it is found damaged, between new blocks. */
    const repairing = (following: Following, repair: Repair): Effect.Effect<void, StorageFailure> => {
      const begin = Effect.suspend(() => {
        following.rebuilding = true
        following.cursor = undefined
        return Effect.uninterruptible(repair.begin)
      })
      const rebuild = exclusively(begin).pipe(
        Effect.zipRight(catchUpAlone(following)),
        Effect.zipRight(repair.done),
        withLoneSpan("svcd.chain.rebuild")
      )
      return Effect.zipRight(repair.wanted, rebuild).pipe(
        Effect.forever,
        withoutSpan,
        Effect.annotateLogs("subsystem", "storage")
      )
    }

    /** The first way to the tip of a follower that is far behind, then its repairs. */
    const followAlone = (following: Following): Effect.Effect<void, StorageFailure> => {
      const { name, repair } = following.follower
      const log = (what: string) => Effect.suspend(() => Effect.logInfo(what, { height: following.cursor?.height }))
      const first = log(`${name} catches up in the background`).pipe(
        Effect.zipRight(catchUpAlone(following)),
        Effect.zipRight(log(`${name} has caught up`)),
        withoutSpan
      )
      return repair === undefined ? first : Effect.zipRight(first, repairing(following, repair))
    }

    return {
      exclusively,
      undisturbed,
      stored: (work) => undisturbed(Effect.zipRight(fatal(flush), work)),
      activate,
      catchUp,
      flush,
      prune,
      flushAfter: (many) =>
        Effect.suspend(() =>
          !many || state.flushDue || performance.now() - flushedAt > 1000 * FLUSH_SECONDS
            ? flushWith(many)
            : Effect.void
        ),
      enlist: (follower) =>
        Effect.gen(function*() {
          const following: Following = { follower, cursor: yield* follower.cursor, rebuilding: false }
          yield* refusePruned(state, following)
          const isBehind = startsBehind(state, following)
          following.rebuilding = isBehind
          if (!isBehind) yield* tell(following, { recent: untold, more: false })
          const before = follower.last === true ? -1 : followers.findIndex(({ follower: { last } }) => last === true)
          followers.splice(before < 0 ? followers.length : before, 0, following)
          if (isBehind) yield* Effect.forkIn(followAlone(following), scope)
          else if (follower.repair !== undefined) yield* Effect.forkIn(repairing(following, follower.repair), scope)
        }),
      dismiss: (follower) =>
        Effect.sync(() => {
          const at = followers.findIndex((following) => following.follower === follower)
          if (at >= 0) followers.splice(at, 1)
        }),
      telling: () => telling,
      events,
      failure: Deferred.await(failure)
    }
  })
