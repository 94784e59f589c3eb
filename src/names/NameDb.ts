import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { Repeats } from "../base/Repeats.ts"
import { withLoneSpan } from "../base/spans.ts"
import type { Cursor, Follower } from "../chain/write/Follower.ts"
import { expirationDepth, isExpired } from "../consensus/expiry.ts"
import { type ConsensusParams, MAX_BLOCK_WEIGHT, WITNESS_SCALE_FACTOR } from "../consensus/params.ts"
import { binaryString, type Bytes, displayHash, EMPTY, fromBinaryString } from "../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../protocol/keys.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { type ClaimCheck, makeClaimCheck } from "./ClaimCheck.ts"
import { CommitSignal } from "./CommitSignal.ts"
import { NameExpired, NameHashNotFound, NameNotFound, requestedName, type WrongQuery } from "./errors.ts"
import type { OperationLog } from "./events/OperationLog.ts"
import type { NameClock, NameEntry, NameHistoryEntry } from "./NameEntry.ts"
import { makeNameFollower } from "./NameFollower.ts"
import {
  byAddress,
  history,
  type HistoryPage,
  historyPage,
  type HistoryRange,
  type ListOptions,
  type NameStats,
  scanByPrefix,
  statsOf,
  updatedBetween
} from "./nameQueries.ts"
import { scan, type ScanOptions } from "./nameScan.ts"
import * as NamesFile from "./NamesFile.ts"
import { readBeginning } from "./NameStore.ts"
import { CACHED_RECORD_BYTES, type CacheWeight, recordBytes, RecordCache } from "./RecordCache.ts"
import { findNames, type FoundNames, type PageOptions } from "./search/findNames.ts"
import type { NameQuery } from "./search/nameQuery.ts"
import { makeSearchBuilder } from "./search/SearchBuilder.ts"
import { emptySearch } from "./search/SearchWriter.ts"

export type { FoundNames, NameClock, NameEntry, NameHistoryEntry, NameQuery, NameStats }

/**
 * The names of the chain: the current record of each, and its whole history. Names are byte strings, which
 * `protocol/nameText.ts` converts to text. Lists are streams, read page by page on demand.
 */
export class NameDb extends Context.Tag("svcd/NameDb")<NameDb, {
  /** The latest record of a name, expired or not. */
  readonly resolve: (name: Bytes) => Effect.Effect<NameEntry, NameNotFound | StorageFailure>
  /**
   * The latest record of a name and the height of the last block, from one state and without a fiber. `undefined` if
   * they cannot be read now: `resolve` reports why.
   */
  readonly atOnce: (name: NameKey) => NameAtOnce | undefined
  readonly resolveActive: (
    name: Bytes,
    clock: NameClock
  ) => Effect.Effect<NameEntry, NameNotFound | NameExpired | StorageFailure>
  /** The latest record of the name with this double SHA-256, 32 bytes in digest order. */
  readonly resolveByHash: (hash: Bytes) => Effect.Effect<NameEntry, NameHashNotFound | StorageFailure>
  /** Every operation on a name, oldest first, including registrations after an expiry. */
  readonly history: (name: Bytes) => Effect.Effect<ReadonlyArray<NameHistoryEntry>, NameNotFound | StorageFailure>
  /** A part of the history, newest first, for pages. */
  readonly historyPage: (name: Bytes, range: HistoryRange) => Effect.Effect<HistoryPage, NameNotFound | StorageFailure>
  /** Names by length and then by bytes, like `name_scan`, including expired ones. */
  readonly scan: (options: ScanOptions) => Stream.Stream<NameEntry, StorageFailure>
  /** Names with a prefix, by their bytes, including expired ones. */
  readonly scanByPrefix: (
    options: ListOptions & { readonly prefix: Bytes }
  ) => Stream.Stream<NameEntry, StorageFailure>
  /** Names owned by a script, by their bytes, including expired ones. `address` is the script after the name prefix. */
  readonly byAddress: (address: Bytes, options?: ListOptions) => Stream.Stream<NameEntry, StorageFailure>
  /**
   * Names that expire with a tip at height `from` to `to` (inclusive, past or future) unless renewed, the first to
   * expire first.
   */
  readonly expiringBetween: (
    range: { readonly from: Height; readonly to: Height },
    params: ConsensusParams
  ) => Stream.Stream<NameEntry, StorageFailure>
  /** The height of a transaction that set a name's record (txid in wire order). */
  readonly heightOfTransaction: (txid: Bytes) => Effect.Effect<number | undefined, StorageFailure>
  /**
   * A page of the names that a query finds, in the order of the index used: of registration for text and for a key with
   * a value, of the value for a key alone, of the last change for changes and expiry, otherwise of the names.
   */
  readonly find: (
    asked: NameQuery,
    options: PageOptions
  ) => Effect.Effect<FoundNames, WrongQuery | StorageFailure>
  readonly stats: (clock: NameClock) => Effect.Effect<NameStats, StorageFailure>
  /**
   * The height of the snapshot that the database began with; `undefined` for genesis. Of names, only the record at that
   * block is then known: no earlier operations, and no expired names.
   */
  readonly beginning: Effect.Effect<Height | undefined, StorageFailure>
  /** The last block in the database; `undefined` before the first. */
  readonly cursor: Effect.Effect<Cursor | undefined, StorageFailure>
  /** Applies the chain's blocks to the names; for `ChainControl.register`. */
  readonly follower: Follower
  /** Reads the operations in chain order, and names now and at the last blocks, at once and from one state. */
  readonly readLog: <A>(use: (log: OperationLog, names: LiveReads) => A) => Effect.Effect<A, StorageFailure>
  /** Counts the changes of names.db, and wakes readers that wait for the next one. */
  readonly commits: Effect.Effect<Pick<CommitSignal, "behind" | "count" | "next" | "touchedBehind">>
  /** Compares names with claims: those of an operation at the height `from` or above. */
  readonly check: (from: Height) => Effect.Effect<ClaimCheck>
}>() {}

