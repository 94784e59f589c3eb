import type { Bytes } from "../protocol/bytes.ts"
import { type Database, PAGES_HAVE_SUMS } from "../storage/Database.ts"

// The tables and statements of names-window.db.

/** The check of an operation against the one before it on the same name (column `link`). */
export const Link = { UNCHECKED: 0, VALID: 1, INVALID: 2 } as const

/** The place of an operation is this minus its names.db number, `firstOperationAt(height)` plus its index. */
export const PLACES = 2 ** 44

/** Converts the number of an operation to its place, and back. */
export const turned = (number: number): number => PLACES - number

export const WINDOW_MIGRATIONS = [
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
   CREATE INDEX unchecked_operations ON operations (place) WHERE link = ${Link.UNCHECKED};`,
  // What proofs need, with -nameproofs (windowProofs.ts). A head is at the place of its block's first operation.
  `ALTER TABLE operations ADD COLUMN branch BLOB;
   CREATE TABLE heads (place INTEGER PRIMARY KEY, head BLOB NOT NULL, coinbase BLOB NOT NULL) STRICT;`,
  // With -nameproofs, too: the first 8 bytes of the script hash by which Electrum clients find the name, and of the
  // transaction's hash. A window that keeps proofs without them is filled again.
  `ALTER TABLE operations ADD COLUMN script BLOB;
   ALTER TABLE operations ADD COLUMN txid BLOB;
   CREATE INDEX operations_by_script ON operations (script) WHERE script IS NOT NULL;
   CREATE INDEX operations_by_txid ON operations (txid) WHERE txid IS NOT NULL;
   DELETE FROM heads;`
]

interface StateRow {
  readonly header_count: number
  readonly high_hash: Buffer | null
  readonly low: number
  readonly floor: number
}

export interface WindowRow {
  readonly name: Buffer
  readonly place: number
  readonly first: number
  readonly vout: number
  readonly tx: Buffer
}

/** An operation with its `branch`; `null` if it was stored without. */
export interface ProvenRow extends WindowRow {
  readonly branch: Buffer | null
}

export interface HeadRow {
  readonly place: number
  readonly head: Buffer
  readonly coinbase: Buffer
}

/** What this file's readers use of the driver's statements. */
interface WindowStatement<Bind extends Array<unknown>, Row> {
  readonly get: (...bind: Bind) => Row | undefined
  readonly all: (...bind: Bind) => ReadonlyArray<Row>
  readonly run: (...bind: Bind) => { readonly changes: number }
}

const OPERATION = "place, name, first, vout, tx"

/** The window is complete. Until then, the operation before another one may still arrive. */
const IS_FILLED = "(SELECT high_hash IS NOT NULL AND low <= floor FROM state)"

export const prepareWindow = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): WindowStatement<Bind, Row> =>
    database.prepare<Bind, Row>(sql)
  return {
    page: statement<[number], { readonly records: Buffer }>("SELECT records FROM headers WHERE page = ?"),
    pageCount: statement<[], { readonly pages: number }>("SELECT count(*) AS pages FROM headers"),
    putPage: statement<[number, Bytes], never>("INSERT OR REPLACE INTO headers (page, records) VALUES (?, ?)"),
    state: statement<[], StateRow>("SELECT header_count, high_hash, low, floor FROM state"),
    putState: statement<[number, Bytes | null, number, number], never>(
      "INSERT OR REPLACE INTO state (one, header_count, high_hash, low, floor) VALUES (1, ?, ?, ?, ?)"
    ),
    newest: statement<[Bytes], WindowRow>(
      `SELECT ${OPERATION} FROM operations WHERE name = ? ORDER BY place LIMIT 1`
    ),
    before: statement<[Bytes, number], Pick<WindowRow, "place" | "tx" | "vout">>(
      "SELECT place, tx, vout FROM operations WHERE name = ? AND place > ? ORDER BY place LIMIT 1"
    ),
    newestFrom: statement<[Bytes, number], WindowRow>(
      `SELECT ${OPERATION} FROM operations JOIN (
         SELECT min(place) AS newest FROM operations WHERE name >= ? GROUP BY name ORDER BY name LIMIT ?
       ) ON place = newest ORDER BY name`
    ),
    namesFrom: statement<[Bytes, number], Pick<WindowRow, "name">>(
      "SELECT DISTINCT name FROM operations WHERE name >= ? ORDER BY name LIMIT ?"
    ),
    from: statement<[number], WindowRow>(`SELECT ${OPERATION} FROM operations WHERE place <= ? ORDER BY place DESC`),
    removeFrom: statement<[number], never>("DELETE FROM operations WHERE place <= ?"),
    removeBelow: statement<[number], never>("DELETE FROM operations WHERE place > ?"),
    proof: statement<[{ readonly name: Bytes }], { readonly unchecked: number; readonly invalid: number }>(
      `SELECT count(*) FILTER (WHERE link = ${Link.UNCHECKED}) AS unchecked,
         count(*) FILTER (WHERE link = ${Link.INVALID}) AS invalid
       FROM operations WHERE name = $name AND place <= coalesce(
         (SELECT min(place) FROM operations WHERE name = $name AND first = 1 AND link = ${Link.VALID}), ${PLACES})`
    ),
    nextLinks: statement<[number], WindowRow>(
      `SELECT ${OPERATION} FROM operations WHERE link = ${Link.UNCHECKED} AND ${IS_FILLED} ORDER BY place DESC LIMIT ?`
    ),
    linksOf: statement<[Bytes, number], WindowRow>(
      `SELECT ${OPERATION} FROM operations WHERE name = ? AND link = ${Link.UNCHECKED} AND ${IS_FILLED} LIMIT ?`
    ),
    setLink: statement<[number, number], never>(
      `UPDATE operations SET link = ? WHERE place = ? AND link = ${Link.UNCHECKED}`
    ),
    clear: statement<[], never>("DELETE FROM operations"),
    provenOf: statement<[Bytes, number], ProvenRow>(
      `SELECT ${OPERATION}, branch FROM operations WHERE name = ? ORDER BY place LIMIT ?`
    ),
    provenBetween: statement<[number, number], ProvenRow>(
      `SELECT ${OPERATION}, branch FROM operations WHERE place <= ? AND place > ? ORDER BY place DESC`
    ),
    ofScript: statement<[Bytes, number], WindowRow>(
      `SELECT ${OPERATION} FROM operations WHERE script = ? ORDER BY place LIMIT ?`
    ),
    ofTxid: statement<[Bytes], ProvenRow>(
      `SELECT ${OPERATION}, branch FROM operations WHERE txid = ? ORDER BY place`
    ),
    putHead: statement<[number, Bytes, Bytes], never>(
      "INSERT OR REPLACE INTO heads (place, head, coinbase) VALUES (?, ?, ?)"
    ),
    headsFrom: statement<[number, number], HeadRow>(
      "SELECT place, head, coinbase FROM heads WHERE place <= ? ORDER BY place DESC LIMIT ?"
    ),
    removeHeadsFrom: statement<[number], never>("DELETE FROM heads WHERE place <= ?"),
    removeHeadsBelow: statement<[number], never>("DELETE FROM heads WHERE place > ?"),
    clearHeads: statement<[], never>("DELETE FROM heads"),
    forgetWindow: statement<[], never>("UPDATE state SET high_hash = NULL, low = 0, floor = 0"),
    countNames: statement<[], { readonly names: number }>("SELECT count(DISTINCT name) AS names FROM operations"),
    countLinks: statement<[], { readonly links: number }>(
      `SELECT count(*) AS links FROM operations WHERE link = ${Link.UNCHECKED}`
    )
  }
}

export type WindowStatements = ReturnType<typeof prepareWindow>
