import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { unixTime } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { attempt } from "../../chain/attempt.ts"
import type { Chain } from "../../chain/Chain.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { applied, type ConnectedBlock, type Cursor, type Follower } from "../../chain/write/Follower.ts"
import { type Bytes, displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { txidKeyOf } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import type { StorageCorrupted, StorageFailure } from "../../storage/errors.ts"
import type { Inspected } from "../../storage/inspect.ts"
import { pagesOf } from "../../storage/repair.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { KeyRing } from "../keys/KeyRing.ts"
import type { TransactionEntry, WalletDocument } from "../keys/WalletDocument.ts"
import type { WalletFile } from "../keys/WalletFile.ts"
import { documentEntry, keptForGood, withEntries, withoutEntries } from "./entries.ts"
import { BEYOND_PRUNED, contentOf, earliest, load, sourcesOf, withoutRescan } from "./indexContent.ts"
import { type IndexStore, inspectedIndex } from "./IndexStore.ts"
import type { Ledger } from "./Ledger.ts"
import { dependentsOf } from "./orphans.ts"
import { markBlocksAgain, markUsed, scanBlocks, type ScannedBlock } from "./scanBlocks.ts"

export interface WalletIndexOptions {
  readonly store: IndexStore
  readonly chain: typeof Chain.Service
  readonly ledger: Ledger
  readonly ring: KeyRing
  readonly file: WalletFile
  /** For logs: `wallet` and its name. */
  readonly name: string
  /** Whether the wallet's keys are new, so that no block up to the tip concerns it. */
  readonly fresh: boolean
  /** Called with each transaction that is new to the wallet. */
  readonly added: (transaction: Transaction) => Effect.Effect<void>
  /** Called with each known transaction that a block confirms, disconnects or makes impossible. */
  readonly moved: (transaction: Transaction) => Effect.Effect<void>
  /** Runs when the index has reached the tip. It must not wait for the chain. */
  readonly arrived: Effect.Effect<void>
}

/** Keeps a ledger and its file in step with the chain. */
export interface WalletIndex {
  readonly follower: Follower
  readonly scanning: () => { readonly duration: number; readonly progress: number } | undefined
  /** Whether the chain was searched for all keys, and no rescan runs: a coin that is not in the ledger is not there. */
  readonly complete: () => boolean
  /** Rescans blocks between two heights, both included. `to` defaults to the height of the index. */
  /** The first block that a rescan can read: those below were pruned. */
  readonly firstStored: () => number
  readonly rescan: (
    from: number,
    to: number | undefined
  ) => Effect.Effect<number, InvalidWalletRequest | StorageFailure>
  /** Stops the running rescan after its current blocks. Returns whether one runs that no earlier call has stopped. */
  readonly abortRescan: () => boolean
  /** Stores a transaction that a block of the best chain has, without its other transactions. */
  readonly insert: (
    transaction: Transaction,
    block: { readonly height: number; readonly hash: Bytes; readonly time: number; readonly position: number }
  ) => Effect.Effect<void, StorageFailure>
  /** Removes a transaction of the wallet, confirmed or not, as if the wallet had never seen it. */
  readonly remove: (transaction: Transaction) => Effect.Effect<void, StorageFailure>
  /**
   * Whether the chain has fewer blocks than the index has processed: the chainstate was lost and is being rebuilt.
   * Until then no rescan is possible, and the index gets no blocks.
   */
  readonly behind: () => boolean
  /** The first height whose block may be from this time or later, seconds since 1970. */
  readonly heightOfTime: (time: number) => number
  /** To be called before the wallet watches a new source: until `remember`, each start rescans the chain for it. */
  readonly forget: (source: string) => Effect.Effect<void, StorageFailure>
  readonly remember: (source: string) => Effect.Effect<void, StorageFailure>
  /** Sources that the chain was not scanned for, each with the start time of its rescan. */
  readonly missing: ReadonlyArray<{ readonly source: string; readonly timestamp: number }>
  /** To be called after the rescan for the missing sources: removes `rescanFrom` from the document. */
  readonly lookedThrough: Effect.Effect<void, StorageFailure>
}

/** Tolerance for block times, in seconds. Upstream `chain.h`, `TIMESTAMP_WINDOW`. */
const TIMESTAMP_WINDOW = 7_200

/** Blocks that a rescan processes before the event loop gets its turn. */
const RESCAN_BLOCKS = 32

/**
 * Confirmations after which wallet.json leaves a transaction to the index. One is not enough: a reorg may replace the
 * last blocks, and after a crash they may be missing until a peer sends them again. Six confirmations count as settled,
 * and cost a few entries in the file.
 */
export const SETTLED_DEPTH = 6

const rescanAborted = (): InvalidWalletRequest =>
  new InvalidWalletRequest({ code: "aborted", reason: "Rescan aborted." })

/** The failure of a rescan before the chain has reached its earlier height again. */
const chainIsBehind = (): InvalidWalletRequest =>
  new InvalidWalletRequest({
    code: "scanning",
    reason: "the chain has fewer blocks than the wallet has seen; wait until they are there again"
  })

/** Lets a damaged file be rebuilt from the ledger, which stays correct, and registers its pages for periodic checks. */
const mendFromLedger = (
  store: IndexStore,
  ledger: Ledger,
  inspected: Inspected
): Effect.Effect<void, never, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const runtime = yield* Effect.runtime()
    store.backUpFrom({
      content: () => contentOf(ledger),
      damaged: ({ found }) => {
        const said = Effect.logError(`${inspected.filename} is damaged (${found}): it is rebuilt from memory`)
        Runtime.runFork(runtime)(Effect.zipRight(health.damaged(inspected.what), said))
      }
    })
    const renew = (failure: StorageFailure): Effect.Effect<void> =>
      failure._tag === "StorageCorrupted"
        ? Effect.catchAll(attempt(() => store.renew(failure)), ({ message }) => Effect.logError(message))
        : Effect.void
    yield* health.register(pagesOf(inspected, () => store.guard, renew))
  })

