import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { type Reject, reject } from "../../consensus/Reject.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import type { Repair } from "../../storage/repair.ts"
import { attempt, isStorageFailure } from "../attempt.ts"
import { ChainEvent } from "../ChainEvent.ts"
import { Status } from "../index/BlockIndex.ts"
import type { ChainState, Connected, Settled } from "../state/ChainState.ts"
import type { Follower } from "./Follower.ts"
import { advance, cursorOf, follow, type Following } from "./followers.ts"
import { recordBatch, recordDisconnected } from "./recordChain.ts"
import type { ScriptFailure } from "./verifyMessage.ts"
import type { VerifyPool } from "./VerifyPool.ts"

/** Blocks, inputs and bytes connected as one batch while many are waiting. */
const BATCH = { blocks: 64, inputs: 4_000, bytes: 4 * 1024 * 1024 }

/** Blocks and bytes that followers are behind by at most while blocks come from files: they write many at once. */
const BACKLOG = { blocks: 256, bytes: 4 * 1024 * 1024 }

/** Seconds after which a long series of batches is stored even if there is room in memory. */
const FLUSH_SECONDS = 60

/** Events that a slow listener may be behind by; it then misses the oldest. */
const EVENT_BACKLOG = 4096

/** The verdict on each block that was judged, by number: its refusal, or `undefined` where it was connected. */
export type BatchVerdicts = ReadonlyMap<number, Reject | undefined>

/**
 * The one hand that moves the best chain: batch by batch to the most work, then the followers, then the events. A step
 * is not interrupted; between two steps anything may be, for each leaves a sound state behind.
 */
export interface ChainWriter {
  /** Runs work while nobody else writes. A failure to store also fails `failure`. */
  readonly exclusively: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Runs work that only reads while nobody writes: what it cannot read is an answer, and no reason to end. */
  readonly undisturbed: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** As `undisturbed`, with everything stored before. */
  readonly stored: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E | StorageFailure>
  /** Moves to the chain with the most work. Followers may hear later of imported blocks. To be run exclusively. */
  readonly activate: (imported: boolean) => Effect.Effect<BatchVerdicts, StorageFailure>
  /** Tells the followers and listeners what they have not heard of yet. To be run exclusively. */
  readonly catchUp: Effect.Effect<void, StorageFailure>
  /** Stores everything. To be run exclusively. */
  readonly flush: Effect.Effect<void, StorageFailure>
  /** Stores at once at the tip; while many blocks come in, by size and age. To be run exclusively. */
  readonly flushAfter: (many: boolean) => Effect.Effect<void, StorageFailure>
  /** Brings a follower to the tip and keeps it there. To be run exclusively. */
  readonly enlist: (follower: Follower) => Effect.Effect<void, StorageFailure>
  /** Takes a follower off the list. To be run exclusively. */
  readonly dismiss: (follower: Follower) => Effect.Effect<void>
  /** Whether blocks are in the best chain that the followers are about to hear of, blocks of an import left out. */
  readonly telling: () => boolean
  readonly events: PubSub.PubSub<ChainEvent>
  readonly failure: Effect.Effect<never, StorageFailure>
}

/** The refusal of a block with this script in it. */
export const scriptReject = ({ error, input, txid }: ScriptFailure): Reject =>
  reject(`block-script-verify-flag-failed (${error})`, `input ${input} of ${displayHash(txid)}`)

/** Tells the log that everything was stored, and how long it took. */
const noteFlush = (state: ChainState, ms: number): Effect.Effect<void> =>
  Effect.logDebug("chain state stored", {
    height: cursorOf(state, state.tip).height,
    milliseconds: Math.round(ms * 10) / 10
  }).pipe(Effect.annotateLogs("subsystem", "storage"))

