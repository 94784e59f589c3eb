import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { attempt } from "../chain/attempt.ts"
import type { Chain } from "../chain/Chain.ts"
import { acceptHeaders, type ChainSink, type Delivery } from "../chain/ChainSink.ts"
import { BlockNotFound } from "../chain/errors.ts"
import { BlockIndex, NONE } from "../chain/index/BlockIndex.ts"
import { MAX_TIP_AGE, type SyncStatus, type SyncStatusOptions } from "../chain/SyncStatus.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { Reject } from "../consensus/Reject.ts"
import type { Block } from "../protocol/block.ts"
import { displayHash } from "../protocol/bytes.ts"
import type { Header } from "../protocol/header.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { removeDamaged } from "../storage/inspect.ts"
import { LightChain } from "./LightChain.ts"
import { LightHeaders } from "./LightHeaders.ts"
import { lightStatus } from "./lightStatus.ts"
import { FILL, startTasks } from "./lightTasks.ts"
import * as LinkPool from "./LinkPool.ts"
import { countMissing, makeIsBehind } from "./windowAge.ts"
import { inspectedWindow, WindowFile } from "./WindowFile.ts"
import { makeWindowReader, type WindowReader } from "./WindowReader.ts"

export interface NewTip extends Cursor {
  readonly from: Height
}

export interface LightProgress {
  /** What the node waits for: headers, blocks of the window, or nothing. */
  readonly phase: "headers" | "window" | "ready"
  /** The last block with known names. */
  readonly tip: Cursor
  readonly headers: Height
  /** The blocks of the window so far and when complete; 0 of 0 before it begins. */
  readonly blocks: number
  readonly of: number
  readonly names: number
  readonly unchecked: number
}

/**
 * Names from the last blocks of the chain alone: headers from an anchor on, and the newest operation on each name.
 * Unlike `Chain`, it has no coins and keeps no blocks.
 */
export class Light extends Context.Tag("svcd/Light")<
  Light,
  WindowReader & {
    readonly params: ConsensusParams
    /** The chain for the sync with peers. */
    readonly chain: Pick<typeof Chain.Service, "block" | "fullHeaders" | "params" | "tree"> & {
      readonly fixed: Height
      /** A new tip, with new blocks from the height `from` on. */
      readonly events: Stream.Stream<NewTip>
      /** As in `Chain`. */
      readonly subscription: Effect.Effect<Stream.Stream<NewTip>, never, Scope.Scope>
      /** A header of the tree without its proof. The anchor has none. */
      readonly header: (id: HeaderId) => Header
    }
    readonly sink: Pick<typeof ChainSink.Service, "acceptHeaders" | "deliver">
    readonly status: typeof SyncStatus.Service
    readonly span: {
      readonly first: () => Height
      /** The lowest and last block with known names; `NO_HEADER` for none. */
      readonly filled: () => { readonly low: Height; readonly high: HeaderId }
      /** The same, including blocks that are not stored yet. */
      readonly taken: () => { readonly low: Height; readonly high: HeaderId }
    }
    /** Notes whether headers of peers are still being compared, during which a new window answers nothing. */
    readonly comparing: (is: boolean) => void
    readonly progress: Effect.Effect<LightProgress>
    readonly height: () => Height
    /** Whether a name missing from the window does not exist or has expired. */
    readonly complete: Effect.Effect<boolean>
    /** Why the node must stop. It never succeeds. */
    readonly failure: Effect.Effect<never, StorageFailure>
  }
>() {}

export interface LightOptions {
  readonly filename: string
  readonly pageSize: number
  readonly params: ConsensusParams
  readonly status: SyncStatusOptions
  readonly verifyThreads: number
  /** Whether to keep what proofs of names need. */
  readonly proofs?: boolean
}

const open = ({ filename, pageSize, params, proofs = false }: LightOptions, now: () => number) => {
  const file = new WindowFile(filename, pageSize)
  try {
    file.keepProofs(proofs)
    const index = new BlockIndex()
    const stored = file.state()
    if (stored !== undefined) index.load(file.pages(), stored.headerCount)
    return { file, chain: new LightChain(file, new LightHeaders(index, params, now)) }
  } catch (cause) {
    file.close()
    throw cause
  }
}

