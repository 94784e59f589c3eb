import { firstOperationAt, heightOfOperation, type NameEntry, plain } from "../names/NameEntry.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { parseNameScript } from "../protocol/nameOperation.ts"
import { decodeTransaction } from "../protocol/transaction.ts"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS, type Statement } from "../storage/Database.ts"
import { StorageCorrupted } from "../storage/errors.ts"
import { type Inspected, newerThan } from "../storage/inspect.ts"
import type { PageGuard } from "../storage/PageGuard.ts"
import { repeated, rowWriter } from "../storage/rowWriter.ts"

// names-window.db: the headers of a light chain, and all name operations within its window, each with its transaction.
// A step of the chain is one database transaction. Methods throw `StorageFailure`. A damaged file is filled again from
// peers. Filling the window newest first only appends operations, since `place` counts backwards: otherwise each would
// change a page of its own. Only the index by name is written all over. Whether a name is signed is the sum of its
// operations, so a reorg that removes some has nothing else to undo.

const REMEDY = "Stop the node, delete the file and start again: it is filled again from peers"

/** The check of an operation against the one before it on the same name (column `link`). */
const Link = { UNCHECKED: 0, VALID: 1, INVALID: 2 } as const

/** The place of an operation is this minus its names.db number, `firstOperationAt(height)` plus its index. */
const PLACES = 2 ** 44

/** Converts the number of an operation to its place, and back. */
const turned = (number: number): number => PLACES - number

const MIGRATIONS = [
  `CREATE TABLE headers (page INTEGER PRIMARY KEY, records BLOB NOT NULL) STRICT;
   CREATE TABLE state (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     header_count INTEGER NOT NULL, high_hash BLOB, low INTEGER NOT NULL, floor INTEGER NOT NULL
   ) STRICT;`,
  PAGES_HAVE_SUMS,
  // Earlier tables, which had only the newest operations, are filled again.
  `DROP TABLE IF EXISTS operations;
   DROP TABLE IF EXISTS proofs;
   DROP TABLE IF EXISTS links;
   UPDATE state SET high_hash = NULL, low = 0, floor = 0;
   CREATE TABLE operations (
     place INTEGER PRIMARY KEY, name BLOB NOT NULL, first INTEGER NOT NULL, link INTEGER NOT NULL, vout INTEGER NOT NULL,
     tx BLOB NOT NULL
   ) STRICT;
   CREATE INDEX operations_by_name ON operations (name);
   CREATE INDEX unchecked_operations ON operations (place) WHERE link = ${Link.UNCHECKED};`
]

export const inspectedWindow = (filename: string): Inspected => ({
  filename,
  what: "names-window.db",
  remedy: REMEDY,
  newer: newerThan(MIGRATIONS.length, filename)
})

/** The blocks with known names, `low` to `high`. Complete when `low` is `floor`. */
export interface Window {
  /** Wire order. */
  readonly high: Bytes
  readonly low: Height
  readonly floor: Height
}

export interface StoredLight {
  readonly headerCount: number
  /** `undefined` before the first block. */
  readonly window: Window | undefined
}

export interface WindowOperation {
  readonly name: Bytes
  readonly id: number
  /** Whether it is a registration. */
  readonly first: boolean
  readonly tx: Bytes
  readonly vout: number
}

/** The signatures on a name since its last valid registration in the window. */
export interface Proof {
  /** Operations not checked yet. */
  readonly unchecked: number
  /** Operations that the previous owner did not allow. */
  readonly invalid: number
}

/** An operation to check: whether the previous owner allowed it. */
export interface LinkRow extends WindowOperation {
  /** The previous operation on the name, if in the window. */
  readonly before: Pick<WindowOperation, "id" | "tx" | "vout"> | undefined
  /** How many times operations had been removed when this was read, as a reorg may replace it. */
  readonly removals: number
}

interface StateRow {
  readonly header_count: number
  readonly high_hash: Buffer | null
  readonly low: number
  readonly floor: number
}

