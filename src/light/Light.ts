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
import type { ConsensusParams } from "../consensus/params.ts"
import type { Reject } from "../consensus/Reject.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import { RecordCache } from "../names/RecordCache.ts"
import type { Block } from "../protocol/block.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { type HeaderId, type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import { type DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { removeDamaged } from "../storage/inspect.ts"
import { LightChain } from "./LightChain.ts"
import { LightHeaders } from "./LightHeaders.ts"
import * as LinkPool from "./LinkPool.ts"
import { checkOf, type LinkCheck, verifyLink } from "./signatures.ts"
import { inspectedWindow, type LinkRow, WindowFile } from "./WindowFile.ts"
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
  readonly progress: Effect.Effect<LightProgress>
  /** The height of the last block whose names are known. */
  readonly height: () => Height
  /** Whether a name that the window lacks does not exist, or has expired. */
  readonly complete: Effect.Effect<boolean>
  /** The newest operation on a name, expired or not; `undefined` if the window has none. */
  readonly resolve: (name: Bytes) => Effect.Effect<LightRecord | undefined, StorageFailure>
  /** The same from memory, at the present height; `undefined` if it is not there. */
  readonly recent: (name: Bytes) => LightRecord | undefined
  /** The names that begin with a prefix, expired ones included, by their bytes. */
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

/** Most signatures that a caller waits for: about five milliseconds of work. */
const LINKS_A_TURN = 64

/** Names with more signatures than that, of those that a caller asked for. */
const MOST_ASKED = 1_000

/** Signatures checked in one transaction. */
const LINKS_AT_ONCE = 512

/** Names whose answers stay in memory. */
const CACHED_NAMES = 20_000

const PAUSE = "500 millis"

/** Operations read at a time, and names without them. */
const PAGE = 200
const NAMES_PAGE = 5_000

