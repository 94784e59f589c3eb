import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { unixTime } from "../../base/clock.ts"
import { attempt } from "../../chain/attempt.ts"
import { applied, type ConnectedBlock, type Cursor, type Follower } from "../../chain/write/Follower.ts"
import { displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { txidKeyOf } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { type DataHealth } from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { TransactionEntry } from "../keys/WalletDocument.ts"
import { documentEntry, keptForGood, withEntries, withoutEntries } from "./entries.ts"
import { fillLedger, firstTime, hasRealTimes, heightOfTime, type IndexParts, type MissingSource } from "./fillLedger.ts"
import { withoutRescan } from "./indexContent.ts"
import type { Ledger } from "./Ledger.ts"
import type { LedgerEntry } from "./LedgerEntry.ts"
import { dependentsOf, lateUpdates, settleLost } from "./orphans.ts"
import { makeRescan, type Rescan } from "./Rescan.ts"
import { markBlocksAgain, markUsed, scanBlocks, type ScannedBlock } from "./scanBlocks.ts"
import type { WalletLedger } from "./WalletLedger.ts"

export interface WalletIndexOptions extends IndexParts {
  /** For logs: `wallet` and its name. */
  readonly name: string
  /** Called for each transaction new to the wallet. */
  readonly added: (transaction: Transaction) => Effect.Effect<void>
  /** Called for each known transaction that a block confirms, disconnects or makes impossible. */
  readonly moved: (transaction: Transaction) => Effect.Effect<void>
  /** Runs when the index reaches the tip. It must not wait for the chain. */
  readonly arrived: Effect.Effect<void>
}

/** Keeps a ledger and its file in sync with the chain. */
export interface WalletIndex extends Rescan {
  readonly follower: Follower
  /** Whether all keys were searched for and no rescan runs, so that the ledger has every coin. */
  readonly complete: () => boolean
  /** Stores one transaction of a best-chain block. */
  readonly insert: WalletLedger["insert"]
  /** Removes a transaction, confirmed or not, as if never seen. */
  readonly remove: (transaction: Transaction) => Effect.Effect<void, StorageFailure>
  /** The first height that may be from this time (seconds since 1970) or later. */
  readonly heightOfTime: (time: number) => number
  /** Call before watching a new source: until `remember`, each start rescans for it. */
  readonly forget: (source: string) => Effect.Effect<void, StorageFailure>
  readonly remember: (source: string) => Effect.Effect<void, StorageFailure>
  readonly missing: ReadonlyArray<MissingSource>
  /** Call after the rescan for missing sources: removes `rescanFrom` from the document. */
  readonly lookedThrough: Effect.Effect<void, StorageFailure>
}

/**
 * Confirmations after which wallet.json leaves a transaction to the index. A reorg may replace the last blocks, and
 * after a crash they may be missing for a while. Six count as settled, and cost few entries.
 */
export const SETTLED_DEPTH = 6

/** Whether an entry of wallet.json is deep enough to be only in the index. */
const isSettled = (ledger: Ledger, { txid }: TransactionEntry): boolean => {
  const key = txidKeyOf(txid)
  const state = key === undefined ? undefined : ledger.entry(key)?.state
  return state?.type === "confirmed" && ledger.tip.height - state.height + 1 >= SETTLED_DEPTH
}

/** Removes settled entries from wallet.json once the index is durable: one of the two always has them. */
const settle = ({ file, ledger, ring, store }: IndexParts): Effect.Effect<void, StorageFailure> =>
  Effect.suspend(() => {
    const leaving = file.document.transactions.filter((entry) => !keptForGood(entry) && isSettled(ledger, entry))
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

export const make = (
  options: WalletIndexOptions
): Effect.Effect<WalletIndex, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { chain, file, ledger, ring, store } = options
    const { tree } = chain
    const alone = (yield* Effect.makeSemaphore(1)).withPermits(1)
    const timesAreReal = hasRealTimes(chain)
    const missing = yield* fillLedger(options)
    /** Sources not yet searched by a finished rescan. */
    const unsearched = new Set(missing.map(({ source }) => source))

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
        yield* settle(options)
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
        const from = timesAreReal ? firstTime(file) : 0
        const cursor = { height: last.height, hash: last.hash }
        return Effect.zipRight(
          take(blocks.filter(({ block }) => block.header.time >= from), cursor),
          Effect.suspend(() => keepLost(lateUpdates(ledger)))
        )
      })).pipe(Effect.withSpan("svcd.wallet.apply", { attributes: applied(blocks) }))

    const keepLost = (lost: ReadonlyArray<LedgerEntry>): Effect.Effect<void, StorageFailure> =>
      Effect.suspend(() => {
        const changed = settleLost(ledger, lost)
        if (changed.length === 0) return Effect.void
        return file.update((document) => withEntries(document, changed.map(documentEntry)))
      })

    /** Disconnected transactions go to wallet.json before the index drops them. */
    const rewind = (to: Cursor): Effect.Effect<void, StorageFailure> =>
      alone(Effect.gen(function*() {
        const disconnected = ledger.confirmedAbove(to.height)
        const rewards = disconnected.filter(({ coinbase }) => coinbase)
        const entries = disconnected.map((entry) => ({ ...documentEntry(entry), abandoned: entry.coinbase }))
        yield* file.update((document) => withEntries(document, entries))
        yield* attempt(() => store.rewind(to))
        ledger.rewind({ height: to.height, hash: to.hash })
        if (disconnected.length > 0) markBlocksAgain({ ledger, ring })
        yield* keepLost(dependentsOf(ledger, rewards))
        yield* Effect.forEach(disconnected, ({ transaction }) => options.moved(transaction), { discard: true })
      })).pipe(Effect.withSpan("svcd.wallet.rewind", { attributes: { height: to.height } }))

    /** A wallet younger than the base of a snapshot begins there. Others wait for the blocks. */
    const adopt: NonNullable<Follower["adopt"]> = ({ at }) =>
      alone(attempt(() => {
        const isOlder = tree.time(tree.find(at.hash)) >= firstTime(file)
        if (!timesAreReal || isOlder) return false
        store.write({ rows: [], conflicts: [], cursor: at })
        ledger.tip = at
        return true
      }))

    const takeAgain = (blocks: ReadonlyArray<ScannedBlock>): Effect.Effect<void, StorageFailure> =>
      alone(Effect.suspend(() => {
        const { height: top } = ledger.tip
        const still = blocks.filter(({ hash, height }) => height <= top && tree.isActive(tree.find(hash)))
        return Effect.uninterruptible(take(still, undefined))
      }))

    const rescanning = makeRescan(options, takeAgain)

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
      ...rescanning,
      complete: () => rescanning.scanning() === undefined && unsearched.size === 0,
      insert,
      remove,
      heightOfTime: (time) => heightOfTime(tree, time),
      forget: (source) => {
        unsearched.add(source)
        return attempt(() => store.dropSource(source))
      },
      remember: (source) => Effect.map(attempt(() => store.addSources([source])), () => void unsearched.delete(source)),
      missing,
      lookedThrough: Effect.asVoid(file.update(withoutRescan))
    }
  })
