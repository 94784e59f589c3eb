import { basename } from "node:path"
import type { Cursor } from "../../chain/write/Follower.ts"
import { type Bytes, displayHash, equal } from "../../protocol/bytes.ts"
import { decodedOr } from "../../protocol/Reader.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS, type Statement } from "../../storage/Database.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { newerThan, removeDatabase } from "../../storage/inspect.ts"
import type { PageGuard } from "../../storage/PageGuard.ts"

export interface ConfirmedRow {
  readonly bytes: Bytes
  readonly height: number
  /** Wire order. */
  readonly hash: Bytes
  readonly position: number
  /** Seconds since 1970. */
  readonly blockTime: number
  /** When the wallet first saw it. */
  readonly time: number
  readonly order: number
}

export interface StoredRow extends Omit<ConfirmedRow, "bytes"> {
  readonly transaction: Transaction
}

export interface IndexChange {
  /** By `txidKey`; the txid is in wire order. */
  readonly rows: ReadonlyArray<ConfirmedRow & { readonly txid: Bytes }>
  /**
   * Unconfirmed transactions with the heights of blocks that spend their inputs; several per transaction are possible.
   */
  readonly conflicts: ReadonlyArray<{ readonly txid: Bytes; readonly height: number }>
  /** If omitted, the cursor stays. */
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
  PAGES_HAVE_SUMS,
  // Earlier, only the last such block was kept per transaction, shared with its descendants.
  `CREATE TABLE conflicting (txid BLOB, height INTEGER, PRIMARY KEY (txid, height)) WITHOUT ROWID, STRICT;
   INSERT INTO conflicting (txid, height) SELECT txid, height FROM conflicts;
   DROP TABLE conflicts;
   ALTER TABLE conflicting RENAME TO conflicts;`,
  // See `KeyChain.takeRecords`.
  "CREATE TABLE scripts (chain TEXT PRIMARY KEY, records BLOB NOT NULL) STRICT;"
]

export interface IndexContent extends Omit<IndexChange, "cursor"> {
  readonly cursor: Cursor | undefined
}

/** Rebuilds the file while the wallet is open: the ledger has all content in memory. */
export interface IndexBackup {
  readonly content: () => IndexContent
  /** Called with the damage before the rebuild. */
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

/** The driver's buffers are subclasses of `Uint8Array`, and some are views. */
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
    drop: statement<[Bytes], never>("DELETE FROM transactions WHERE txid = ?"),
    dropConflict: statement<[Bytes], never>("DELETE FROM conflicts WHERE txid = ?"),
    cut: statement<[number], never>("DELETE FROM transactions WHERE height > ?"),
    conflicts: statement<[], { readonly txid: Buffer; readonly height: number }>("SELECT txid, height FROM conflicts"),
    putConflict: statement<[Bytes, number], never>("INSERT OR IGNORE INTO conflicts (txid, height) VALUES (?, ?)"),
    cutConflicts: statement<[number], never>("DELETE FROM conflicts WHERE height > ?"),
    sources: statement<[], { readonly descriptor: string }>("SELECT descriptor FROM sources"),
    putSource: statement<[string], never>("INSERT OR REPLACE INTO sources (descriptor) VALUES (?)"),
    scripts: statement<[], { readonly chain: string; readonly records: Buffer }>("SELECT chain, records FROM scripts"),
    putScripts: statement<[string, Bytes], never>("INSERT OR REPLACE INTO scripts (chain, records) VALUES (?, ?)"),
    dropCursor: statement<[], never>("DELETE FROM cursor"),
    dropSource: statement<[string], never>("DELETE FROM sources WHERE descriptor = ?"),
    cursor: statement<[], { readonly height: number; readonly hash: Buffer }>("SELECT height, hash FROM cursor"),
    putCursor: statement<[number, Bytes], never>("INSERT OR REPLACE INTO cursor (one, height, hash) VALUES (1, ?, ?)")
  }
}

