import * as Effect from "effect/Effect"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import type { ConnectedBlock, Cursor, Follower } from "../write/Follower.ts"
import { makeAside } from "./aside.ts"
import { type CoinTotals, countBlocks, NO_COINS } from "./coinTotals.ts"
import { type IndexDefinition, type IndexPlace, openIndex } from "./IndexStore.ts"
import { DIGEST_BYTES, EMPTY_SET, SET_BYTES, settleBlocks, type SettledBlocks } from "./setChanges.ts"

export interface StoredCoinStats extends CoinTotals {
  /** Wire order. */
  readonly muhash: Bytes
}

/** Statistics of the unspent outputs at every block (`-coinstatsindex`), including blocks that left the chain. */
export interface CoinStatsIndex {
  readonly follower: Follower
  readonly stats: (block: Cursor) => Effect.Effect<StoredCoinStats | undefined, StorageFailure>
}

const FILE = "coinstats.db"

const COLUMNS = `hash BLOB NOT NULL, muhash BLOB NOT NULL, txouts INTEGER NOT NULL, bogosize INTEGER NOT NULL,
  coins INTEGER NOT NULL, names INTEGER NOT NULL, totals TEXT NOT NULL`

/** The last numbers of the set, where a reorg can restart. */
const TABLES = `CREATE TABLE stats (height INTEGER PRIMARY KEY, ${COLUMNS}) STRICT;
CREATE TABLE stale_stats (${COLUMNS}, PRIMARY KEY (hash)) WITHOUT ROWID, STRICT;
CREATE TABLE sets (height INTEGER PRIMARY KEY, number BLOB NOT NULL) STRICT;`

/** Batches with up to this many changed coins are settled on this thread, in about a millisecond. */
const SMALL_BATCH = 200

/** Blocks whose sets are kept. A longer reorg rebuilds the index. */
const KEPT_SETS = 2_016

interface Row {
  readonly hash: Buffer
  readonly muhash: Buffer
  readonly txouts: number
  readonly bogosize: number
  readonly coins: number
  readonly names: number
  readonly totals: string
}

