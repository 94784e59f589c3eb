import type { NameEntry } from "../names/NameEntry.ts"
import { firstOperationAt, heightOfOperation } from "../names/NameEntry.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { parseNameScript } from "../protocol/nameOperation.ts"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS, type Statement } from "../storage/Database.ts"
import { StorageCorrupted } from "../storage/errors.ts"
import { type Inspected, newerThan } from "../storage/inspect.ts"
import type { PageGuard } from "../storage/PageGuard.ts"

/**
 * names-window.db: the headers of a light chain, and the newest operations on each name within its window. One
 * transaction moves the window and its data. Methods throw `StorageFailure`. Everything comes from peers, so a file that
 * is damaged is filled again.
 */

const REMEDY = "Stop the node, delete the file and start again: it is filled again from peers"

/** An operation has the number that names.db gives it: `firstOperationAt(height)` plus its index in the block. */
const MIGRATIONS = [
  `CREATE TABLE headers (page INTEGER PRIMARY KEY, records BLOB NOT NULL) STRICT;
   CREATE TABLE state (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     header_count INTEGER NOT NULL, high_hash BLOB, low INTEGER NOT NULL, floor INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE operations (
     name BLOB NOT NULL, id INTEGER NOT NULL, txid BLOB NOT NULL, vout INTEGER NOT NULL, amount INTEGER NOT NULL,
     script BLOB NOT NULL, PRIMARY KEY (name, id)
   ) WITHOUT ROWID, STRICT;
   CREATE INDEX operations_by_id ON operations (id);
   CREATE TABLE proofs (
     name BLOB PRIMARY KEY, tail BLOB, since INTEGER NOT NULL, unchecked INTEGER NOT NULL, broken INTEGER
   ) WITHOUT ROWID, STRICT;
   CREATE TABLE links (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL, id INTEGER NOT NULL, tx BLOB NOT NULL, input INTEGER NOT NULL,
     script BLOB NOT NULL, amount INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX links_by_name ON links (name);`,
  PAGES_HAVE_SUMS
]

export const inspectedWindow = (filename: string): Inspected => ({
  filename,
  what: "names-window.db",
  remedy: REMEDY,
  newer: newerThan(MIGRATIONS.length, filename)
})

/** The blocks whose names are known: from `low` up to the block `high`. It is complete when `low` is `floor`. */
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

/** A NAME_FIRSTUPDATE or NAME_UPDATE in the window. */
export interface WindowOperation {
  readonly name: Bytes
  readonly id: number
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** Smallest units. */
  readonly amount: number
  /** The whole scriptPubKey. */
  readonly script: Bytes
}

/** What is known of the signatures on a name. */
export interface Proof {
  /** The transaction of its oldest known NAME_UPDATE, whose input spends an older operation; none after a registration. */
  readonly tail: Bytes | undefined
  /** The number of that operation, or of the registration. */
  readonly since: number
  /** Signatures in `links` that are not checked yet. */
  readonly unchecked: number
  /** The number of the first operation that its owner did not sign. */
  readonly broken: number | undefined
}

/** A signature to check: the input of a transaction that spends the output of an older operation. */
export interface Link {
  readonly name: Bytes
  /** The number of the operation that spends. */
  readonly id: number
  readonly tx: Bytes
  readonly input: number
  /** The scriptPubKey of the spent output, and its amount in smallest units. */
  readonly script: Bytes
  readonly amount: number
}

export interface LinkRow extends Link {
  readonly seq: number
}

interface StateRow {
  readonly header_count: number
  readonly high_hash: Buffer | null
  readonly low: number
  readonly floor: number
}

interface ProofRow {
  readonly tail: Buffer | null
  readonly since: number
  readonly unchecked: number
  readonly broken: number | null
}

