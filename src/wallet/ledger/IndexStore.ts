import { basename } from "node:path"
import type { Cursor } from "../../chain/write/Follower.ts"
import { type Bytes, displayHash, equal } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS, type Statement } from "../../storage/Database.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { newerThan, removeDatabase } from "../../storage/inspect.ts"
import type { PageGuard } from "../../storage/PageGuard.ts"

/** A transaction of the wallet in a block of the best chain. */
export interface ConfirmedRow {
  readonly bytes: Bytes
  readonly height: number
  /** Of the block, wire order. */
  readonly hash: Bytes
  /** Among the transactions of the block. */
  readonly position: number
  /** Seconds since 1970. */
  readonly blockTime: number
  /** When the wallet saw it first. */
  readonly time: number
  readonly order: number
}

/** A row as it is read. */
export interface StoredRow extends Omit<ConfirmedRow, "bytes"> {
  readonly transaction: Transaction
}

/** What one step of the index changes. */
export interface IndexChange {
  /** By `txidKey`; the txid in wire order beside it. */
  readonly rows: ReadonlyArray<ConfirmedRow & { readonly txid: Bytes }>
  /** Transactions that cannot be mined any more, and the height of the block that is the reason. */
  readonly conflicts: ReadonlyArray<{ readonly txid: Bytes; readonly height: number }>
  /** Where the index stands afterwards; as before, where it is left out. */
  readonly cursor?: Cursor
}

const REMEDY = "Stop the node, delete the file and start again: it is rebuilt from the stored blocks and wallet.json"

const MIGRATIONS = [
  `CREATE TABLE transactions (
     txid BLOB PRIMARY KEY, bytes BLOB NOT NULL, height INTEGER NOT NULL, hash BLOB NOT NULL,
     position INTEGER NOT NULL, block_time INTEGER NOT NULL, time INTEGER NOT NULL, ord INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX transactions_by_height ON transactions (height);
   CREATE TABLE conflicts (txid BLOB PRIMARY KEY, height INTEGER NOT NULL) WITHOUT ROWID, STRICT;
   CREATE TABLE sources (descriptor TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
   CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), height INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;`,
  PAGES_HAVE_SUMS
]

/** What the file holds, but for the sources. */
export interface IndexContent extends Omit<IndexChange, "cursor"> {
  readonly cursor: Cursor | undefined
}

/** Where the file can be had from while the wallet is open: its ledger has all of it in memory. */
export interface IndexBackup {
  readonly content: () => IndexContent
  /** Told what was found before the file is made anew. */
  readonly damaged: (damage: StorageCorrupted) => void
}

interface Row {
  readonly txid: Buffer
  readonly bytes: Buffer
  readonly height: number
  readonly hash: Buffer
  readonly position: number
  readonly block_time: number
  readonly time: number
  readonly ord: number
}

/** Bytes of their own: the driver's buffers are subclasses, and some are views. */
const plain = (buffer: Buffer): Uint8Array => Uint8Array.from(buffer)

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Result>(sql: string): Statement<Bind, Result> => database.prepare(sql)
  return {
    all: statement<[], Row>(
      "SELECT txid, bytes, height, hash, position, block_time, time, ord FROM transactions ORDER BY ord, height, position"
    ),
    put: statement<[Bytes, Bytes, number, Bytes, number, number, number, number], never>(
      "INSERT OR REPLACE INTO transactions (txid, bytes, height, hash, position, block_time, time, ord) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    ),
    cut: statement<[number], never>("DELETE FROM transactions WHERE height > ?"),
    conflicts: statement<[], { readonly txid: Buffer; readonly height: number }>("SELECT txid, height FROM conflicts"),
    putConflict: statement<[Bytes, number], never>("INSERT OR REPLACE INTO conflicts (txid, height) VALUES (?, ?)"),
    cutConflicts: statement<[number], never>("DELETE FROM conflicts WHERE height > ?"),
    sources: statement<[], { readonly descriptor: string }>("SELECT descriptor FROM sources"),
    putSource: statement<[string], never>("INSERT OR REPLACE INTO sources (descriptor) VALUES (?)"),
    dropCursor: statement<[], never>("DELETE FROM cursor"),
    dropSource: statement<[string], never>("DELETE FROM sources WHERE descriptor = ?"),
    cursor: statement<[], { readonly height: number; readonly hash: Buffer }>("SELECT height, hash FROM cursor"),
    putCursor: statement<[number, Bytes], never>("INSERT OR REPLACE INTO cursor (one, height, hash) VALUES (1, ?, ?)")
  }
}