interface OperationRow {
  readonly name: Buffer
  readonly place: number
  readonly first: number
  readonly vout: number
  readonly tx: Buffer
}

const OPERATION = "place, name, first, vout, tx"

/** The window is complete. Until then, the operation before another one may still arrive. */
const IS_FILLED = "(SELECT high_hash IS NOT NULL AND low <= floor FROM state)"

const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    page: statement<[number], { readonly records: Buffer }>("SELECT records FROM headers WHERE page = ?"),
    pageCount: statement<[], { readonly pages: number }>("SELECT count(*) AS pages FROM headers"),
    putPage: statement<[number, Bytes], never>("INSERT OR REPLACE INTO headers (page, records) VALUES (?, ?)"),
    state: statement<[], StateRow>("SELECT header_count, high_hash, low, floor FROM state"),
    putState: statement<[number, Bytes | null, number, number], never>(
      "INSERT OR REPLACE INTO state (one, header_count, high_hash, low, floor) VALUES (1, ?, ?, ?, ?)"
    ),
    newest: statement<[Bytes], OperationRow>(
      `SELECT ${OPERATION} FROM operations WHERE name = ? ORDER BY place LIMIT 1`
    ),
    before: statement<[Bytes, number], Pick<OperationRow, "place" | "tx" | "vout">>(
      "SELECT place, tx, vout FROM operations WHERE name = ? AND place > ? ORDER BY place LIMIT 1"
    ),
    newestFrom: statement<[Bytes, number], OperationRow>(
      `SELECT ${OPERATION} FROM operations JOIN (
         SELECT min(place) AS newest FROM operations WHERE name >= ? GROUP BY name ORDER BY name LIMIT ?
       ) ON place = newest ORDER BY name`
    ),
    namesFrom: statement<[Bytes, number], Pick<OperationRow, "name">>(
      "SELECT DISTINCT name FROM operations WHERE name >= ? ORDER BY name LIMIT ?"
    ),
    from: statement<[number], OperationRow>(`SELECT ${OPERATION} FROM operations WHERE place <= ? ORDER BY place DESC`),
    removeFrom: statement<[number], never>("DELETE FROM operations WHERE place <= ?"),
    removeBelow: statement<[number], never>("DELETE FROM operations WHERE place > ?"),
    proof: statement<[{ readonly name: Bytes }], Proof>(
      `SELECT count(*) FILTER (WHERE link = ${Link.UNCHECKED}) AS unchecked,
         count(*) FILTER (WHERE link = ${Link.INVALID}) AS invalid
       FROM operations WHERE name = $name AND place <= coalesce(
         (SELECT min(place) FROM operations WHERE name = $name AND first = 1 AND link = ${Link.VALID}), ${PLACES})`
    ),
    nextLinks: statement<[number], OperationRow>(
      `SELECT ${OPERATION} FROM operations WHERE link = ${Link.UNCHECKED} AND ${IS_FILLED} ORDER BY place DESC LIMIT ?`
    ),
    linksOf: statement<[Bytes, number], OperationRow>(
      `SELECT ${OPERATION} FROM operations WHERE name = ? AND link = ${Link.UNCHECKED} AND ${IS_FILLED} LIMIT ?`
    ),
    setLink: statement<[number, number], never>(
      `UPDATE operations SET link = ? WHERE place = ? AND link = ${Link.UNCHECKED}`
    ),
    clear: statement<[], never>("DELETE FROM operations"),
    countNames: statement<[], { readonly names: number }>("SELECT count(DISTINCT name) AS names FROM operations"),
    countLinks: statement<[], { readonly links: number }>(
      `SELECT count(*) AS links FROM operations WHERE link = ${Link.UNCHECKED}`
    )
  }
}

type Statements = ReturnType<typeof prepare>

