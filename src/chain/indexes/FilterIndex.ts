import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { equal } from "../../protocol/bytes.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { ConnectedBlock, Cursor, Follower } from "../write/Follower.ts"
import { blockFilter, filterHash, filterHeader } from "./blockFilter.ts"
import { type IndexDefinition, type IndexPlace, openIndex } from "./IndexStore.ts"

/** The filter of a block. Hashes are in wire order. */
export interface StoredFilter {
  readonly hash: Bytes
  readonly filter: Bytes
  readonly filterHash: Bytes
  readonly header: Bytes
}

export type StoredFilterHash = Omit<StoredFilter, "filter">

/** The basic filters of blocks (`-blockfilterindex`), including blocks that left the best chain. */
export interface FilterIndex {
  readonly follower: Follower
  readonly filter: (block: Cursor) => Effect.Effect<StoredFilter | undefined, StorageFailure>
  /** The filters of blocks, or `undefined` if any is missing. */
  readonly filters: (
    blocks: ReadonlyArray<Cursor>
  ) => Effect.Effect<ReadonlyArray<StoredFilter> | undefined, StorageFailure>
  readonly hashes: (
    blocks: ReadonlyArray<Cursor>
  ) => Effect.Effect<ReadonlyArray<StoredFilterHash> | undefined, StorageFailure>
}

const TABLES = `CREATE TABLE filters (
  height INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  filter_hash BLOB NOT NULL,
  header BLOB NOT NULL,
  filter BLOB NOT NULL
) STRICT;
CREATE TABLE stale_filters (
  hash BLOB PRIMARY KEY,
  filter_hash BLOB NOT NULL,
  header BLOB NOT NULL,
  filter BLOB NOT NULL
) WITHOUT ROWID, STRICT;`

interface HashRow {
  readonly hash: Buffer
  readonly filterHash: Buffer
  readonly header: Buffer
}

interface FilterRow extends HashRow {
  readonly filter: Buffer
}

const HASHES = "hash, filter_hash AS filterHash, header"

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    at: statement<[number], FilterRow>(`SELECT ${HASHES}, filter FROM filters WHERE height = ?`),
    hashesAt: statement<[number], HashRow>(`SELECT ${HASHES} FROM filters WHERE height = ?`),
    stale: statement<[Bytes], FilterRow>(`SELECT ${HASHES}, filter FROM stale_filters WHERE hash = ?`),
    insert: statement<[number, Bytes, Bytes, Bytes, Bytes], never>(
      "INSERT OR REPLACE INTO filters (height, hash, filter_hash, header, filter) VALUES (?, ?, ?, ?, ?)"
    ),
    retire: statement<[number], never>(
      `INSERT OR REPLACE INTO stale_filters (hash, filter_hash, header, filter)
       SELECT hash, filter_hash, header, filter FROM filters WHERE height > ?`
    ),
    remove: statement<[number], never>("DELETE FROM filters WHERE height > ?")
  }
}

type Statements = ReturnType<typeof prepare>

const NO_HEADER = new Uint8Array(32)

const add = (store: Statements, blocks: ReadonlyArray<ConnectedBlock>): void => {
  const [first] = blocks
  let previous: Bytes = first === undefined || first.height === 0
    ? NO_HEADER
    : store.hashesAt.get(first.height - 1)?.header ?? NO_HEADER
  for (const { block, coins, hash, height } of blocks) {
    const filter = blockFilter(block, coins?.spent ?? [])
    const ownHash = filterHash(filter)
    previous = filterHeader({ hash: ownHash, previous })
    store.insert.run(height, hash, ownHash, previous, filter)
  }
}

/** Filters of this much take a few milliseconds. Rows are written in their order, so small batches cost little. */
const BATCH_BYTES = 128 * 1024

const DEFINITION: IndexDefinition<Statements> = {
  name: "basic block filter index",
  file: "blockfilters.db",
  what: "an index of block filters",
  tables: TABLES,
  prepare,
  needsCoins: true,
  batchBytes: BATCH_BYTES,
  apply: add,
  rewind: (store, height) => {
    store.retire.run(height)
    store.remove.run(height)
  }
}

const filterOf = (store: Statements, { hash, height }: Cursor): StoredFilter | undefined => {
  const row = store.at.get(height)
  return row !== undefined && equal(row.hash, hash) ? row : store.stale.get(hash)
}

const hashOf = (store: Statements, { hash, height }: Cursor): StoredFilterHash | undefined => {
  const row = store.hashesAt.get(height)
  return row !== undefined && equal(row.hash, hash) ? row : store.stale.get(hash)
}

/** Finds each block, or `undefined` if any is missing. */
const each = <A>(
  blocks: ReadonlyArray<Cursor>,
  find: (block: Cursor) => A | undefined
): ReadonlyArray<A> | undefined => {
  const found: Array<A> = []
  for (const block of blocks) {
    const one = find(block)
    if (one === undefined) return undefined
    found.push(one)
  }
  return found
}

export const openFilterIndex = (place: IndexPlace) =>
  Effect.map(openIndex(DEFINITION, place), ({ follower, read }): FilterIndex => ({
    follower,
    filter: (block) => read((store) => filterOf(store, block)),
    filters: (blocks) => read((store) => each(blocks, (block) => filterOf(store, block))),
    hashes: (blocks) => read((store) => each(blocks, (block) => hashOf(store, block)))
  }))