/** The names are counted again after this many times as long as a count takes, or later: the file counts row by row. */
const COUNT_SHARE = 50

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
    const cache = new RecordCache<LightRecord, NameKey>(CACHED_NAMES)
    const asked = new Map<NameKey, Bytes>()
    const names = { count: file.countNames(), dirty: false, next: 0 }
    /** Forgets what is in memory about these names. */
    const changed = (which: ReadonlyArray<NameKey> | "all"): void => {
      cache.freeze(which)
      cache.thaw()
      if (which === "all") names.dirty = true
    }
    const { headers, index, tree } = chain
    const tip = (): Cursor => ({ height: tree.height(tree.tip()), hash: tree.hash(tree.tip()).slice() })

    const missing = (): BlocksAhead | undefined => {
      const best = headers.best.reachable
      if (index.compareWork(best, tree.tip()) <= 0) return undefined
      const fork = index.height(index.forkPoint(best, tree.tip()))
      return { count: index.height(best) - fork, since: index.time(index.ancestor(best, fork + 1)) }
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

    const checked = (links: ReadonlyArray<LinkRow>, verdicts: ReadonlyArray<boolean>): void => {
      changed(links.map(({ name }) => nameKey(name)))
      file.change((changes) => {
        for (const [i, link] of links.entries()) changes.checked(link, verdicts[i] === true)
      })
    }

    /** The next signatures to check: those on names that a caller asked for come first. */
    const nextLinks = (): ReadonlyArray<LinkRow> => {
      if (!chain.isFilled) return []
      for (const [key, name] of asked) {
        const links = file.linksOf(name, LINKS_AT_ONCE)
        if (links.length > 0) return links
        asked.delete(key)
      }
      return file.nextLinks(LINKS_AT_ONCE)
    }

    /** Checks the next signatures. Returns whether there were any. */
    const verifySome = ends(Effect.gen(function*() {
      const links = yield* attempt(nextLinks)
      if (links.length === 0) {
        yield* pool.rest
        return false
      }
      const checks = links.map((link) => checkOf(link, params))
      const valid = (yield* pool.verify(checks.filter((check): check is LinkCheck => typeof check !== "boolean")))
        .values()
      const verdicts = checks.map((check) => typeof check === "boolean" ? check : valid.next().value === true)
      yield* attempt(() => checked(links, verdicts))
      return true
    }))

    const proofOf = (name: Bytes): LightRecord["proof"] => chain.proves(file.proof(name)) ? "signatures" : "work"

    /** Checks the signatures on a name before those of others: a caller waits for them. */
    const hurry = (name: Bytes): void => {
      const links = file.linksOf(name, LINKS_A_TURN + 1)
      if (links.length === 0 && chain.isFilled) return
      if (links.length <= LINKS_A_TURN && chain.isFilled) checked(links, links.map((link) => verifyLink(link, params)))
      else if (asked.size < MOST_ASKED) asked.set(nameKey(name), Uint8Array.from(name))
    }

    const recordOf = (record: NameEntry): LightRecord => ({ record, proof: proofOf(record.name) })

    const countNames = (): number => {
      const started = performance.now()
      if (!names.dirty || started < names.next) return names.count
      names.count = file.countNames()
      names.dirty = false
      const ended = performance.now()
      names.next = ended + COUNT_SHARE * (ended - started)
      return names.count
    }

    const read = (name: Bytes): Effect.Effect<LightRecord | undefined, StorageFailure> =>
      ends(attempt(() => {
        const record = file.newest(name)
        if (record === undefined) return undefined
        hurry(name)
        const found = recordOf(record)
        cache.put(nameKey(name), found)
        return found
      }))

    yield* Effect.forkScoped(
      Effect.forever(
        Effect.flatMap(Effect.orDie(verifySome), (some) => some ? turnOfEventLoop : Effect.sleep(PAUSE))
      )
    )
    // Blocks that wait while others do not come.
    yield* Effect.forkScoped(
      Effect.repeat(
        Effect.suspend(() => chain.waiting.bytes === 0 ? Effect.void : Effect.ignore(ends(attempt(settle)))),
        Schedule.spaced(FILL.pause)
      )
    )
    let flushed = index.count
    const flush = Effect.suspend(() => {
      if (flushed === index.count) return Effect.void
      flushed = index.count
      return Effect.ignore(ends(attempt(() => chain.flush())))
    })
    yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced("2 seconds")))
    yield* Effect.addFinalizer(() => flush)

    const { maxTipAge = MAX_TIP_AGE, offline } = options.status
    // Not only until the first time: peers that withhold new blocks must not make new names look free.
    const isRecent = (): boolean => params.noRetargeting || offline || index.time(tree.tip()) >= now() - maxTipAge
    const complete = Effect.map(status.syncing, (syncing) => chain.isComplete && !syncing && isRecent())
    return {
      params,
      chain: {
        params,
        fixed: params.anchors.at(-1)?.height ?? 0,
        tree,
        fullHeaders: () => Effect.succeed([]),
        block: (hash) => Effect.fail(new BlockNotFound({ hash: displayHash(hash) })),
        events: Stream.fromPubSub(events)
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
      progress: Effect.sync(() => ({
        phase: chain.isComplete ? "ready" : chain.first === Infinity ? "headers" : "window",
        tip: tip(),
        headers: index.height(headers.best.reachable),
        blocks: chain.filled.blocks,
        of: chain.filled.of,
        names: countNames(),
        unchecked: file.countUnchecked()
      })),
      height: () => chain.height,
      complete,
      resolve: (name) =>
        Effect.suspend(() => {
          const known = cache.get(nameKey(name))
          return known === undefined ? read(name) : Effect.succeed(known)
        }),
      recent: (name) => cache.get(nameKey(name)),
      names: (prefix) =>
        rowsByName(prefix, {
          read: (from, limit) => file.namesFrom(from, limit),
          nameOf: (name) => name,
          size: NAMES_PAGE
        }),
      scan: (prefix) =>
        Stream.map(
          rowsByName(prefix, {
            read: (from, limit) => file.newestFrom(from, limit),
            nameOf: ({ name }) => name,
            size: PAGE
          }),
          recordOf
        ),
      operationsFrom: (height) => ends(attempt(() => file.operationsFrom(height))),
      failure: Deferred.await(failed)
    }
  })

export const layer = (options: LightOptions): Layer.Layer<Light, StorageFailure, DataHealth> =>
  Layer.scoped(Light, make(options))