/** Tells the log of a block that breaks the rules. Somebody paid for its proof of work, so there are few. */
const noteRefusal = (state: ChainState, { id, reject }: NonNullable<Settled["refused"]>): Effect.Effect<void> => {
  const { hash, height } = cursorOf(state, id)
  const facts = { height, hash: displayHash(hash), reason: reject.reason, detail: reject.detail }
  return Effect.annotateLogs(Effect.logWarning("invalid block refused", facts), "subsystem", "chain")
}

/** Tells the log, at each try, that a reorganisation waits for it. */
const noteWait = (state: ChainState, missing: number): Effect.Effect<void> => {
  const { hash, height } = cursorOf(state, missing)
  const facts = { height, hash: displayHash(hash) }
  return Effect.annotateLogs(
    Effect.logDebug("reorg waits for a missing block of the best chain", facts),
    "subsystem",
    "chain"
  )
}

export const make = (state: ChainState, pool: VerifyPool): Effect.Effect<ChainWriter, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const events = yield* PubSub.sliding<ChainEvent>(EVENT_BACKLOG)
    const permit = yield* Effect.makeSemaphore(1)
    const failure = yield* Deferred.make<never, StorageFailure>()
    const followers: Array<Following> = []
    /** Connected blocks that the followers have not heard of, and what happened in all. */
    const untold = new Map<number, Connected>()
    let untoldBytes = 0
    let happened: Array<ChainEvent> = []
    let flushedAt = performance.now()
    let telling = false

    /** Block bytes come before what refers to them; nobody has to wait while the disk takes them. */
    const syncBlocks: Effect.Effect<void, StorageFailure> = Effect.tryPromise({
      try: () => state.files.syncAside(),
      catch: (cause) => cause
    }).pipe(Effect.catchAll((cause) => isStorageFailure(cause) ? Effect.fail(cause) : Effect.die(cause)))

    const flush = Effect.suspend(() => {
      const started = performance.now()
      const stored = attempt(() => {
        const some = state.flush()
        flushedAt = performance.now()
        return some
      })
      return syncBlocks.pipe(
        Effect.zipRight(stored),
        Effect.uninterruptible,
        Effect.flatMap((some) => some ? noteFlush(state, flushedAt - started) : Effect.void)
      )
    })

    const tell = (
      following: Following,
      recent: ReadonlyMap<number, Connected>
    ): Effect.Effect<void, StorageFailure> =>
      following.rebuilding ? Effect.void : Effect.catchIf(
        follow(state, following, recent),
        (failure) => following.follower.repair?.concerns(failure) === true,
        () => Effect.sync(() => void (following.rebuilding = true))
      )

    const catchUp: Effect.Effect<void, StorageFailure> = Effect.suspend(() => {
      const started = performance.now()
      const recent = new Map(untold)
      const news = happened
      untold.clear()
      untoldBytes = 0
      happened = []
      return Effect.forEach(followers, (following) => tell(following, recent), { discard: true }).pipe(
        Effect.ensuring(Effect.sync(() => void (state.timings.follow += performance.now() - started))),
        Effect.zipRight(PubSub.publishAll(events, news)),
        Effect.asVoid
      )
    })

    /** Connects one batch towards `target`: rules here, scripts on all threads. */
    const connectBatch = (target: number): Effect.Effect<Settled, StorageFailure> =>
      Effect.gen(function*() {
        const batch = pool.begin()
        const begun = performance.now()
        const prepared = yield* attempt(() => state.prepare(target, BATCH, batch.add))
        const started = performance.now()
        // Where a thread ended, nobody knows which of the scripts are valid.
        const failed = yield* Effect.onError(batch.finish, () => Effect.sync(() => state.takeBack(prepared)))
        state.timings.scripts += performance.now() - started
        const verdict = failed === undefined ? undefined : { block: failed.block, reject: scriptReject(failed) }
        const settled = yield* attempt(() => state.settle(prepared, verdict))
        recordBatch(settled, performance.now() - begun)
        return settled
      }).pipe(Effect.uninterruptible)

    const nextStep = attempt(() => state.nextStep())

    /** Takes the last block back; does nothing where it turns out to be damaged, and so is missing from now on. */
    const disconnect: Effect.Effect<ReadonlyArray<ChainEvent>, StorageFailure> = attempt(() => {
      const { tip } = state
      const block = cursorOf(state, tip)
      try {
        state.disconnectTip()
      } catch (cause) {
        if (cause instanceof StorageCorrupted && !state.index.has(tip, Status.HAVE_DATA)) return []
        throw cause
      }
      recordDisconnected()
      return [ChainEvent.BlockDisconnected({ block })]
    })

    const connectedEvent = ({ block, id }: Connected, imported: boolean): ChainEvent =>
      ChainEvent.BlockConnected({
        block: cursorOf(state, id),
        transactions: block.transactions.length,
        imported
      })

    const activate = (imported: boolean): Effect.Effect<BatchVerdicts, StorageFailure> =>
      Effect.gen(function*() {
        const verdicts = new Map<number, Reject | undefined>()
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
              verdicts.set(one.id, undefined)
              untold.set(one.id, one)
              untoldBytes += one.block.size
              happened.push(connectedEvent(one, imported))
            }
            if (refused !== undefined) {
              verdicts.set(refused.id, refused.reject)
              yield* noteRefusal(state, refused)
            }
          }
          // A long way is stored and told in pieces, so that memory stays bounded.
          if (state.flushDue) yield* flush
          if (untold.size >= BACKLOG.blocks || untoldBytes >= BACKLOG.bytes) yield* catchUp
          yield* turnOfEventLoop
        }
        // At the tip followers and listeners hear of nothing that a crash could take back.
        if (!imported) yield* flush.pipe(Effect.zipRight(turnOfEventLoop), Effect.zipRight(catchUp))
        return verdicts
      }).pipe(Effect.ensuring(Effect.sync(() => void (telling = false))))

    const fatal = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.tapError(work, (error) => isStorageFailure(error) ? Deferred.fail(failure, error) : Effect.void)

    const undisturbed = permit.withPermits(1)

    const exclusively: ChainWriter["exclusively"] = (work) => fatal(undisturbed(work))

    /** Makes the store of a follower anew each time that it is found damaged, between the blocks that come. */
    const repairing = (following: Following, repair: Repair): Effect.Effect<void, StorageFailure> => {
      const begin = Effect.suspend(() => {
        following.rebuilding = true
        following.cursor = undefined
        return Effect.uninterruptible(repair.begin)
      })
      /** Whether the store has arrived. In one step with the last one, so that no block comes in between. */
      const onward = Effect.gen(function*() {
        if (yield* advance(state, following)) return false
        following.rebuilding = false
        if (following.follower.arrived !== undefined) yield* following.follower.arrived
        return true
      })
      return repair.wanted.pipe(
        Effect.zipRight(exclusively(begin)),
        Effect.zipRight(Effect.repeat(
          Effect.zipLeft(exclusively(onward), turnOfEventLoop),
          { until: (arrived) => arrived }
        )),
        Effect.zipRight(repair.done),
        Effect.forever,
        Effect.annotateLogs("subsystem", "storage")
      )
    }

    return {
      exclusively,
      undisturbed,
      stored: (work) => undisturbed(Effect.zipRight(fatal(flush), work)),
      activate,
      catchUp,
      flush,
      flushAfter: (many) =>
        Effect.suspend(() =>
          !many || state.flushDue || performance.now() - flushedAt > 1000 * FLUSH_SECONDS ? flush : Effect.void
        ),
      enlist: (follower) =>
        Effect.gen(function*() {
          const following: Following = { follower, cursor: yield* follower.cursor, rebuilding: false }
          yield* tell(following, untold)
          const before = follower.last === true ? -1 : followers.findIndex(({ follower: { last } }) => last === true)
          followers.splice(before < 0 ? followers.length : before, 0, following)
          if (follower.repair !== undefined) yield* Effect.forkIn(repairing(following, follower.repair), scope)
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
