import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { pauses } from "../../base/turns.ts"
import { attempt } from "../../chain/attempt.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import type { BlockNotFound, BlockUnavailable } from "../../chain/errors.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import type { TouchedScripts } from "../../chain/indexes/LastTouched.ts"
import { ScriptHistory } from "../../chain/indexes/ScriptHistory.ts"
import type { ScriptIndex } from "../../chain/indexes/ScriptIndex.ts"
import type { Cursor } from "../../chain/write/Follower.ts"
import type { Coin } from "../../consensus/view.ts"
import { RecordCache } from "../../names/RecordCache.ts"
import { type Bytes, displayHash, equal } from "../../protocol/bytes.ts"
import { hashOfKey, type HeaderId, type Height, type ScriptKey, txidKey } from "../../protocol/keys.ts"
import { outpoint, outpointKey, prevoutTxid } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { Mempool } from "../Mempool.ts"
import type { MempoolEvent, PoolEntry } from "../PoolEntry.ts"
import { HistoryTooLong, ScriptsBehind } from "./errors.ts"
import { scriptKeyOf, ScriptPool } from "./ScriptPool.ts"

/** A transaction of the mempool in the history of a script. */
export interface WaitingEntry {
  readonly entry: PoolEntry
  /** What it adds to the script's coins, smallest units. */
  readonly change: number
  /** Whether it spends outputs of other waiting transactions. */
  readonly isChild: boolean
}

export interface WaitingCoin {
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** Smallest units. */
  readonly value: number
}

/** What the node knows of a script at one moment. */
export interface ScriptFound {
  readonly history: ScriptHistory
  /** The last block of the history. */
  readonly height: Height
  /** Those without waiting parents first, then by txid as shown. None of them is in `history`. */
  readonly waiting: ReadonlyArray<WaitingEntry>
  /** Outputs of `waiting` that pay to the script and that none of them spends. */
  readonly waitingCoins: ReadonlyArray<WaitingCoin>
  /** Whether a waiting transaction spends a coin. */
  readonly isSpent: (coin: Pick<WaitingCoin, "txid" | "vout">) => boolean
}

export type BookFailure = BlockNotFound | BlockUnavailable | HistoryTooLong | ScriptsBehind | StorageFailure

/** Transactions, with those that wait. Others need thousands of blocks to be read. */
export const LONGEST_SCRIPT_HISTORY = 20_000

/** Hears of each block that is read: of how many transactions it has. A failure ends the reading. */
export type OnBlock<E> = (transactions: number) => Effect.Effect<void, E>

export interface OpenScriptBook {
  readonly find: <E = never>(key: ScriptKey, onBlock?: OnBlock<E>) => Effect.Effect<ScriptFound, BookFailure | E>
  /** Calls the listener when scripts may have another history, until the scope ends. */
  readonly listen: (listener: (touched: TouchedScripts) => void) => Effect.Effect<void, never, Scope.Scope>
}

/** Histories and coins of scripts, from blocks and the mempool; no book without `-electrumindex`. */
export class ScriptBook extends Context.Tag("svcd/ScriptBook")<ScriptBook, {
  readonly book: OpenScriptBook | undefined
}>() {}

/** Blocks that index and mempool may be behind an import. */
const SMALL_LAG = 6

/** A history of more blocks than this waits for its place among few. */
const FEW_BLOCKS = 50
const LONG_AT_ONCE = 2

/** Blocks that the mempool may be behind the index: its transactions are looked for in these. */
const RECENT_BLOCKS = 100

const CACHED_SCRIPTS = 20_000
/** A longer history would be read again and again: half of the cache has room for it. */
const LONGEST_BYTES = 16 * 1024 * 1024
const CACHED_BYTES = 2 * LONGEST_BYTES

const tooLong = (): HistoryTooLong => new HistoryTooLong({ most: LONGEST_SCRIPT_HISTORY })

const isTooLong = (failure: unknown): failure is HistoryTooLong => failure instanceof HistoryTooLong

interface Known {
  readonly at: HeaderId
  readonly history: ScriptHistory
}

/** A history that is too long at a block, and so after it. */
interface TooLong {
  readonly at: HeaderId
  readonly history: undefined
}

/** A key and the objects around what is known of it. */
const KNOWN_BYTES = 200

type ChainReads = Pick<typeof Chain.Service, "block" | "toldTip" | "tree">

