import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { copyWhenDue } from "../storage/copyWhenDue.ts"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS, type Statement } from "../storage/Database.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import { StorageCorrupted, type StorageFailure } from "../storage/errors.ts"
import { newerThan, removeDamaged, removeDatabase } from "../storage/inspect.ts"
import { makeRepair, pagesOf } from "../storage/repair.ts"
import { repeated, rowWriter } from "../storage/rowWriter.ts"
import { attempt } from "./attempt.ts"
import { applied, type ConnectedBlock, type Cursor, type Follower } from "./write/Follower.ts"

/** The block height of each transaction (`-txindex`). A follower of Chain. */
export class TxIndex extends Context.Tag("svcd/TxIndex")<TxIndex, {
  readonly enabled: boolean
  /** The height of a transaction's block by its txid in wire order; `undefined` if not indexed. */
  readonly heightOf: (txid: Bytes) => Effect.Effect<number | undefined, StorageFailure>
  readonly follower: Follower | undefined
}>() {}

const FILE = "txindex.db"

const REMEDY = "Stop the node, delete the file and start again: the index is rebuilt from the stored blocks"

const MIGRATIONS = [
  `CREATE TABLE transactions (txid BLOB PRIMARY KEY, height INTEGER NOT NULL) WITHOUT ROWID, STRICT;
   CREATE INDEX transactions_by_height ON transactions (height);
   CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), height INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;`,
  PAGES_HAVE_SUMS
]

interface TransactionRow {
  readonly txid: Bytes
  readonly height: Height
}

/** Prepares the statements. Throws the driver's error if the file has other tables. */
const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    select: statement<[Bytes], { readonly height: Height }>("SELECT height FROM transactions WHERE txid = ?"),
    insert: rowWriter<TransactionRow>(
      database,
      (rows) => `INSERT OR REPLACE INTO transactions (txid, height) VALUES ${repeated("(?, ?)", rows)}`,
      ({ height, txid }, cells) => cells.push(txid, height)
    ),
    remove: statement<[number], never>("DELETE FROM transactions WHERE height > ?"),
    readCursor: statement<[], { readonly height: Height; readonly hash: Buffer }>("SELECT height, hash FROM cursor"),
    putCursor: statement<[number, Bytes], never>(
      "INSERT OR REPLACE INTO cursor (one, height, hash) VALUES (1, ?, ?)"
    )
  }
}

const open = (filename: string, pageSize: number) => {
  const { database, guard } = openDatabase({ filename, pageSize, migrations: MIGRATIONS, remedy: REMEDY })
  try {
    return { database, guard, ...prepare(database) }
  } catch (cause) {
    guard.close()
    const found = `it is not a transaction index of svcd (${cause instanceof Error ? cause.message : String(cause)})`
    throw new StorageCorrupted({ file: filename, found, remedy: REMEDY })
  }
}

type Opened = ReturnType<typeof open>

const applyTo = ({ database, insert, putCursor }: Opened, blocks: ReadonlyArray<ConnectedBlock>): void =>
  database.transaction(() => {
    const rows = blocks.flatMap(({ block, height }) => block.transactions.map(({ txid }) => ({ txid, height })))
    // Inserts in key order write the tree sequentially.
    rows.sort((a, b) => Buffer.compare(a.txid, b.txid))
    insert(rows)
    const last = blocks.at(-1)
    if (last !== undefined) putCursor.run(last.height, last.hash)
  })()

const rewindTo = ({ database, putCursor, remove }: Opened, to: Cursor): void =>
  database.transaction(() => {
    remove.run(to.height)
    putCursor.run(to.height, to.hash)
  })()

const make = (directory: string, pageSize: number) =>
  Effect.gen(function*() {
    const filename = join(directory, FILE)
    const inspected = { filename, what: FILE, remedy: REMEDY, newer: newerThan(MIGRATIONS.length, filename) }
    yield* removeDamaged({ ...inspected, instead: "the index is rebuilt from the stored blocks" })
    let store: Opened = yield* attempt(() => open(filename, pageSize))
    yield* Effect.addFinalizer(() => Effect.sync(() => store.guard.close()))
    const repair = yield* makeRepair(
      inspected,
      attempt(() => {
        store.guard.abandon()
        removeDatabase(filename)
        store = open(filename, pageSize)
      })
    )
    const health = yield* DataHealth
    yield* health.register(pagesOf(inspected, () => store.guard, repair.noticed))
    const run = <A>(doing: string, work: (store: Opened) => A): Effect.Effect<A, StorageFailure> =>
      Effect.tapError(
        attempt(() => guarded({ file: filename, doing, remedy: REMEDY }, () => work(store))),
        repair.noticed
      )
    const change = (work: (store: Opened) => void): Effect.Effect<void, StorageFailure> =>
      Effect.zipRight(
        run("writing", work),
        Effect.suspend(() => copyWhenDue(store.guard, { file: filename, doing: "writing", remedy: REMEDY }))
      ).pipe(Effect.tapError(repair.noticed))

    const follower: Follower = {
      name: "txindex",
      cursor: run("reading", ({ readCursor }) => readCursor.get()),
      apply: (blocks) =>
        change((store) => applyTo(store, blocks)).pipe(
          Effect.withSpan("svcd.txindex.apply", { attributes: applied(blocks) })
        ),
      rewind: (to) =>
        change((store) => rewindTo(store, to)).pipe(
          Effect.withSpan("svcd.txindex.rewind", { attributes: { height: to.height } })
        ),
      repair
    }
    return TxIndex.of({
      enabled: true,
      heightOf: (txid) => run("reading", ({ select }) => select.get(txid)?.height),
      follower
    })
  })

export const layer = (options: {
  readonly directory: string
  readonly pageSize: number
}): Layer.Layer<TxIndex, StorageFailure, DataHealth> => Layer.scoped(TxIndex, make(options.directory, options.pageSize))

export const layerOff: Layer.Layer<TxIndex> = Layer.succeed(TxIndex, {
  enabled: false,
  heightOf: () => Effect.succeed(undefined),
  follower: undefined
})