/** Throws `StorageFailure`. */
const openIndex = (filename: string, pageSize: number) => {
  const { database, guard } = openDatabase({ filename, pageSize, migrations: MIGRATIONS, remedy: REMEDY })
  try {
    return { database, guard, statements: prepare(database) }
  } catch (cause) {
    guard.close()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StorageCorrupted({ file: filename, found: `it is not the index of a wallet (${reason})`, remedy: REMEDY })
  }
}

/** For inspection before opening. */
export const inspectedIndex = (filename: string) => ({
  filename,
  what: basename(filename),
  remedy: REMEDY,
  newer: newerThan(MIGRATIONS.length, filename),
  instead: "the index is rebuilt from the stored blocks and wallet.json"
})

/** The confirmed transactions of a wallet, which can be rebuilt from the blocks. Methods throw `StorageFailure`. */
export class IndexStore {
  readonly filename: string
  private readonly pageSize: number
  private opened: ReturnType<typeof openIndex>
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

  get guard(): PageGuard {
    return this.opened.guard
  }

  close(): void {
    this.guard.close()
  }

  /** From now on, damage is repaired at once. */
  backUpFrom(backup: IndexBackup): void {
    this.backup = backup
  }

  /** After a repair of damage, runs the work once more. */
  private using<A>(doing: string, work: () => A): A {
    try {
      return guarded({ file: this.filename, doing, remedy: REMEDY }, work)
    } catch (damage) {
      if (this.backup === undefined || !(damage instanceof StorageCorrupted)) throw damage
      this.renew(damage)
      return guarded({ file: this.filename, doing, remedy: REMEDY }, work)
    }
  }

  renew(damage: StorageCorrupted): void {
    const { backup } = this
    if (backup === undefined) throw damage
    backup.damaged(damage)
    const { conflicts, cursor, rows } = backup.content()
    guarded({ file: this.filename, doing: "writing", remedy: REMEDY }, () => {
      this.guard.abandon()
      removeDatabase(this.filename)
      this.opened = openIndex(this.filename, this.pageSize)
      this.opened.database.transaction(() => {
        for (const source of this.known) this.statements.putSource.run(source)
        this.put({ rows, conflicts, ...cursor === undefined ? {} : { cursor } })
      })()
      // Restores the durability of the earlier content.
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

  /** In arrival order. Throws `StorageCorrupted` for an invalid transaction. */
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
    const transaction = decodedOr(() => decodeTransaction(plain(bytes)), () => {
      throw damaged("no transaction")
    })
    if (!equal(transaction.txid, txid)) throw damaged("another transaction")
    return transaction
  }

  /** Makes all earlier writes durable. Losing others at a power failure costs only a rescan. */
  sync(): void {
    const cursor = this.cursor()
    // Without a cursor the file has no content.
    if (cursor === undefined) return
    // A write in this mode makes SQLite sync its log with all earlier writes. A write that changes no byte would be
    // skipped, so the row is deleted and inserted again.
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

  scripts(): ReadonlyMap<string, Bytes> {
    return new Map(
      this.reading(() => this.statements.scripts.all()).map(({ chain, records }) => [chain, plain(records)] as const)
    )
  }

  putScripts(scripts: ReadonlyMap<string, Bytes>): void {
    if (scripts.size === 0) return
    this.writing(() => {
      for (const [chain, records] of scripts) this.statements.putScripts.run(chain, records)
    })
  }

  /** Sources scanned up to the cursor. */
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

  /** For invalid content, or an index that starts at this cursor. */
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

  remove(txid: Bytes): void {
    this.writing(() => {
      this.statements.drop.run(txid)
      this.statements.dropConflict.run(txid)
    })
  }

  rewind(to: Cursor): void {
    this.writing(() => {
      this.statements.cut.run(to.height)
      this.statements.cutConflicts.run(to.height)
      this.statements.putCursor.run(to.height, to.hash)
    })
  }
}