/** The file, open. Throws `StorageFailure`. */
const openIndex = (filename: string, pageSize: number) => {
  const { database, guard } = openDatabase({ filename, pageSize, migrations: MIGRATIONS, remedy: REMEDY })
  try {
    return { database, guard, statements: prepare(database) }
  } catch (cause) {
    guard.close()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StorageCorrupted({ file: filename, found: `it is no index of a wallet (${reason})`, remedy: REMEDY })
  }
}

/** What a look at the file before it is opened has to know. */
export const inspectedIndex = (filename: string) => ({
  filename,
  what: basename(filename),
  remedy: REMEDY,
  newer: newerThan(MIGRATIONS.length, filename),
  instead: "the index is made anew from the stored blocks and wallet.json"
})

/**
 * The file of a wallet's confirmed transactions. All of it can be had again from the blocks. Its methods throw
 * `StorageFailure`.
 */
export class IndexStore {
  private readonly filename: string
  private readonly pageSize: number
  private opened: ReturnType<typeof openIndex>
  /** What is in the table of sources. */
  private readonly known: Set<string>
  private backup: IndexBackup | undefined

  constructor(filename: string, pageSize: number) {
    this.filename = filename
    this.pageSize = pageSize
    this.opened = openIndex(filename, pageSize)
    this.known = new Set(this.reading(() => this.statements.sources.all()).map(({ descriptor }) => descriptor))
  }

  private get statements(): ReturnType<typeof prepare> {
    return this.opened.statements
  }

  /** Compares the pages with their sums. */
  get guard(): PageGuard {
    return this.opened.guard
  }

  close(): void {
    this.guard.close()
  }

  /** From now on a file that is found damaged is made anew at once. */
  backUpFrom(backup: IndexBackup): void {
    this.backup = backup
  }

  /** Runs work on the file, once more where it was damaged and could be made anew. */
  private using<A>(doing: string, work: () => A): A {
    try {
      return guarded(this.filename, doing, REMEDY, work)
    } catch (damage) {
      if (this.backup === undefined || !(damage instanceof StorageCorrupted)) throw damage
      this.renew(damage)
      return guarded(this.filename, doing, REMEDY, work)
    }
  }

  /** Makes the file anew of what the backup has. */
  renew(damage: StorageCorrupted): void {
    const { backup } = this
    if (backup === undefined) throw damage
    backup.damaged(damage)
    const { conflicts, cursor, rows } = backup.content()
    guarded(this.filename, "writing", REMEDY, () => {
      this.guard.abandon()
      removeDatabase(this.filename)
      this.opened = openIndex(this.filename, this.pageSize)
      this.opened.database.transaction(() => {
        for (const source of this.known) this.statements.putSource.run(source)
        this.put({ rows, conflicts, ...cursor === undefined ? {} : { cursor } })
      })()
      // As much is on disk for certain as was before.
      this.guard.copyLog()
    })
  }

  private reading<A>(work: () => A): A {
    return this.using("reading", work)
  }

  private writing(work: () => void): void {
    this.using("writing", () => this.opened.database.transaction(work)())
    this.using("writing", () => this.guard.committed())
  }

  cursor(): Cursor | undefined {
    const row = this.reading(() => this.statements.cursor.get())
    return row === undefined ? undefined : { height: row.height, hash: plain(row.hash) }
  }