/** Reads of one state, without a fiber. Methods throw the driver's errors. */
export type StateReads = Pick<NamesFile.NamesFile, "past" | "points" | "search">

/** The same of the names now, and names by script hash. */
export type LiveReads = StateReads & Pick<NamesFile.NamesFile, "scripts">

export interface NameAtOnce {
  /** `undefined` for a name that is not in the file; it does not exist only if names are complete. */
  readonly record: NameEntry | undefined
  readonly tipHeight: Height
}

export interface NameDbOptions extends NamesFile.NamesFileOptions {
  /** Records kept in memory; 0 for none. A record takes about 1 kB. */
  readonly cacheEntries?: number
  readonly rebuildSearch?: boolean
  /** Runs when the search indexes are complete after a sync. Building them takes memory. */
  readonly searchBuilt?: Effect.Effect<void>
}

const CACHE_ENTRIES = 10_000

/** Names among which one that is read again is cached. */
const REMEMBERED = 32_768

/** Larger records (name, value and script together) are not cached. Only coinbases create them. */
const MAX_CACHED_BYTES = 4_096

const CACHE_WEIGHT: CacheWeight<Exit.Exit<NameEntry>> = {
  bytes: CACHED_RECORD_BYTES,
  sizeOf: (found) => Exit.isSuccess(found) ? recordBytes(found.value) : 0
}

/** Maximum concurrent searches. Others wait. */
const SEARCHES = 2

/** Largest name in bytes. A coinbase may write any name that fits into a block outside witnesses. */
const LONGEST = MAX_BLOCK_WEIGHT / WITNESS_SCALE_FACTOR

const SHOWN = 10_000