const make = (
  options: LightOptions
): Effect.Effect<Context.Tag.Service<Light>, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { params } = options
    const clock = yield* Effect.clock
    const now = (): number => Math.floor(clock.unsafeCurrentTimeMillis() / 1000)
    yield* removeDamaged({ ...inspectedWindow(options.filename), instead: "the window is filled again from peers" })
    const { chain, file } = yield* Effect.acquireRelease(
      attempt(() => open(options, now)),
      ({ file }) => Effect.sync(() => file.close())
    )
    const failed = yield* Deferred.make<never, StorageFailure>()
    const events = yield* PubSub.sliding<NewTip>(16)
    const pool = yield* LinkPool.make(options.verifyThreads)
    const { headers, index, tree } = chain
    const isBehind = makeIsBehind(chain)
    const tip = (): Cursor => ({ height: tree.height(tree.tip()), hash: tree.hash(tree.tip()).slice() })
    const status = yield* lightStatus(chain, params, options.status)
    yield* status.loaded

    const { maxTipAge = MAX_TIP_AGE, offline } = options.status
    // Checked even later: peers that withhold new blocks must not make new names look free.
    const isRecent = (): boolean => params.noRetargeting || offline || index.time(tree.tip()) >= now() - maxTipAge
    /** Whether the window began at what the first peer sent, while others may have a better chain. */
    let isComparing = false
    const complete = Effect.map(
      status.syncing,
      (syncing) => chain.isComplete && !syncing && isRecent() && !isComparing
    )

    const ends = <A>(work: Effect.Effect<A, StorageFailure>): Effect.Effect<A, StorageFailure> =>
      Effect.tapError(work, (failure) => Deferred.fail(failed, failure))

    const { changed, count, queue, reader } = makeWindowReader({
      chain,
      file,
      pool,
      ends,
      // A window that is behind the known chain answers as if it had no names.
      isCurrent: () => !isComparing && !isBehind() && isRecent()
    })

    /** Stores the window's new blocks and forgets cached names in the same turn, so that no answer mixes two states. */
    const settle = (): void => {
      const { high } = chain.range
      if (chain.settle()) changed()
      if (chain.review()) changed()
      const now = chain.range.high
      if (now === high || now === NONE) return
      const from = high === NONE ? chain.height : index.height(index.forkPoint(high, now))
      events.unsafeOffer({ ...tip(), from: from + 1 })
    }

    /** Whether to store blocks now. While the window is filled, others follow. */
    const isDue = (): boolean =>
      chain.isFilled || chain.range.high === NONE || chain.waiting.bytes >= FILL.bytes ||
      chain.taken.low <= chain.first

    const deliver = (blocks: ReadonlyArray<Block>): Effect.Effect<Delivery, StorageFailure> =>
      ends(Effect.gen(function*() {
        const refused = new Array<Reject | undefined>()
        for (const block of blocks) {
          const reject = yield* attempt(() => chain.take(block))
          refused.push(reject)
        }
        if (isDue()) yield* attempt(settle)
        const judged = blocks.flatMap(({ hash }, i) => refused[i] === undefined ? [{ hash, reject: undefined }] : [])
        return { refused, judged }
      })).pipe(Effect.withSpan("svcd.light.deliver", { attributes: { blocks: blocks.length } }))

    yield* startTasks({ chain, params, queue, settle: attempt(settle), failed })

    return {
      params,
      chain: {
        params,
        fixed: params.anchors.at(-1)?.height ?? 0,
        tree,
        fullHeaders: () => Effect.succeed([]),
        block: (hash) => Effect.fail(new BlockNotFound({ hash: displayHash(hash) })),
        events: Stream.fromPubSub(events),
        subscription: Stream.fromPubSub(events, { scoped: true }),
        header: (id) => index.header(id)
      },
      sink: {
        acceptHeaders: (list) =>
          Effect.tap(acceptHeaders((header) => headers.accept(header), list), () =>
            Effect.ignore(ends(attempt(() => {
              if (chain.review()) changed()
            })))),
        deliver
      },
      status: {
        ...status,
        answered: Effect.zipRight(
          Effect.sync(() => chain.begin()),
          status.answered
        )
      },
      span: {
        first: () => chain.first,
        filled: () => chain.range,
        taken: () => chain.taken
      },
      comparing: (is) => {
        // What an earlier run stored was compared then.
        isComparing = is && chain.range.high === NONE
      },
      progress: Effect.sync(() => ({
        phase: chain.isComplete && !isBehind() && !isComparing
          ? "ready"
          : chain.first === Infinity
          ? "headers"
          : "window",
        tip: tip(),
        headers: index.height(headers.best.reachable),
        blocks: chain.filled.blocks,
        of: chain.filled.of + (isBehind() ? countMissing(chain) : 0),
        names: count.get(),
        unchecked: file.countUnchecked()
      })),
      height: () => chain.height,
      complete,
      ...reader,
      failure: Deferred.await(failed)
    }
  })

export const layer = (options: LightOptions): Layer.Layer<Light, StorageFailure, DataHealth> =>
  Layer.scoped(Light, make(options))
