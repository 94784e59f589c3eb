import * as Effect from "effect/Effect"
import { sipHashHalves, sipKey } from "../../base/siphash.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { repeated, rowWriter } from "../../storage/rowWriter.ts"
import type { ConnectedBlock, Follower } from "../write/Follower.ts"
import { type IndexDefinition, type IndexPlace, openIndex } from "./IndexStore.ts"

export interface TransactionPlace {
  readonly height: number
  readonly position: number
}

/** Which transaction of the best chain spends an output (`-txospenderindex`). */
export interface SpenderIndex {
  readonly follower: Follower
  /** Transactions that may spend an outpoint (36 bytes, as on the wire). The caller checks which one does. */
  readonly candidates: (outpoint: Bytes) => Effect.Effect<ReadonlyArray<TransactionPlace>, StorageFailure>
}

const TABLES = `CREATE TABLE spenders (
  outpoint INTEGER NOT NULL,
  height INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (outpoint, height, position)
) WITHOUT ROWID, STRICT;
CREATE INDEX spenders_by_height ON spenders (height);`

interface SpenderRow extends TransactionPlace {
  readonly key: number
}

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    select: statement<[number], TransactionPlace>("SELECT height, position FROM spenders WHERE outpoint = ?"),
    insert: rowWriter<SpenderRow>(
      database,
      (rows) => `INSERT OR REPLACE INTO spenders (outpoint, height, position) VALUES ${repeated("(?, ?, ?)", rows)}`,
      ({ height, key, position }, cells) => cells.push(key, height, position)
    ),
    remove: statement<[number], never>("DELETE FROM spenders WHERE height > ?")
  }
}

type Statements = ReturnType<typeof prepare>

const KEY = sipKey(new Uint8Array(16))

/** 52 bits of an outpoint's hash: a tenth of its bytes in both trees of the table. */
const keyOf = (outpoint: Bytes): number => {
  const [low, high] = sipHashHalves(KEY, outpoint)
  return (high & 0xfffff) * 2 ** 32 + low
}

const add = (store: Statements, blocks: ReadonlyArray<ConnectedBlock>): void => {
  const rows = blocks.flatMap(({ block, height }) =>
    block.transactions.flatMap(({ inputs }, position) =>
      position === 0 ? [] : inputs.map(({ prevout }) => ({ key: keyOf(prevout), height, position }))
    )
  )
  // Inserts in key order write the tree sequentially.
  rows.sort((a, b) => a.key - b.key)
  store.insert(rows)
}

const DEFINITION: IndexDefinition<Statements> = {
  name: "txospenderindex",
  file: "spenders.db",
  what: "an index of spenders",
  tables: TABLES,
  prepare,
  apply: add,
  rewind: (store, height) => void store.remove.run(height)
}

export const openSpenderIndex = (place: IndexPlace) =>
  Effect.map(openIndex(DEFINITION, place), ({ follower, read }): SpenderIndex => ({
    follower,
    candidates: (outpoint) => read((store) => store.select.all(keyOf(outpoint)))
  }))
