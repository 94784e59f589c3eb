import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import type { Bytes } from "../protocol/bytes.ts"
import { type Database, guarded, openDatabase, type Statement } from "../storage/Database.ts"
import { StorageCorrupted, type StorageFailure } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import type { ConnectedBlock, Cursor, Follower } from "./Follower.ts"

/** In which block each transaction is, where the operator wants to know (`-txindex`). A follower of Chain. */
export class TxIndex extends Context.Tag("svcd/TxIndex")<TxIndex, {
  readonly enabled: boolean
  /** The height of the block that a transaction (wire order) is in; `undefined` for one that is not indexed. */
  readonly heightOf: (txid: Bytes) => Effect.Effect<number | undefined, StorageFailure>
  /** What Chain keeps up to date; `undefined` where the index is off. */
  readonly follower: Follower | undefined
}>() {}

const FILE = "txindex.db"

const REMEDY = "Stop the node, delete the file and start again: the index is rebuilt from the stored blocks"

const MIGRATIONS = [
  `CREATE TABLE transactions (txid BLOB PRIMARY KEY, height INTEGER NOT NULL) WITHOUT ROWID, STRICT;
   CREATE INDEX transactions_by_height ON transactions (height);
   CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), height INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;`
]

/** The statements, prepared once. Throws what the driver throws where the file has other tables. */
const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    select: statement<[Bytes], { readonly height: number }>("SELECT height FROM transactions WHERE txid = ?"),
    insert: statement<[Bytes, number], never>("INSERT OR REPLACE INTO transactions (txid, height) VALUES (?, ?)"),
    remove: statement<[number], never>("DELETE FROM transactions WHERE height > ?"),
    readCursor: statement<[], { readonly height: number; readonly hash: Buffer }>("SELECT height, hash FROM cursor"),
    putCursor: statement<[number, Bytes], never>(
      "INSERT OR REPLACE INTO cursor (one, height, hash) VALUES (1, ?, ?)"
    )
  }
}

const make = (directory: string, pageSize: number) =>
  Effect.gen(function*() {
    const filename = join(directory, FILE)
    const database = yield* Effect.acquireRelease(
      attempt(() => openDatabase({ filename, pageSize, migrations: MIGRATIONS, remedy: REMEDY })),
      (database) => Effect.sync(() => database.close())
    )
    const { insert, putCursor, readCursor, remove, select } = yield* attempt(() => {
      try {
        return prepare(database)
      } catch (cause) {
        const found = `it is not a transaction index of svcd (${
          cause instanceof Error ? cause.message : String(cause)
        })`
        throw new StorageCorrupted({ file: filename, found, remedy: REMEDY })
      }
    })
    const run = <A>(doing: string, work: () => A): Effect.Effect<A, StorageFailure> =>
      attempt(() => guarded(filename, doing, REMEDY, work))

    const apply = database.transaction((blocks: ReadonlyArray<ConnectedBlock>) => {
      const rows = blocks.flatMap(({ block, height }) => block.transactions.map(({ txid }) => ({ txid, height })))
      // In the order of the keys the tree is written from one end to the other.
      rows.sort((a, b) => Buffer.compare(a.txid, b.txid))
      for (const { height, txid } of rows) insert.run(txid, height)
      const last = blocks.at(-1)
      if (last !== undefined) putCursor.run(last.height, last.hash)
    })
    const rewind = database.transaction((to: Cursor) => {
      remove.run(to.height)
      putCursor.run(to.height, to.hash)
    })
    const follower: Follower = {
      name: "txindex",
      cursor: run("reading", () => readCursor.get()),
      apply: (blocks) => run("writing", () => apply(blocks)),
      rewind: (to) => run("writing", () => rewind(to))
    }
    return TxIndex.of({
      enabled: true,
      heightOf: (txid) => run("reading", () => select.get(txid)?.height),
      follower
    })
  })

/** The index, in a file of its own in `directory`. */
export const layer = (options: {
  readonly directory: string
  readonly pageSize: number
}): Layer.Layer<TxIndex, StorageFailure> => Layer.scoped(TxIndex, make(options.directory, options.pageSize))

/** No index: nothing is known of any transaction. */
export const layerOff: Layer.Layer<TxIndex> = Layer.succeed(TxIndex, {
  enabled: false,
  heightOf: () => Effect.succeed(undefined),
  follower: undefined
})