/** Reads histories from the blocks that the index names, and keeps the last ones. */
const makeHistories = (index: ScriptIndex, { block, toldTip, tree }: ChainReads) =>
  Effect.map(Effect.makeSemaphore(LONG_AT_ONCE), (long) => {
    const cache = new RecordCache<Known | TooLong, ScriptKey>(CACHED_SCRIPTS, {
      bytes: CACHED_BYTES,
      sizeOf: ({ history }) => history?.bytes ?? KNOWN_BYTES
    })

    const isAt = (cursor: Cursor | undefined, id: HeaderId): boolean =>
      cursor !== undefined && equal(cursor.hash, tree.hash(id))

    /**
     * The last block of the index. The index hears of a block before the mempool does, so this waits until both know it. An
     * index that lacks a block of the mempool is refused: it lacks what that block took out of the mempool.
     */
    const place: Effect.Effect<HeaderId, ScriptsBehind | StorageFailure> = Effect.gen(function*() {
      const told = tree.find((yield* toldTip).hash)
      const at = yield* index.at
      const id = at === undefined ? NO_HEADER : tree.find(at.hash)
      const tip = tree.height(tree.tip())
      const isBehind = id === NO_HEADER || tree.forkPoint(id, told) !== told || tree.height(id) < tip - SMALL_LAG
      return isBehind ? yield* new ScriptsBehind({ height: at?.height ?? -1, tip }) : id
    })

    /** What is known of a script up to a block of the branch that ends at `at`; `undefined` for too much. */
    const startOf = (
      key: ScriptKey,
      at: HeaderId
    ): { readonly history: ScriptHistory; readonly above: Height } | undefined => {
      const known = cache.get(key)
      const fork = known === undefined ? -1 : tree.height(tree.forkPoint(known.at, at))
      if (known !== undefined && known.history === undefined && fork === tree.height(known.at)) return undefined
      return known?.history === undefined || known.history.lastHeight > fork
        ? { history: new ScriptHistory(key), above: -1 }
        : { history: known.history, above: fork }
    }

    const read = <E>(
      history: ScriptHistory,
      { at, heights, onBlock }: {
        readonly at: HeaderId
        readonly heights: ReadonlyArray<Height>
        readonly onBlock: OnBlock<E>
      }
    ) =>
      Effect.gen(function*() {
        const pause = pauses()
        for (const height of heights) {
          // Even if a reorg disconnects it meanwhile.
          const found = yield* block(tree.hash(tree.ancestor(at, height)).slice())
          yield* onBlock(found.transactions.length)
          history.add(found, height)
          if (history.entries.length > LONGEST_SCRIPT_HISTORY || history.bytes > LONGEST_BYTES) return yield* tooLong()
          yield* pause
        }
      })

    const tooLongAt = (key: ScriptKey, at: HeaderId): Effect.Effect<never, HistoryTooLong> =>
      Effect.suspend(() => {
        cache.put(key, { at, history: undefined })
        return tooLong()
      })

    /** With `isLong`, it has one of the places for long histories. */
    const find = <E>(
      key: ScriptKey,
      { isLong, onBlock }: { readonly isLong: boolean; readonly onBlock: OnBlock<E> }
    ): Effect.Effect<Known, BookFailure | E> =>
      Effect.gen(function*() {
        const at = yield* place
        const start = startOf(key, at)
        if (start === undefined) return yield* tooLong()
        const { above, history } = start
        const found = yield* index.heights({ hash: hashOfKey(key), above, limit: LONGEST_SCRIPT_HISTORY + 1 })
        // Rows of blocks that the index has just left are no longer among them.
        if (!isAt(found.at, at)) return yield* find(key, { isLong, onBlock })
        const { heights } = found
        if (heights.length + history.entries.length > LONGEST_SCRIPT_HISTORY) return yield* tooLongAt(key, at)
        // Another question may read the same blocks before this one has its place.
        if (heights.length > FEW_BLOCKS && !isLong) {
          return yield* long.withPermits(1)(find(key, { isLong: true, onBlock }))
        }
        const longer = heights.length === 0 ? history : new ScriptHistory(history)
        const reading: Effect.Effect<void, BookFailure | E> = read(longer, { at, heights, onBlock })
        yield* Effect.catchIf(reading, isTooLong, () => tooLongAt(key, at))
        const known = { at, history: longer }
        cache.put(key, known)
        // A block that came meanwhile took its transactions out of the mempool.
        return heights.length === 0 || isAt(yield* index.at, at) ? known : yield* find(key, { isLong, onBlock })
      })
    return <E>(key: ScriptKey, onBlock: OnBlock<E>) => find(key, { isLong: false, onBlock })
  })