/** Makes the index of an open file, and fills the ledger. */
export const make = (
  options: WalletIndexOptions
): Effect.Effect<WalletIndex, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { chain, file, ledger, ring } = options
    const { tree } = chain
    const { store } = options
    const inspected = inspectedIndex(store.filename)
    const alone = (yield* Effect.makeSemaphore(1)).withPermits(1)
    // On regtest the block times are whatever a test sets.
    const timesAreReal = !chain.params.noRetargeting

    const heightOfTime = (time: number): number => {
      const top = tree.height(tree.tip())
      let height = 0
      while (height <= top && tree.time(tree.at(height)) < time - TIMESTAMP_WINDOW) height++
      return height
    }

    /** The start of a new index; `undefined` for the genesis block. */
    const beginning = (document: WalletDocument): Cursor | undefined => {
      const height = options.fresh
        ? tree.height(tree.tip())
        : timesAreReal
        ? heightOfTime(earliest(document)) - 1
        : -1
      return height < 0 ? undefined : { height, hash: tree.hash(tree.at(height)).slice() }
    }

    const empty = (): ReadonlyArray<string> => {
      store.reset(sourcesOf(file.document).keys(), beginning(file.document))
      return []
    }

    /** Sources that need a rescan. An index with sources of another wallet is emptied. */
    const prepare = (): ReadonlyArray<string> => {
      const wanted = sourcesOf(file.document)
      const known = store.sources()
      const foreign = [...known].some((source) => !wanted.has(source))
      if (foreign || (store.cursor() === undefined && known.size === 0)) return empty()
      if (file.document.rescanFrom !== undefined) return [...wanted.keys()]
      return [...wanted.keys()].filter((source) => !known.has(source))
    }

    const filled = attempt(() => {
      const sources = prepare()
      load(store, options)
      return sources
    })
    /** Rows without a valid transaction are damage from before the file had page checksums. */
    const refilled = ({ found }: StorageCorrupted) =>
      Effect.gen(function*() {
        const { damaged } = yield* DataHealth
        yield* damaged(inspected.what)
        yield* Effect.logError(`${store.filename} is damaged (${found}) and is emptied: ${inspected.instead}`)
        return yield* attempt(() => {
          const sources = empty()
          load(store, options)
          return sources
        })
      })
    const sources = yield* Effect.catchTag(filled, "StorageCorrupted", refilled)
    /** Sources that no finished rescan has searched for. */
    const unsearched = new Set(sources)
    const missing = yield* attempt(() => {
      const cursor = store.cursor()
      if (cursor !== undefined) ledger.tip = cursor
      const times = sourcesOf(file.document)
      const { rescanFrom = Number.POSITIVE_INFINITY } = file.document
      return sources.map((source) => ({ source, timestamp: Math.min(times.get(source) ?? 0, rescanFrom) }))
    })

    yield* mendFromLedger(store, ledger, inspected)

    /** Whether an entry of wallet.json is deep enough in the chain to be only in the index. */
    const isSettled = ({ txid }: TransactionEntry): boolean => {
      const key = txidKeyOf(txid)
      const state = key === undefined ? undefined : ledger.entry(key)?.state
      return state?.type === "confirmed" && ledger.tip.height - state.height + 1 >= SETTLED_DEPTH
    }

    /** Removes settled entries from wallet.json once the index is durable: at any moment one of the two has them. */
    const settle = Effect.suspend(() => {
      const leaving = file.document.transactions.filter((entry) => !keptForGood(entry) && isSettled(entry))
      if (leaving.length === 0) return Effect.void
      const txids = new Set(leaving.map(({ txid }) => txid))
      return Effect.zipRight(
        attempt(() => store.sync()),
        file.update((document) => {
          // The owner may have added a note meanwhile.
          const gone = document.transactions.filter((entry) => txids.has(entry.txid) && !keptForGood(entry))
          return withoutEntries(ring.save(document), new Set(gone.map(({ txid }) => txid)))
        })
      )
    })

    /** Scans blocks and stores the results. */
    const take = (blocks: ReadonlyArray<ScannedBlock>, cursor: Cursor | undefined) =>
      Effect.gen(function*() {
        const seconds = yield* unixTime
        const { added, conflicts, grew, moved } = yield* attempt(() => {
          const scan = scanBlocks({ ledger, ring, now: seconds }, blocks)
          store.write({ rows: scan.rows, conflicts: scan.conflicts, ...cursor === undefined ? {} : { cursor } })
          if (cursor !== undefined) ledger.tip = { height: cursor.height, hash: cursor.hash }
          return scan
        })
        if (grew) yield* file.update(ring.save)
        yield* settle
        if (conflicts.length > 0) {
          yield* Effect.logInfo("wallet transactions conflict with a block", { count: conflicts.length })
        }
        yield* Effect.forEach(added, options.added, { discard: true })
        yield* Effect.forEach(moved, options.moved, { discard: true })
      })

    const apply = (blocks: ReadonlyArray<ConnectedBlock>): Effect.Effect<void, StorageFailure> =>
      alone(Effect.suspend(() => {
        const last = blocks.at(-1)
        if (last === undefined) return Effect.void
        const from = timesAreReal ? earliest(file.document) - TIMESTAMP_WINDOW : 0
        return take(blocks.filter(({ block }) => block.header.time >= from), { height: last.height, hash: last.hash })
      })).pipe(Effect.withSpan("svcd.wallet.apply", { attributes: applied(blocks) }))

    /** Stores disconnected transactions in wallet.json before the index drops them. */
    const rewind = (to: Cursor): Effect.Effect<void, StorageFailure> =>
      alone(Effect.gen(function*() {
        const disconnected = ledger.confirmedAbove(to.height)
        const rewards = disconnected.filter(({ coinbase }) => coinbase)
        const entries = disconnected.map((entry) => ({ ...documentEntry(entry), abandoned: entry.coinbase }))
        yield* file.update((document) => withEntries(document, entries))
        yield* attempt(() => store.rewind(to))
        ledger.rewind({ height: to.height, hash: to.hash })
        if (disconnected.length > 0) markBlocksAgain({ ledger, ring })
        const lost = dependentsOf(ledger, rewards)
        for (const { key } of lost) ledger.report(key, { type: "inactive", abandoned: true })
        yield* file.update((document) => withEntries(document, lost.map(documentEntry)))
        yield* Effect.forEach(disconnected, ({ transaction }) => options.moved(transaction), { discard: true })
      })).pipe(Effect.withSpan("svcd.wallet.rewind", { attributes: { height: to.height } }))

    /** A wallet that is younger than the blocks before the base of a snapshot begins there. Others wait for the blocks. */
    const adopt: NonNullable<Follower["adopt"]> = ({ at }) =>
      alone(attempt(() => {
        const isOlder = tree.time(tree.find(at.hash)) >= earliest(file.document) - TIMESTAMP_WINDOW
        if (!timesAreReal || isOlder) return false
        store.write({ rows: [], conflicts: [], cursor: at })
        ledger.tip = at
        return true
      }))

    let scan: { readonly since: number; progress: number; stopped: boolean } | undefined
    let elapsed = 0

    /** Reads a range of blocks of the best chain. The follower handles blocks that a reorg disconnects meanwhile. */
    const read = (from: number, to: number): Effect.Effect<ReadonlyArray<ScannedBlock>, RescanFailure> =>
      Effect.gen(function*() {
        const blocks: Array<ScannedBlock> = []
        for (let height = from; height <= to; height++) {
          const id = tree.at(height)
          if (id === NO_HEADER) return yield* chainIsBehind()
          const hash = tree.hash(id).slice()
          blocks.push({ height, hash, block: yield* chain.block(hash) })
        }
        return blocks
      }).pipe(
        Effect.catchTag("BlockNotFound", "BlockUnavailable", (failure) =>
          new InvalidWalletRequest({ code: "missing", reason: `a block cannot be read: ${failure.message}` }))
      )

    const takeAgain = (blocks: ReadonlyArray<ScannedBlock>): Effect.Effect<void, StorageFailure> =>
      alone(Effect.suspend(() => {
        const { height: top } = ledger.tip
        const still = blocks.filter(({ hash, height }) =>
          height <= top && tree.isActive(tree.find(hash))
        )
        return Effect.uninterruptible(take(still, undefined))
      }))

    /** A branch with more work may be shorter for a moment, until the follower has rolled back. */
    const isBehind = (height: number): boolean => tree.height(tree.tip()) < height

    /** The first block above the pruned ones. */
    const firstStored = (): number => tree.losses.prunedTo === 0 ? 0 : tree.losses.prunedTo + 1

    const rescan = (from: number, to: number | undefined): Effect.Effect<number, RescanFailure> =>
      Effect.gen(function*() {
        if (scan !== undefined) {
          return yield* new InvalidWalletRequest({ code: "scanning", reason: "a rescan is already running" })
        }
        if (from < firstStored()) {
          return yield* new InvalidWalletRequest({ code: "pruned", reason: BEYOND_PRUNED })
        }
        const running = { since: yield* Clock.currentTimeMillis, progress: 0, stopped: false }
        scan = running
        elapsed = 0
        const goal = (): number => Math.min(to ?? ledger.tip.height, ledger.tip.height)
        return yield* Effect.gen(function*() {
          if (isBehind(goal())) return yield* chainIsBehind()
          ledger.lookAgain("all")
          for (let next = from; next <= goal(); next += RESCAN_BLOCKS) {
            const end = Math.min(goal(), next + RESCAN_BLOCKS - 1)
            yield* takeAgain(yield* read(next, end))
            running.progress = Math.min(1, (end - from + 1) / Math.max(1, goal() - from + 1))
            elapsed = (yield* Clock.currentTimeMillis) - running.since
            yield* turnOfEventLoop
            if (running.stopped && end < goal()) return yield* rescanAborted()
          }
          return goal()
        }).pipe(Effect.ensuring(Effect.sync(() => void (scan = undefined))))
      }).pipe(Effect.withSpan("svcd.wallet.rescan", { attributes: { from } }))

    const insert: WalletIndex["insert"] = (transaction, { hash, height, position, time: blockTime }) =>
      alone(Effect.gen(function*() {
        const now = yield* unixTime
        yield* attempt(() => {
          const state = { type: "confirmed", height, hash, index: position, blockTime } as const
          const { order, time } = ledger.put({ transaction, time: Math.min(now, blockTime), state })
          const { bytes, txid } = transaction
          store.write({ rows: [{ txid, bytes, height, hash, position, blockTime, time, order }], conflicts: [] })
        })
        if (markUsed(ring, transaction, true)) yield* file.update(ring.save)
        yield* options.added(transaction)
      })).pipe(Effect.uninterruptible)

    const remove: WalletIndex["remove"] = ({ txid, txidKey }) =>
      alone(Effect.gen(function*() {
        const conflicts = ledger.leftBehind(txidKey).map(({ height, key }) => ({ txid: fromBinaryString(key), height }))
        yield* attempt(() => store.write({ rows: [], conflicts }))
        yield* file.update((document) => withoutEntries(document, new Set([displayHash(txid)])))
        yield* attempt(() => store.remove(txid))
        const wasInBlock = ledger.entry(txidKey)?.block !== undefined
        ledger.remove(txidKey)
        if (wasInBlock) markBlocksAgain({ ledger, ring })
      })).pipe(Effect.uninterruptible)

    return {
      follower: {
        name: options.name,
        cursor: attempt(() => store.cursor()),
        apply,
        rewind,
        adopt,
        arrived: options.arrived
      },
      scanning: () =>
        scan === undefined ? undefined : { duration: Math.floor(elapsed / 1000), progress: scan.progress },
      complete: () => scan === undefined && unsearched.size === 0,
      rescan,
      firstStored,
      abortRescan: () => scan !== undefined && !scan.stopped && (scan.stopped = true),
      insert,
      remove,
      behind: () => isBehind(ledger.tip.height),
      heightOfTime,
      forget: (source) => {
        unsearched.add(source)
        return attempt(() => store.dropSource(source))
      },
      remember: (source) => Effect.map(attempt(() => store.addSources([source])), () => void unsearched.delete(source)),
      missing,
      lookedThrough: Effect.asVoid(file.update(withoutRescan))
    }
  })

type RescanFailure = InvalidWalletRequest | StorageFailure