/** Made for each question about a missing name, so without a stack trace, whose frames take longer than reading a row. */
const neverExisted = (name: Bytes): Effect.Effect<never, NameNotFound> => {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return Effect.fail(new NameNotFound(requestedName(name.subarray(0, SHOWN))))
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The key of the last block in its cache. */
const TIP = ""

/** Fails for a record that is expired at the clock's tip. Source: upstream `rpc/names.cpp`, `addExpirationInfo`. */
export const ensureActive =
  ({ params, tipHeight }: NameClock) => (record: NameEntry): Effect.Effect<NameEntry, NameExpired> =>
    isExpired(record, tipHeight, params)
      ? Effect.fail(new NameExpired({ ...requestedName(record.name), updateHeight: record.height }))
      : Effect.succeed(record)

const isSmall = ({ address, name, value }: NameEntry): boolean =>
  address.length + name.length + value.length <= MAX_CACHED_BYTES

/** The update heights of names that are alive before a range of heights and expired at its end. */
const updateHeightsOf = (
  { from, to }: { readonly from: Height; readonly to: Height },
  params: ConsensusParams
): { readonly from: Height; readonly to: Height } => ({
  from: Math.max(0, from - expirationDepth(from - 1, params)),
  to: to - expirationDepth(to, params)
})

const make = (
  options: NameDbOptions
): Effect.Effect<Context.Tag.Service<NameDb>, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const file = yield* NamesFile.open(options)
    if (options.rebuildSearch === true) yield* file.write(emptySearch)
    const search = yield* makeSearchBuilder(file, options.searchBuilt ?? Effect.void)
    const searching = yield* Effect.makeSemaphore(SEARCHES)
    const cache = new RecordCache<Exit.Exit<NameEntry>, NameKey>(options.cacheEntries ?? CACHE_ENTRIES, CACHE_WEIGHT)
    const repeats = new Repeats(REMEMBERED)
    const position = new RecordCache<Cursor>(2)
    const commits = new CommitSignal()

    /** Reads and caches a record synchronously: a batch in between would leave an old record in the cache. */
    const readRecord = (name: Bytes, key: NameKey): Exit.Exit<NameEntry> | undefined => {
      const record = file.points.record(name)
      if (record === undefined) return undefined
      const found = Exit.succeed(record)
      if (isSmall(record) && repeats.isRepeated(key)) cache.put(key, found)
      return found
    }

    const lookUp = (name: Bytes, key: NameKey): Effect.Effect<NameEntry, NameNotFound | StorageFailure> =>
      Effect.flatMap(
        file.point(() => readRecord(name, key)),
        (found) => found ?? neverExisted(name)
      )

    // No generator and no span: this runs 100,000 times a second, and a span alone takes 30 µs.
    const resolve = (name: Bytes): Effect.Effect<NameEntry, NameNotFound | StorageFailure> =>
      Effect.suspend(() => {
        if (name.length > LONGEST) return neverExisted(name)
        const key = nameKey(name)
        return cache.get(key) ?? lookUp(name, key)
      })

    const readCursor = (): Cursor | undefined => {
      const found = file.points.cursor()
      if (found !== undefined) position.put(TIP, found)
      return found
    }

    const cursor = Effect.suspend(() => {
      const known = position.get(TIP)
      return known === undefined ? file.point(readCursor) : Effect.succeed(known)
    })

    const known = (found: Exit.Exit<NameEntry> | undefined, tip: Cursor): NameAtOnce => ({
      record: found === undefined || Exit.isFailure(found) ? undefined : found.value,
      tipHeight: tip.height
    })

    // A write commits in one step, so no commit is between these reads.
    const atOnce = (name: NameKey): NameAtOnce | undefined => {
      if (name.length > LONGEST) return undefined
      const tip = position.get(TIP)
      const found = cache.get(name)
      if (tip !== undefined && found !== undefined) return known(found, tip)
      return file.pointNow(() => {
        const at = tip ?? readCursor()
        return at && known(found ?? readRecord(fromBinaryString(name), name), at)
      })
    }

    let counted: { readonly of: string; readonly stats: NameStats } | undefined

    /** Counted once per block, as counting a million names takes as long as a thousand requests. */
    const stats = ({ params, tipHeight }: NameClock): Effect.Effect<NameStats, StorageFailure> => {
      const oldest = tipHeight - expirationDepth(tipHeight, params) + 1
      const key = (hash: Bytes = EMPTY) => `${oldest} ${binaryString(hash)}`
      return Effect.flatMap(cursor, (at) =>
        counted !== undefined && counted.of === key(at?.hash)
          ? Effect.succeed(counted.stats)
          : Effect.map(statsOf(file, oldest), ({ hash, stats }) => {
            counted = { of: key(hash), stats }
            return stats
          })).pipe(Effect.withSpan("svcd.names.stats"))
    }

    return NameDb.of({
      resolve,
      atOnce,
      resolveActive: (name, clock) => Effect.flatMap(resolve(name), ensureActive(clock)),
      resolveByHash: (hash) =>
        Effect.flatMap(file.point(() => file.points.recordByHash(hash)), (record) =>
          record === undefined
            ? Effect.fail(new NameHashNotFound({ requested: displayHash(hash) }))
            : Effect.succeed(record)),
      history: (name) =>
        Effect.flatMap(name.length > LONGEST ? Effect.succeed([]) : history(file, name), (entries) =>
          entries.length === 0
            ? neverExisted(name)
            : Effect.succeed(entries)).pipe(Effect.withSpan("svcd.names.history")),
      historyPage: (name, range) =>
        historyPage(file, name, range).pipe(
          Effect.filterOrFail(({ total }) => total > 0, () => new NameNotFound(requestedName(name))),
          Effect.withSpan("svcd.names.historyPage")
        ),
      scan: (options) => scan(file, options),
      scanByPrefix: (options) => scanByPrefix(file, options),
      byAddress: (address, options = {}) => byAddress(file, address, options),
      expiringBetween: (range, params) => {
        const { from, to } = updateHeightsOf(range, params)
        return updatedBetween(file, from, to)
      },
      heightOfTransaction: (txid) => file.point(() => file.points.heightOfTransaction(txid)),
      find: (asked, options) =>
        searching.withPermits(1)(findNames(file, asked, options)).pipe(Effect.withSpan("svcd.names.find")),
      stats,
      beginning: file.snapshot(readBeginning),
      cursor,
      follower: makeNameFollower({ file, cursor, records: cache, position, commits, search }),
      readLog: (use) => file.point(() => file.events.read((log) => use(log, file))),
      commits: Effect.succeed(commits),
      check: (from) => Effect.sync(() => makeClaimCheck(file, from))
    })
  })

export const layer = (options: NameDbOptions): Layer.Layer<NameDb, StorageFailure, DataHealth> =>
  Layer.scoped(NameDb, withLoneSpan("svcd.names.open")(make(options)))