const OPERATION = "name, id, txid, vout, amount, script"
const LINK = "name, id, tx, input, script, amount"

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
    newest: statement<[Bytes], WindowOperation>(
      `SELECT ${OPERATION} FROM operations WHERE name = ? ORDER BY id DESC LIMIT 1`
    ),
    oldest: statement<[Bytes], { readonly id: number }>(
      "SELECT id FROM operations WHERE name = ? ORDER BY id LIMIT 1"
    ),
    newestFrom: statement<[Bytes, number], WindowOperation>(
      `SELECT name, max(id) AS id, txid, vout, amount, script FROM operations WHERE name >= ?
       GROUP BY name ORDER BY name LIMIT ?`
    ),
    namesFrom: statement<[Bytes, number], Pick<WindowOperation, "name">>(
      "SELECT name FROM proofs WHERE name >= ? ORDER BY name LIMIT ?"
    ),
    from: statement<[number], WindowOperation>(
      `SELECT ${OPERATION} FROM operations WHERE id >= ? ORDER BY id`
    ),
    between: statement<[number, number], Pick<WindowOperation, "name" | "id" | "script">>(
      "SELECT name, id, script FROM operations WHERE id >= ? AND id < ?"
    ),
    put: statement<[Bytes, number, Bytes, number, number, Bytes], never>(
      `INSERT OR REPLACE INTO operations (${OPERATION}) VALUES (?, ?, ?, ?, ?, ?)`
    ),
    removeFrom: statement<[number], never>("DELETE FROM operations WHERE id >= ?"),
    removeOlder: statement<[Bytes, number], never>("DELETE FROM operations WHERE name = ? AND id < ?"),
    removeName: statement<[Bytes], never>("DELETE FROM proofs WHERE name = ?"),
    proof: statement<[Bytes], ProofRow>("SELECT tail, since, unchecked, broken FROM proofs WHERE name = ?"),
    putProof: statement<[Bytes, Bytes | null, number, number, number | null], never>(
      "INSERT OR REPLACE INTO proofs (name, tail, since, unchecked, broken) VALUES (?, ?, ?, ?, ?)"
    ),
    endTails: statement<[], never>("UPDATE proofs SET tail = NULL WHERE tail IS NOT NULL"),
    heal: statement<[number], never>("UPDATE proofs SET broken = NULL WHERE broken >= ?"),
    putLink: statement<[Bytes, number, Bytes, number, Bytes, number], never>(
      `INSERT INTO links (${LINK}) VALUES (?, ?, ?, ?, ?, ?)`
    ),
    nextLinks: statement<[number], LinkRow>(`SELECT seq, ${LINK} FROM links ORDER BY seq LIMIT ?`),
    linksOf: statement<[Bytes, number], LinkRow>(`SELECT seq, ${LINK} FROM links WHERE name = ? LIMIT ?`),
    linksFrom: statement<[number], { readonly name: Buffer }>("SELECT name FROM links WHERE id >= ?"),
    removeLinksFrom: statement<[number], never>("DELETE FROM links WHERE id >= ?"),
    removeLinksOf: statement<[Bytes], never>("DELETE FROM links WHERE name = ?"),
    removeLink: statement<[number, Bytes, number], never>("DELETE FROM links WHERE seq = ? AND name = ? AND id = ?"),
    clearOperations: statement<[], never>("DELETE FROM operations"),
    clearProofs: statement<[], never>("DELETE FROM proofs"),
    clearLinks: statement<[], never>("DELETE FROM links"),
    counts: statement<[], { readonly names: number; readonly links: number }>(
      "SELECT (SELECT count(*) FROM proofs) AS names, (SELECT count(*) FROM links) AS links"
    )
  }
}

type Statements = ReturnType<typeof prepare>

/** Changes within one transaction. */
export interface WindowChanges {
  readonly newest: (name: Bytes) => WindowOperation | undefined
  /** The number of the oldest stored operation on a name. */
  readonly oldest: (name: Bytes) => number | undefined
  readonly put: (operation: WindowOperation) => void
  readonly proof: (name: Bytes) => Proof | undefined
  readonly putProof: (name: Bytes, proof: Proof) => void
  readonly putLink: (link: Link) => void
  /** Removes the signatures on a name that are not checked yet: its chain begins again. */
  readonly removeLinks: (name: Bytes) => void
  /** Removes a signature that was checked. */
  readonly checked: (link: LinkRow, valid: boolean) => void
  /** Removes the operations from a height on, and what they proved. */
  readonly removeFrom: (height: Height) => void
  /** Removes the older operations on the names of the block at a height: no reorganization brings them back. */
  readonly forgetReplaced: (height: Height) => void
  /** Removes the names whose newest operation is in the block at a height: they have expired. */
  readonly forgetExpired: (height: Height) => void
  /** The window is complete: the oldest operation on each name in it is not followed further. */
  readonly endTails: () => void
  /** Removes all operations, and what they proved: the window begins again. */
  readonly clear: () => void
  readonly putState: (state: StoredLight) => void
  readonly putPages: (pages: ReadonlyArray<{ readonly page: number; readonly bytes: Uint8Array }>) => void
}

const proofOf = ({ broken, since, tail, unchecked }: ProofRow): Proof => ({
  tail: tail ?? undefined,
  since,
  unchecked,
  broken: broken ?? undefined
})