  /** In the order in which the wallet saw them. Throws `StorageCorrupted` for a row that holds another transaction. */
  rows(): ReadonlyArray<StoredRow> {
    return this.reading(() =>
      this.statements.all.all().map(({ block_time, bytes, hash, height, ord, position, time, txid }) => ({
        transaction: this.transactionOf(txid, bytes),
        height,
        hash: plain(hash),
        position,
        blockTime: block_time,
        time,
        order: ord
      }))
    )
  }

  private transactionOf(txid: Buffer, bytes: Buffer): Transaction {
    const damaged = (what: string): StorageCorrupted =>
      new StorageCorrupted({
        file: this.filename,
        found: `the row of ${displayHash(txid)} holds ${what}`,
        remedy: REMEDY
      })
    let transaction: Transaction
    try {
      transaction = decodeTransaction(plain(bytes))
    } catch (cause) {
      throw cause instanceof DecodeError ? damaged("no transaction") : cause
    }
    if (!equal(transaction.txid, txid)) throw damaged("another transaction")
    return transaction
  }

  /**
   * Ends when all that was written before is on disk for certain. The other writes may be lost with the power, which
   * costs no more than looking at their blocks again.
   */
  sync(): void {
    const cursor = this.cursor()
    // Before there is a place in the chain, there is nothing of it.
    if (cursor === undefined) return
    // Of a write in this mode SQLite syncs its log, and with it all writes before. One that leaves each byte as it is
    // would be no write, so the row is made anew.
    this.reading(() => this.opened.database.pragma("synchronous = FULL"))
    try {
      this.writing(() => {
        this.statements.dropCursor.run()
        this.statements.putCursor.run(cursor.height, cursor.hash)
      })
    } finally {
      this.reading(() => this.opened.database.pragma("synchronous = NORMAL"))
    }
  }

  conflicts(): IndexChange["conflicts"] {
    return this.reading(() =>
      this.statements.conflicts.all().map(({ height, txid }) => ({ txid: plain(txid), height }))
    )
  }

  /** What the chain was looked through for, up to the cursor. */
  sources(): ReadonlySet<string> {
    return new Set(this.known)
  }

  addSources(sources: Iterable<string>): void {
    const added = [...sources]
    this.writing(() => {
      for (const source of added) this.statements.putSource.run(source)
    })
    for (const source of added) this.known.add(source)
  }

  dropSource(source: string): void {
    this.writing(() => void this.statements.dropSource.run(source))
    this.known.delete(source)
  }

  /** Empties the file: nothing of it holds, or a chain begins at this place. */
  reset(sources: Iterable<string>, cursor: Cursor | undefined): void {
    const all = [...sources]
    this.writing(() => {
      this.opened.database.exec(
        "DELETE FROM transactions; DELETE FROM conflicts; DELETE FROM sources; DELETE FROM cursor"
      )
      for (const source of all) this.statements.putSource.run(source)
      if (cursor !== undefined) this.statements.putCursor.run(cursor.height, cursor.hash)
    })
    this.known.clear()
    for (const source of all) this.known.add(source)
  }

  write(change: IndexChange): void {
    this.writing(() => this.put(change))
  }

  private put({ conflicts, cursor, rows }: IndexChange): void {
    const { put, putConflict, putCursor } = this.statements
    for (const { blockTime, bytes, hash, height, order, position, time, txid } of rows) {
      put.run(txid, bytes, height, hash, position, blockTime, time, order)
    }
    for (const { height, txid } of conflicts) putConflict.run(txid, height)
    if (cursor !== undefined) putCursor.run(cursor.height, cursor.hash)
  }

  rewind(to: Cursor): void {
    this.writing(() => {
      this.statements.cut.run(to.height)
      this.statements.cutConflicts.run(to.height)
      this.statements.putCursor.run(to.height, to.hash)
    })
  }
}