/** What waits for a script, without what `history` has. */
const waitingOf = (
  key: ScriptKey,
  { height, history, moves, pool }: {
    readonly height: Height
    readonly history: ScriptHistory
    readonly moves: ScriptPool
    readonly pool: Pick<typeof Mempool.Service, "get" | "spender">
  }
): Pick<ScriptFound, "isSpent" | "waiting" | "waitingCoins"> => {
  const own = moves.of(key)
  const isSpent: ScriptFound["isSpent"] = ({ txid, vout }) =>
    pool.spender(outpointKey(outpoint(txid, vout))) !== undefined
  if (own.length === 0) return { waiting: [], waitingCoins: [], isSpent }
  // A block reaches the index before the mempool.
  const recent = history.entries.findLastIndex((entry) => entry.height <= height - RECENT_BLOCKS) + 1
  const confirmed = new Set(history.entries.slice(recent).map(({ txid }) => txidKey(txid)))
  const waiting = own.flatMap(({ change, entry }) => {
    const { inputs, txid, txidKey: id } = entry.transaction
    const isChild = inputs.some(({ prevout }) => pool.get(txidKey(prevoutTxid(prevout))) !== undefined)
    return confirmed.has(id) ? [] : [{ change, entry, isChild, shown: displayHash(txid) }]
  })
  waiting.sort((a, b) => Number(a.isChild) - Number(b.isChild) || (a.shown < b.shown ? -1 : 1))
  const waitingCoins = waiting.flatMap(({ entry: { transaction: { outputs, txid } } }) =>
    outputs.flatMap(({ script, value }, vout) =>
      scriptKeyOf(script) === key && !isSpent({ txid, vout }) ? [{ txid, vout, value }] : []
    )
  )
  return { waiting, waitingCoins, isSpent }
}

const open = (index: ScriptIndex) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const coins = yield* ChainCoins
    const pool = yield* Mempool
    const histories = yield* makeHistories(index, chain)
    const moves = new ScriptPool()
    const listeners = new Set<(touched: TouchedScripts) => void>()

    /** The coins that a transaction spends, from the chain or the mempool. */
    const spentBy = ({ transaction }: PoolEntry): Effect.Effect<ReadonlyArray<Coin>, StorageFailure> =>
      Effect.flatMap(coins.tipState, (tip) =>
        attempt(() =>
          transaction.inputs.flatMap(({ prevout }) => {
            const key = outpointKey(prevout)
            return pool.coin(key) ?? tip.coin(key) ?? []
          })
        ))

    /** Adds a waiting transaction and returns the scripts that it touches. */
    const add = (entry: PoolEntry): Effect.Effect<ReadonlyArray<ScriptKey>> =>
      Effect.matchEffect(spentBy(entry), {
        onFailure: ({ message }) =>
          Effect.as(Effect.logError("histories of scripts lack a waiting transaction", { reason: message }), []),
        onSuccess: (spent) => Effect.sync(() => moves.add(entry, spent))
      })

    /** Transactions that spend its outputs. Once it is in a block, they have one waiting parent less. */
    const childrenOf = ({ transaction: { outputs, txid } }: PoolEntry): ReadonlyArray<PoolEntry> =>
      outputs.flatMap((_, vout) => pool.spender(outpointKey(outpoint(txid, vout))) ?? [])

    const tell = (touched: TouchedScripts): void => {
      for (const listener of listeners) listener(touched)
    }

    const hear = (event: MempoolEvent): Effect.Effect<void> => {
      const { entry } = event
      if (event._tag === "Added") {
        return Effect.map(add(entry), (touched) => tell(new Set(touched)))
      }
      return Effect.sync(() => {
        const children = childrenOf(entry).flatMap(({ transaction }) => moves.touchedBy(transaction.txidKey))
        tell(new Set([...moves.remove(entry.transaction.txidKey), ...children]))
      })
    }

    yield* pool.listen(hear)
    // Those of now: others may have left while this waited for the tip.
    const addAll = Effect.suspend(() => Effect.forEach([...pool.entries()], add, { discard: true }))
    // A chain that cannot be stored ends the node.
    if (pool.info().size > 0) yield* Effect.catchAll(coins.atTip(() => addAll), () => Effect.interrupt)
    yield* index.listen(tell)

    return {
      find: (key, onBlock = () => Effect.void) =>
        Effect.flatMap(histories(key, onBlock), ({ at, history }) => {
          if (history.entries.length + moves.count(key) > LONGEST_SCRIPT_HISTORY) return tooLong()
          const height = chain.tree.height(at)
          return Effect.succeed({ history, height, ...waitingOf(key, { height, history, moves, pool }) })
        }),
      listen: (listener) =>
        Effect.acquireRelease(
          Effect.sync(() => void listeners.add(listener)),
          () => Effect.sync(() => void listeners.delete(listener))
        )
    } satisfies OpenScriptBook
  })

export const layer: Layer.Layer<ScriptBook, never, Chain | ChainCoins | Indexes | Mempool> = Layer.scoped(
  ScriptBook,
  Effect.gen(function*() {
    const { scripts } = yield* Indexes
    return { book: scripts === undefined ? undefined : yield* open(scripts) }
  })
)

/** Without an index. */
export const layerNoBook: Layer.Layer<ScriptBook> = Layer.succeed(ScriptBook, { book: undefined })
