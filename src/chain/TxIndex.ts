import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { Database, Statement } from "../storage/Database.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { repeated, rowWriter } from "../storage/rowWriter.ts"
import { type IndexDefinition, type IndexPlace, openIndex } from "./indexes/IndexStore.ts"
import type { Follower } from "./write/Follower.ts"

/** The block height of each transaction (`-txindex`). A follower of Chain. */
export class TxIndex extends Context.Tag("svcd/TxIndex")<TxIndex, {
  readonly enabled: boolean
  /** The height of a transaction's block by its txid in wire order; `undefined` if not indexed. */
  readonly heightOf: (txid: Bytes) => Effect.Effect<number | undefined, StorageFailure>
  readonly follower: Follower | undefined
}>() {}

const TABLES = `CREATE TABLE transactions (txid BLOB PRIMARY KEY, height INTEGER NOT NULL) WITHOUT ROWID, STRICT;
CREATE INDEX transactions_by_height ON transactions (height);`

interface TransactionRow {
  readonly txid: Bytes
  readonly height: Height
}

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    select: statement<[Bytes], { readonly height: Height }>("SELECT height FROM transactions WHERE txid = ?"),
    insert: rowWriter<TransactionRow>(
      database,
      (rows) => `INSERT OR REPLACE INTO transactions (txid, height) VALUES ${repeated("(?, ?)", rows)}`,
      ({ height, txid }, cells) => cells.push(txid, height)
    ),
    remove: statement<[number], never>("DELETE FROM transactions WHERE height > ?")
  }
}

const DEFINITION: IndexDefinition<ReturnType<typeof prepare>> = {
  name: "txindex",
  file: "txindex.db",
  what: "a transaction index",
  tables: TABLES,
  sumsCameLater: true,
  background: false,
  prepare,
  apply: ({ insert }, blocks) => {
    const rows = blocks.flatMap(({ block, height }) => block.transactions.map(({ txid }) => ({ txid, height })))
    // Inserts in key order write the tree sequentially.
    rows.sort((a, b) => Buffer.compare(a.txid, b.txid))
    insert(rows)
  },
  rewind: ({ remove }, height) => void remove.run(height)
}

export const layer = (place: IndexPlace): Layer.Layer<TxIndex, StorageFailure, DataHealth> =>
  Layer.scoped(
    TxIndex,
    Effect.map(openIndex(DEFINITION, place), ({ follower, read }) =>
      TxIndex.of({
        enabled: true,
        heightOf: (txid) => read(({ select }) => select.get(txid)?.height),
        follower
      }))
  )

export const layerOff: Layer.Layer<TxIndex> = Layer.succeed(TxIndex, {
  enabled: false,
  heightOf: () => Effect.succeed(undefined),
  follower: undefined
})
