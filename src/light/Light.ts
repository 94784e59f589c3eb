import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import { attempt } from "../chain/attempt.ts"
import type { BlocksAhead, Chain } from "../chain/Chain.ts"
import { acceptHeaders, type ChainSink, type Delivery } from "../chain/ChainSink.ts"
import { BlockNotFound } from "../chain/errors.ts"
import { BlockIndex, NONE } from "../chain/index/BlockIndex.ts"
import { MAX_TIP_AGE, statusOver, type SyncStatus, type SyncStatusOptions } from "../chain/SyncStatus.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { Reject } from "../consensus/Reject.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import { CACHED_RECORD_BYTES, recordBytes, RecordCache } from "../names/RecordCache.ts"
import type { Block } from "../protocol/block.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import type { Header } from "../protocol/header.ts"
import { type HeaderId, type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import { type DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { removeDamaged } from "../storage/inspect.ts"
import { LightChain } from "./LightChain.ts"
import { LightHeaders } from "./LightHeaders.ts"
import * as LinkPool from "./LinkPool.ts"
import { NameCount } from "./NameCount.ts"
import { SignatureQueue } from "./SignatureQueue.ts"
import { countMissing, makeIsBehind } from "./windowAge.ts"
import { inspectedWindow, WindowFile } from "./WindowFile.ts"
import { rowsByName } from "./windowPages.ts"

export interface LightRecord {
  readonly record: NameEntry
  readonly proof: "work" | "signatures"
}

export interface NewTip extends Cursor {
  readonly from: Height
}

export interface LightProgress {
  /** What the node waits for: the headers, the blocks of the window, or nothing. */
  readonly phase: "headers" | "window" | "ready"
  /** The last block whose names are known. */
  readonly tip: Cursor
  readonly headers: Height
  /** Blocks of the window, and how many it has when it is complete; 0 of 0 before it begins. */
  readonly blocks: number
  readonly of: number
  /** Names that the window knows. */
  readonly names: number
  /** Operations whose signatures are not checked yet. */
  readonly unchecked: number
}

/**
 * Names from the last blocks of the chain alone: headers from an anchor on, and the newest operation on each name. It is
 * no `Chain`: it has no coins, and keeps no blocks.
 */
export class Light extends Context.Tag("svcd/Light")<Light, {
  readonly params: ConsensusParams
  /** The chain for the sync with peers. */
  readonly chain: Pick<typeof Chain.Service, "block" | "fullHeaders" | "params" | "tree"> & {
    readonly fixed: Height
    /** A new tip; the blocks from the height `from` on are new. */
    readonly events: Stream.Stream<NewTip>
    /** A header of the tree, without its proof. The anchor has none. */
    readonly header: (id: HeaderId) => Header
  }
  readonly sink: Pick<typeof ChainSink.Service, "acceptHeaders" | "deliver">
  readonly status: typeof SyncStatus.Service
  readonly span: {
    readonly first: () => Height
    /** The blocks whose names are known: the lowest, and the last; `NO_HEADER` for none. */
    readonly filled: () => { readonly low: Height; readonly high: HeaderId }
    /** The same with the blocks that are not stored yet. */
    readonly taken: () => { readonly low: Height; readonly high: HeaderId }
  }
  /** Notes whether the headers of peers are still being compared. Until they are not, a new window answers nothing. */
  readonly comparing: (is: boolean) => void
  readonly progress: Effect.Effect<LightProgress>
  /** The height of the last block whose names are known. */
  readonly height: () => Height
  /** Whether a name that the window lacks does not exist, or has expired. */
  readonly complete: Effect.Effect<boolean>
  /** The newest operation on a name, expired or not; `undefined` if the window has none, or is not up to date. */
  readonly resolve: (name: Bytes) => Effect.Effect<LightRecord | undefined, StorageFailure>
  /** The same for a caller that reads many names: its signatures are not checked first. */
  readonly look: (name: Bytes) => Effect.Effect<LightRecord | undefined, StorageFailure>
  /** The same from memory, at the present height; `undefined` if it is not there. */
  readonly recent: (name: Bytes) => LightRecord | undefined
  /** The names that begin with a prefix, expired ones included, by their bytes. `complete` tells whether there are all. */
  readonly names: (prefix: Bytes) => Stream.Stream<Bytes, StorageFailure>
  /** The newest operation on each name that begins with a prefix, expired or not, by their bytes. */
  readonly scan: (prefix: Bytes) => Stream.Stream<LightRecord, StorageFailure>
  /** The operations in the blocks from a height on, in their order. */
  readonly operationsFrom: (height: Height) => Effect.Effect<ReadonlyArray<NameEntry>, StorageFailure>
  /** Why the node has to stop. It never succeeds. */
  readonly failure: Effect.Effect<never, StorageFailure>
}>() {}

export interface LightOptions {
  readonly filename: string
  readonly pageSize: number
  readonly params: ConsensusParams
  readonly status: SyncStatusOptions
  /** Worker threads that check signatures. */
  readonly verifyThreads: number
}

/** Names whose answers stay in memory, as far as `CACHED_RECORD_BYTES` allows. */
const CACHED_NAMES = 20_000

const PAUSE = "500 millis"

/** Operations read at a time, and names without them. */
const PAGE = 200
const NAMES_PAGE = 5_000

/**
 * While the window is filled, blocks of so many bytes are stored in one transaction, or those of this time: each transaction
 * writes much of the index of names again. The first ones are stored at once, so that what changed lately has an answer.
 */
const FILL = { bytes: 4 * 1024 * 1024, pause: "500 millis" } as const

const open = ({ filename, pageSize, params }: LightOptions, now: () => number) => {
  const file = new WindowFile(filename, pageSize)
  try {
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
    const cache = new RecordCache<LightRecord, NameKey>(CACHED_NAMES, {
      bytes: CACHED_RECORD_BYTES,
      sizeOf: ({ record }) => recordBytes(record)
    })
    const names = new NameCount(() => file.countNames())
    /** Forgets what is in memory about these names. */
    const changed = (which: ReadonlyArray<NameKey> | "all"): void => {
      cache.freeze(which)
      cache.thaw()
      if (which === "all") names.changed()
    }
    const { headers, index, tree } = chain
    const queue = new SignatureQueue({ chain, file, pool, changed })
    const isBehind = makeIsBehind(chain)
    const tip = (): Cursor => ({ height: tree.height(tree.tip()), hash: tree.hash(tree.tip()).slice() })

    const missing = (): BlocksAhead | undefined => {
      const best = headers.best.reachable
      const count = countMissing(chain)
      if (count === 0) return undefined
      return { count, since: index.time(index.ancestor(best, index.height(best) - count + 1)) }
    }

    const status = yield* statusOver({
      params,
      tip: Effect.sync(() => {
        const id = tree.tip()
        return {
          hash: tree.hash(id).slice(),
          height: tree.height(id),
          header: index.header(id),
          chainwork: index.chainwork(id),
          medianTimePast: index.medianTimePast(id),
          transactions: 0,
          confirmations: 1,
          next: undefined
        }
      }),
      progress: Effect.sync(() => ({ importing: undefined, missing: missing() }))
    }, options.status)
    yield* status.loaded

    const ends = <A>(work: Effect.Effect<A, StorageFailure>): Effect.Effect<A, StorageFailure> =>
      Effect.tapError(work, (failure) => Deferred.fail(failed, failure))

    /** Stores what is beside the window. What is in memory is forgotten in the same turn: no answer mixes two states. */
    const settle = (): void => {
      const { high } = chain.range
      if (chain.settle()) changed("all")
      if (chain.review()) changed("all")
      const now = chain.range.high
      if (now === high || now === NONE) return
      const from = high === NONE ? chain.height : index.height(index.forkPoint(high, now))
      events.unsafeOffer({ ...tip(), from: from + 1 })
    }

    /** Whether blocks have to be stored now: others follow while the window is filled. */
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

    const proofOf = (name: Bytes): LightRecord["proof"] => chain.proves(file.proof(name)) ? "signatures" : "work"

    const recordOf = (record: NameEntry): LightRecord => ({ record, proof: proofOf(record.name) })

    const read = (name: Bytes): Effect.Effect<LightRecord | undefined, StorageFailure> =>
      ends(attempt(() => {
        const record = file.newest(name)
        if (record === undefined) return undefined
        queue.hurry(name)
        const found = recordOf(record)
        cache.put(nameKey(name), found)
        return found
      }))

    /** Runs work as long as the node. Its end, by a defect too, is the end of the node. */
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
    /** Logs once why a window that is filled does not answer that a name is missing. */
    const tellShort = Effect.suspend(() => {
      const root = index.height(headers.root)
      if (isTold || chain.isComplete || !chain.isFilled || chain.range.low !== root + 1) return Effect.void
      isTold = true
      const missing = root + expirationDepth(chain.height, params) - chain.height
      return Effect.logWarning("the anchor is too near the tip: which names do not exist is known after more blocks", {
        anchor: root,
        missing
      })
    })
    // Blocks that wait while others do not come.
    yield* always(Effect.repeat(
      Effect.zipRight(Effect.suspend(() => chain.waiting.bytes === 0 ? Effect.void : attempt(settle)), tellShort),
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

    const { maxTipAge = MAX_TIP_AGE, offline } = options.status
    // Not only until the first time: peers that withhold new blocks must not make new names look free.
    const isRecent = (): boolean => params.noRetargeting || offline || index.time(tree.tip()) >= now() - maxTipAge
    /** Whether the window began at what the first peer sent, while others may have a better chain. */
    let isComparing = false
    const complete = Effect.map(
      status.syncing,
      (syncing) => chain.isComplete && !syncing && isRecent() && !isComparing
    )
    // A window that is older than what is known of the chain does not answer, as if it had no names.
    const isCurrent = (): boolean => !isComparing && !isBehind() && isRecent()
    return {
      params,
      chain: {
        params,
        fixed: params.anchors.at(-1)?.height ?? 0,
        tree,
        fullHeaders: () => Effect.succeed([]),
        block: (hash) => Effect.fail(new BlockNotFound({ hash: displayHash(hash) })),
        events: Stream.fromPubSub(events),
        header: (id) => index.header(id)
      },
      sink: {
        acceptHeaders: (list) =>
          Effect.tap(acceptHeaders((header) => headers.accept(header), list), () =>
            Effect.ignore(ends(attempt(() => {
              if (chain.review()) changed("all")
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
        names: names.get(),
        unchecked: file.countUnchecked()
      })),
      height: () => chain.height,
      complete,
      resolve: (name) =>
        Effect.suspend(() => {
          if (!isCurrent()) return Effect.succeed(undefined)
          const known = cache.get(nameKey(name))
          return known === undefined ? read(name) : Effect.succeed(known)
        }),
      look: (name) =>
        ends(attempt(() => {
          const record = isCurrent() ? file.newest(name) : undefined
          return record === undefined ? undefined : recordOf(record)
        })),
      recent: (name) => isCurrent() ? cache.get(nameKey(name)) : undefined,
      names: (prefix) =>
        rowsByName(prefix, {
          read: (from, limit) => ends(attempt(() => file.namesFrom(from, limit))),
          nameOf: (name) => name,
          size: NAMES_PAGE
        }),
      scan: (prefix) =>
        rowsByName(prefix, {
          read: (from, limit) => ends(attempt(() => file.newestFrom(from, limit).map(recordOf))),
          nameOf: ({ record }) => record.name,
          size: PAGE
        }),
      operationsFrom: (height) => ends(attempt(() => file.operationsFrom(height))),
      failure: Deferred.await(failed)
    }
  })

export const layer = (options: LightOptions): Layer.Layer<Light, StorageFailure, DataHealth> =>
  Layer.scoped(Light, make(options))