const changesOf = (statements: Statements): WindowChanges => {
  const proof = (name: Bytes): Proof | undefined => {
    const row = statements.proof.get(name)
    return row === undefined ? undefined : proofOf(row)
  }
  const putProof = (name: Bytes, { broken, since, tail, unchecked }: Proof): void => {
    statements.putProof.run(name, tail ?? null, since, unchecked, broken ?? null)
  }
  const unlinked = (name: Bytes): void => {
    const known = proof(name)
    if (known !== undefined) putProof(name, { ...known, unchecked: known.unchecked - 1 })
  }
  return {
    proof,
    putProof,
    newest: (name) => statements.newest.get(name),
    oldest: (name) => statements.oldest.get(name)?.id,
    put: ({ amount, id, name, script, txid, vout }) => void statements.put.run(name, id, txid, vout, amount, script),
    putLink: ({ amount, id, input, name, script, tx }) =>
      void statements.putLink.run(name, id, tx, input, script, amount),
    removeLinks: (name) => void statements.removeLinksOf.run(name),
    checked: ({ id, name, seq }, valid) => {
      if (statements.removeLink.run(seq, name, id).changes === 0) return
      unlinked(name)
      const known = proof(name)
      if (!valid && known !== undefined) putProof(name, { ...known, broken: Math.min(id, known.broken ?? id) })
    },
    removeFrom: (height) => {
      const from = firstOperationAt(height)
      for (const { name } of statements.linksFrom.all(from)) unlinked(name)
      statements.removeLinksFrom.run(from)
      const gone = statements.between.all(from, Number.MAX_SAFE_INTEGER)
      statements.removeFrom.run(from)
      statements.heal.run(from)
      // The proof of the owner before a registration is not kept.
      for (const { name, script } of gone) if (isRegistration(script)) statements.removeName.run(name)
    },
    forgetReplaced: (height) => {
      const rows = statements.between.all(firstOperationAt(height), firstOperationAt(height + 1))
      for (const { id, name } of rows) statements.removeOlder.run(name, id)
    },
    forgetExpired: (height) => {
      const end = firstOperationAt(height + 1)
      for (const { name } of statements.between.all(0, end)) {
        statements.removeOlder.run(name, end)
        if (statements.oldest.get(name) === undefined) statements.removeName.run(name)
      }
    },
    endTails: () => void statements.endTails.run(),
    clear: () => {
      for (const statement of [statements.clearOperations, statements.clearProofs, statements.clearLinks]) {
        statement.run()
      }
    },
    putState: ({ headerCount, window }) =>
      void statements.putState.run(headerCount, window?.high ?? null, window?.low ?? 0, window?.floor ?? 0),
    putPages: (pages) => {
      for (const { bytes, page } of pages) statements.putPage.run(page, bytes)
    }
  }
}

const isRegistration = (script: Bytes): boolean => parseNameScript(script)?.operation.op === "name_firstupdate"

/** An operation as names.db shows it. Throws for a script that sets no name: the file is damaged. */
export const recordOfOperation = ({ amount, id, script, txid, vout }: WindowOperation): NameEntry => {
  const parsed = parseNameScript(Uint8Array.from(script))
  if (parsed === undefined || parsed.operation.op === "name_new") throw new TypeError("the script sets no name")
  const { address, operation } = parsed
  return {
    name: operation.name,
    value: operation.value,
    height: heightOfOperation(id),
    txid: Uint8Array.from(txid),
    vout,
    address,
    op: operation.op,
    amount
  }
}

export class WindowFile {
  readonly filename: string
  readonly guard: PageGuard
  private readonly database: Database
  private readonly statements: Statements
  private readonly changes: WindowChanges

  constructor(filename: string, pageSize: number) {
    this.filename = filename
    const { database, guard } = openDatabase({ filename, pageSize, migrations: MIGRATIONS, remedy: REMEDY })
    this.database = database
    this.guard = guard
    try {
      this.statements = prepare(database)
      this.changes = changesOf(this.statements)
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

  /** Makes all changes of one step in one transaction. */
  change<A>(work: (changes: WindowChanges) => A): A {
    return guarded({ file: this.filename, doing: "writing", remedy: REMEDY }, () => {
      const result = this.database.transaction(() => work(this.changes))()
      this.guard.committed()
      return result
    })
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

  /** The newest operation on a name; `undefined` if the window has none. */
  newest(name: Bytes): NameEntry | undefined {
    const row = this.reading(({ newest }) => newest.get(name))
    return row === undefined ? undefined : this.entry(row)
  }

  private entry(row: WindowOperation): NameEntry {
    try {
      return recordOfOperation(row)
    } catch (cause) {
      throw this.corrupted(String(cause))
    }
  }

  /** The operations from a height on, in chain order. */
  operationsFrom(height: Height): ReadonlyArray<NameEntry> {
    return this.reading(({ from }) => from.all(firstOperationAt(height))).map((row) => this.entry(row))
  }

  /** The newest operation on each name from a name on, by their bytes. */
  newestFrom(name: Bytes, limit: number): ReadonlyArray<NameEntry> {
    return this.reading(({ newestFrom }) => newestFrom.all(name, limit)).map((row) => this.entry(row))
  }

  /** The next names from one on, by their bytes. */
  namesFrom(name: Bytes, limit: number): ReadonlyArray<Bytes> {
    return this.reading(({ namesFrom }) => namesFrom.all(name, limit)).map((row) => row.name)
  }

  proof(name: Bytes): Proof | undefined {
    const row = this.reading(({ proof }) => proof.get(name))
    return row === undefined ? undefined : proofOf(row)
  }

  nextLinks(limit: number): ReadonlyArray<LinkRow> {
    return this.reading(({ nextLinks }) => nextLinks.all(limit))
  }

  linksOf(name: Bytes, limit: number): ReadonlyArray<LinkRow> {
    return this.reading(({ linksOf }) => linksOf.all(name, limit))
  }

  counts(): { readonly names: number; readonly links: number } {
    return this.reading(({ counts }) => counts.get()) ?? { names: 0, links: 0 }
  }
}