export interface WindowChanges {
  readonly add: (operations: ReadonlyArray<WindowOperation>) => void
  /** Records whether the previous owner allowed an operation. */
  readonly checked: (link: Pick<LinkRow, "id" | "removals">, valid: boolean) => void
  readonly removeFrom: (height: Height) => void
  /** Removes the operations below a height, where no living name has its newest one. */
  readonly removeBelow: (height: Height) => void
  /** Removes all operations to restart the window. */
  readonly clear: () => void
  readonly putState: (state: StoredLight) => void
  readonly putPages: (pages: ReadonlyArray<{ readonly page: number; readonly bytes: Uint8Array }>) => void
}

const insertSql = (rows: number): string =>
  `INSERT INTO operations (place, name, first, link, vout, tx) VALUES ${
    repeated(`(?, ?, ?, ${Link.UNCHECKED}, ?, ?)`, rows)
  }`

/** The number of removals, and of unchecked operations; `undefined` if these must be counted. */
interface Tally {
  removals: number
  unchecked: number | undefined
}

const changesOf = (database: Database, statements: Statements, tally: Tally): WindowChanges => {
  const insert = rowWriter<WindowOperation>(database, insertSql, ({ first, id, name, tx, vout }, into) => {
    into.push(turned(id), name, first ? 1 : 0, vout, tx)
  })
  const removed = (): void => {
    tally.removals++
    tally.unchecked = undefined
  }
  return {
    add: (operations) => {
      insert(operations)
      if (tally.unchecked !== undefined) tally.unchecked += operations.length
    },
    checked: ({ id, removals }, valid) => {
      if (removals !== tally.removals) return
      const { changes } = statements.setLink.run(valid ? Link.VALID : Link.INVALID, turned(id))
      if (tally.unchecked !== undefined) tally.unchecked -= changes
    },
    removeFrom: (height) => {
      statements.removeFrom.run(turned(firstOperationAt(height)))
      removed()
    },
    removeBelow: (height) => {
      // Nothing replaces these operations, so pending checks stay valid.
      if (statements.removeBelow.run(turned(firstOperationAt(height))).changes > 0) tally.unchecked = undefined
    },
    clear: () => {
      statements.clear.run()
      removed()
    },
    putState: ({ headerCount, window }) =>
      void statements.putState.run(headerCount, window?.high ?? null, window?.low ?? 0, window?.floor ?? 0),
    putPages: (pages) => {
      for (const { bytes, page } of pages) statements.putPage.run(page, bytes)
    }
  }
}

const operationOf = ({ first, name, place, tx, vout }: OperationRow): WindowOperation => ({
  id: turned(place),
  name: plain(name),
  first: first === 1,
  tx: plain(tx),
  vout
})

/** An operation as in names.db. Throws for an output that sets no name, as the file is then damaged. */
const recordOf = ({ place, tx, vout }: OperationRow): NameEntry => {
  const transaction = decodeTransaction(plain(tx))
  const output = transaction.outputs[vout]
  const parsed = output === undefined ? undefined : parseNameScript(output.script)
  if (output === undefined || parsed === undefined || parsed.operation.op === "name_new") {
    throw new TypeError("the output sets no name")
  }
  const { address, operation } = parsed
  return {
    name: operation.name,
    value: operation.value,
    height: heightOfOperation(turned(place)),
    txid: transaction.txid,
    vout,
    address,
    op: operation.op,
    amount: output.value
  }
}

export class WindowFile {
  readonly filename: string
  readonly guard: PageGuard
  private readonly database: Database
  private readonly statements: Statements
  private readonly changes: WindowChanges
  private readonly tally: Tally = { removals: 0, unchecked: undefined }

  constructor(filename: string, pageSize: number) {
    this.filename = filename
    const { database, guard } = openDatabase({ filename, pageSize, migrations: MIGRATIONS, remedy: REMEDY })
    this.database = database
    this.guard = guard
    try {
      this.statements = prepare(database)
      this.changes = changesOf(database, this.statements, this.tally)
    } catch (cause) {
      guard.close()
      throw this.corrupted(`it is not a window of svcd (${cause instanceof Error ? cause.message : String(cause)})`)
    }
  }

  close(): void {
    this.guard.close()
  }