const NAMES = "hash, muhash, txouts, bogosize, coins, names, totals"

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Result>(sql: string): Statement<Bind, Result> => database.prepare(sql)
  return {
    at: statement<[number], Row>(`SELECT ${NAMES} FROM stats WHERE height = ?`),
    stale: statement<[Bytes], Row>(`SELECT ${NAMES} FROM stale_stats WHERE hash = ?`),
    insert: statement<[number, Bytes, Bytes, number, number, number, number, string], never>(
      `INSERT OR REPLACE INTO stats (height, ${NAMES}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
    ),
    retire: statement<[number], never>(
      `INSERT OR REPLACE INTO stale_stats (${NAMES}) SELECT ${NAMES} FROM stats WHERE height > ?`
    ),
    remove: statement<[number], never>("DELETE FROM stats WHERE height > ?"),
    set: statement<[number], { readonly number: Buffer }>("SELECT number FROM sets WHERE height = ?"),
    putSet: statement<[number, Bytes], never>("INSERT OR REPLACE INTO sets (height, number) VALUES (?, ?)"),
    dropSets: statement<[number, number], never>("DELETE FROM sets WHERE height < ? OR height > ?")
  }
}

type Statements = ReturnType<typeof prepare>

const TOTALS = ["subsidy", "spent", "coinbase", "created", "genesis", "scripts", "unclaimed"] as const

export type AmountTotal = typeof TOTALS[number]

const decodeRow = ({ bogosize, coins, muhash, names, totals, txouts }: Row): StoredCoinStats => {
  const parts = totals.split(" ").map(BigInt)
  const [subsidy = 0n, spent = 0n, coinbase = 0n, created = 0n, genesis = 0n, scripts = 0n, unclaimed = 0n] = parts
  return { txouts, bogosize, coins, names, muhash, subsidy, spent, coinbase, created, genesis, scripts, unclaimed }
}

const lacking = (directory: string, height: number): StorageCorrupted =>
  new StorageCorrupted({
    file: `${directory}/${FILE}`,
    found: `it has no set at height ${height}`,
    remedy: "The index is rebuilt from the stored blocks"
  })

/** An upper bound of the coins that a batch changes, to estimate the work. */
const sizeOf = (blocks: ReadonlyArray<ConnectedBlock>): number => {
  let size = 0
  for (const { block } of blocks) {
    for (const { inputs, outputs } of block.transactions) size += inputs.length + outputs.length
  }
  return size
}

/** Where a batch starts. Throws `StorageCorrupted` if the index lacks the block before it. */
const beforeOf = (store: Statements, directory: string, first: Height) => {
  if (first === 0) return { totals: NO_COINS, number: EMPTY_SET }
  const row = store.at.get(first - 1)
  const number = store.set.get(first - 1)?.number
  if (row === undefined || number === undefined) throw lacking(directory, first - 1)
  return { totals: decodeRow(row), number }
}

const writeBlocks = (
  store: Statements,
  blocks: ReadonlyArray<Cursor & { readonly totals: CoinTotals | undefined }>,
  { digests, numbers }: SettledBlocks
): void => {
  for (const [i, { hash, height, totals }] of blocks.entries()) {
    if (totals === undefined) continue
    const { bogosize, coins, names, txouts } = totals
    const text = TOTALS.map((name) => totals[name]).join(" ")
    const digest = digests.subarray(DIGEST_BYTES * i, DIGEST_BYTES * (i + 1))
    store.insert.run(height, hash, digest, txouts, bogosize, coins, names, text)
    store.putSet.run(height, numbers.subarray(SET_BYTES * i, SET_BYTES * (i + 1)))
  }
  const last = blocks.at(-1)?.height ?? 0
  store.dropSets.run(last - KEPT_SETS, last)
}

const placesOf = (blocks: ReadonlyArray<ConnectedBlock>, totals: ReadonlyArray<CoinTotals>) =>
  blocks.map(({ hash, height }, i) => ({ hash, height, totals: totals[i] }))

const definition = (params: ConsensusParams, directory: string): IndexDefinition<Statements> => ({
  name: "coinstatsindex",
  file: FILE,
  what: "an index of coin statistics",
  tables: TABLES,
  prepare,
  needsCoins: true,
  apply: (store, blocks) => {
    const before = beforeOf(store, directory, blocks[0]?.height ?? 0)
    const { packed, totals } = countBlocks(before.totals, blocks, params)
    writeBlocks(store, placesOf(blocks, totals), settleBlocks(before.number, packed))
  },
  rewind: (store, height) => {
    if (store.set.get(height) === undefined) throw lacking(directory, height)
    store.retire.run(height)
    store.remove.run(height)
    store.dropSets.run(0, height)
  }
})

/**
 * The index. Large batches go to a thread and are stored when it answers. Until then the stored cursor lags, so a crash
 * needs no special handling, and readers wait.
 */
export const openCoinStatsIndex = (place: IndexPlace, params: ConsensusParams) =>
  Effect.gen(function*() {
    const { directory } = place
    const { follower, read, write } = yield* openIndex(definition(params, directory), place)
    const aside = yield* makeAside(`${directory}/${FILE}`)
    /** The totals after the last batch given to the thread. */
    let ahead: CoinTotals | undefined

    const hand = (blocks: ReadonlyArray<ConnectedBlock>) =>
      Effect.gen(function*() {
        const first = blocks[0]?.height ?? 0
        const before = aside.pending() === 0 || ahead === undefined
          ? yield* Effect.zipRight(aside.drained, read((store) => beforeOf(store, directory, first)))
          : { totals: ahead, number: undefined }
        const { packed, totals } = countBlocks(before.totals, blocks, params)
        ahead = totals.at(-1)
        const places = placesOf(blocks, totals)
        const last = places.at(-1)
        if (last === undefined) return
        yield* aside.settle(
          { start: before.number, packed },
          (settled) => write(last, (store) => writeBlocks(store, places, settled))
        )
      })

    return {
      follower: {
        ...follower,
        cursor: Effect.zipRight(aside.drained, follower.cursor),
        apply: (blocks) =>
          Effect.suspend(() =>
            aside.pending() === 0 && sizeOf(blocks) <= SMALL_BATCH
              ? Effect.zipRight(aside.rested, follower.apply(blocks))
              : hand(blocks)
          ),
        rewind: (to) => Effect.zipRight(aside.drained, follower.rewind(to)),
        repair: {
          ...follower.repair,
          begin: Effect.zipRight(aside.abandoned, follower.repair.begin)
        }
      },
      stats: ({ hash, height }) =>
        Effect.zipRight(
          aside.drained,
          read((store) => {
            const row = store.at.get(height)
            const found = row !== undefined && equal(row.hash, hash) ? row : store.stale.get(hash)
            return found === undefined ? undefined : decodeRow(found)
          })
        )
    } satisfies CoinStatsIndex
  })