  corrupted(found: string): StorageCorrupted {
    return new StorageCorrupted({ file: this.filename, found, remedy: REMEDY })
  }

  private reading<A>(work: (statements: Statements) => A): A {
    return guarded({ file: this.filename, doing: "reading", remedy: REMEDY }, () => work(this.statements))
  }

  /** Reads a row. A value that its table does not allow means damage. */
  private decoded<A>(work: () => A): A {
    try {
      return work()
    } catch (cause) {
      throw this.corrupted(String(cause))
    }
  }

  change<A>(work: (changes: WindowChanges) => A): A {
    try {
      return guarded({ file: this.filename, doing: "writing", remedy: REMEDY }, () => {
        const result = this.database.transaction(() => work(this.changes))()
        this.guard.committed()
        return result
      })
    } catch (cause) {
      this.tally.unchecked = undefined
      throw cause
    }
  }

  state(): StoredLight | undefined {
    const row = this.reading(({ state }) => state.get())
    if (row === undefined) return undefined
    const { floor, header_count: headerCount, high_hash: high, low } = row
    return { headerCount, window: high === null ? undefined : { high: Uint8Array.from(high), low, floor } }
  }

  *pages(): Iterable<Uint8Array> {
    const count = this.reading(({ pageCount }) => pageCount.get())?.pages ?? 0
    for (let page = 0; page < count; page++) {
      const row = this.reading(({ page: read }) => read.get(page))
      if (row === undefined) throw this.corrupted(`page ${page} of the headers is missing`)
      yield Uint8Array.from(row.records)
    }
  }

  /** The newest operation on a name in the window. */
  newest(name: Bytes): NameEntry | undefined {
    const row = this.reading(({ newest }) => newest.get(name))
    return row === undefined ? undefined : this.decoded(() => recordOf(row))
  }

  /** The operations from a height on, in chain order. */
  operationsFrom(height: Height): ReadonlyArray<NameEntry> {
    const rows = this.reading(({ from }) => from.all(turned(firstOperationAt(height))))
    return this.decoded(() => rows.map(recordOf))
  }

  /** The newest operation on each name from a name on, in byte order. */
  newestFrom(name: Bytes, limit: number): ReadonlyArray<NameEntry> {
    const rows = this.reading(({ newestFrom }) => newestFrom.all(name, limit))
    return this.decoded(() => rows.map(recordOf))
  }

  /** The next names from one on, in byte order. */
  namesFrom(name: Bytes, limit: number): ReadonlyArray<Bytes> {
    return this.reading(({ namesFrom }) => namesFrom.all(name, limit)).map((row) => row.name)
  }

  proof(name: Bytes): Proof {
    return this.reading(({ proof }) => proof.get({ name })) ?? { unchecked: 0, invalid: 0 }
  }

  private links(rows: ReadonlyArray<OperationRow>): ReadonlyArray<LinkRow> {
    const { removals } = this.tally
    return rows.map((row) => {
      const before = this.reading(({ before }) => before.get(row.name, row.place))
      return this.decoded(() => ({
        ...operationOf(row),
        before: before === undefined
          ? undefined
          : { id: turned(before.place), tx: plain(before.tx), vout: before.vout },
        removals
      }))
    })
  }

  /** The next operations to check, oldest first; none before the window is complete. */
  nextLinks(limit: number): ReadonlyArray<LinkRow> {
    return this.links(this.reading(({ nextLinks }) => nextLinks.all(limit)))
  }

  /** The operations on a name to check; none before the window is complete. */
  linksOf(name: Bytes, limit: number): ReadonlyArray<LinkRow> {
    return this.links(this.reading(({ linksOf }) => linksOf.all(name, limit)))
  }

  /** Counts names by reading the whole index of names. */
  countNames(): number {
    return this.reading(({ countNames }) => countNames.get())?.names ?? 0
  }

  countUnchecked(): number {
    return this.tally.unchecked ??= this.reading(({ countLinks }) => countLinks.get())?.links ?? 0
  }
}
