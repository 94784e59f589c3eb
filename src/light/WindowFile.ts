import { firstOperationAt, hashKey, heightOfOperation, type NameEntry, plain } from "../names/NameEntry.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { nameIndexHash, parseNameScript } from "../protocol/nameOperation.ts"
import { decodeTransaction } from "../protocol/transaction.ts"
import { type Database, guarded, openDatabase } from "../storage/Database.ts"
import { StorageCorrupted } from "../storage/errors.ts"
import { type Inspected, newerThan } from "../storage/inspect.ts"
import type { PageGuard } from "../storage/PageGuard.ts"
import { repeated, rowWriter } from "../storage/rowWriter.ts"
import { type KeptHead, provenRow, type WindowHead, windowHead, type WindowProofRow } from "./windowProofs.ts"
import {
  Link,
  PLACES,
  prepareWindow,
  turned,
  WINDOW_MIGRATIONS,
  type WindowRow,
  type WindowStatements
} from "./windowTables.ts"

// names-window.db: the headers of a light chain, and all name operations within its window, each with its transaction.
// A step of the chain is one database transaction. Methods throw `StorageFailure`. A damaged file is filled again from
// peers. Filling the window newest first only appends operations, since `place` counts backwards: otherwise each would
// change a page of its own. Only the index by name is written all over. Whether a name is signed is the sum of its
// operations, so a reorg that removes some has nothing else to undo.

const REMEDY = "Stop the node, delete the file and start again: it is filled again from peers"

export const inspectedWindow = (filename: string): Inspected => ({
  filename,
  what: "names-window.db",
  remedy: REMEDY,
  newer: newerThan(WINDOW_MIGRATIONS.length, filename)
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

/** An operation to store, with the branch of its transaction: empty unless proofs are kept. */
export interface NewOperation extends WindowOperation {
  readonly branch: Bytes
  /** The first bytes (`hashKey`) of its script hash (`nameIndexHash`) and its txid, if proofs are kept. */
  readonly keys: { readonly script: Bytes; readonly txid: Bytes } | undefined
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

export interface WindowChanges {
  readonly add: (operations: ReadonlyArray<NewOperation>) => void
  readonly addHeads: (heads: ReadonlyArray<KeptHead>) => void
  /** Records whether the previous owner allowed an operation. */
  readonly checked: (link: Pick<LinkRow, "id" | "removals">, valid: boolean) => void
  readonly removeFrom: (height: Height) => void
  /** Removes the operations below a height, where no living name has its newest one. */
  readonly removeBelow: (height: Height) => void
  /** Removes all operations to restart the window. */
  readonly clear: () => void
  /** The same, with the window's place. */
  readonly forget: () => void
  readonly forgetHeads: () => void
  readonly putState: (state: StoredLight) => void
  readonly putPages: (pages: ReadonlyArray<{ readonly page: number; readonly bytes: Uint8Array }>) => void
}

const insertSql = (rows: number): string =>
  `INSERT INTO operations (place, name, first, link, vout, tx, branch, script, txid) VALUES ${
    repeated(`(?, ?, ?, ${Link.UNCHECKED}, ?, ?, ?, ?, ?)`, rows)
  }`

/** The number of removals, and of unchecked operations; `undefined` if these must be counted. */
interface Tally {
  removals: number
  unchecked: number | undefined
}

const changesOf = (database: Database, statements: WindowStatements, tally: Tally): WindowChanges => {
  const insert = rowWriter<NewOperation>(database, insertSql, ({ branch, first, id, keys, name, tx, vout }, into) => {
    into.push(turned(id), name, first ? 1 : 0, vout, tx, branch, keys?.script ?? null, keys?.txid ?? null)
  })
  const removed = (): void => {
    tally.removals++
    tally.unchecked = undefined
  }
  const clear = (): void => {
    statements.clear.run()
    statements.clearHeads.run()
    removed()
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
    addHeads: (heads) => {
      for (const { coinbase, head, height } of heads) {
        statements.putHead.run(turned(firstOperationAt(height)), head, coinbase)
      }
    },
    removeFrom: (height) => {
      statements.removeFrom.run(turned(firstOperationAt(height)))
      statements.removeHeadsFrom.run(turned(firstOperationAt(height)))
      removed()
    },
    removeBelow: (height) => {
      statements.removeHeadsBelow.run(turned(firstOperationAt(height)))
      // Nothing replaces these operations, so pending checks stay valid.
      if (statements.removeBelow.run(turned(firstOperationAt(height))).changes > 0) tally.unchecked = undefined
    },
    clear,
    forget: () => {
      clear()
      statements.forgetWindow.run()
    },
    forgetHeads: () => void statements.clearHeads.run(),
    putState: ({ headerCount, window }) =>
      void statements.putState.run(headerCount, window?.high ?? null, window?.low ?? 0, window?.floor ?? 0),
    putPages: (pages) => {
      for (const { bytes, page } of pages) statements.putPage.run(page, bytes)
    }
  }
}

const operationOf = ({ first, name, place, tx, vout }: WindowRow): WindowOperation => ({
  id: turned(place),
  name: plain(name),
  first: first === 1,
  tx: plain(tx),
  vout
})

/** An operation as in names.db. Throws for an output that sets no name, as the file is then damaged. */
const recordOf = ({ place, tx, vout }: WindowRow): NameEntry => {
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
  private readonly statements: WindowStatements
  private readonly changes: WindowChanges
  private readonly tally: Tally = { removals: 0, unchecked: undefined }
  private keeps = false

  constructor(filename: string, pageSize: number) {
    this.filename = filename
    const { database, guard } = openDatabase({ filename, pageSize, migrations: WINDOW_MIGRATIONS, remedy: REMEDY })
    this.database = database
    this.guard = guard
    try {
      this.statements = prepareWindow(database)
      this.changes = changesOf(database, this.statements, this.tally)
    } catch (cause) {
      guard.close()
      throw this.corrupted(`it is not a window of svcd (${cause instanceof Error ? cause.message : String(cause)})`)
    }
  }

  close(): void {
    this.guard.close()
  }

  /** Whether it keeps what proofs need: the headers of its blocks, and the branches of its transactions. */
  get keepsProofs(): boolean {
    return this.keeps
  }

  /**
   * Keeps what proofs need, or forgets it. Before anything reads the window: one that was filled without is dropped, and
   * filled again from peers.
   */
  keepProofs(keeps: boolean): void {
    this.keeps = keeps
    const { window } = this.state() ?? {}
    const [first] = this.reading(({ headsFrom }) => headsFrom.all(PLACES, 1))
    if (!keeps && first !== undefined) this.change((changes) => changes.forgetHeads())
    if (keeps && window !== undefined && this.heads(window.low, 1).length === 0) {
      this.change((changes) => changes.forget())
    }
  }

  corrupted(found: string): StorageCorrupted {
    return new StorageCorrupted({ file: this.filename, found, remedy: REMEDY })
  }

  private reading<A>(work: (statements: WindowStatements) => A): A {
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

  /** The newest operations on a name with their branches, the newest first. */
  provenOf(name: Bytes, limit: number): ReadonlyArray<WindowProofRow> {
    const rows = this.reading(({ provenOf }) => provenOf.all(name, limit))
    return this.decoded(() => rows.map((row) => provenRow(row, recordOf(row))))
  }

  /** The operations of a block with their branches, in chain order. */
  provenAt(height: Height): ReadonlyArray<WindowProofRow> {
    const [from, to] = [firstOperationAt(height), firstOperationAt(height + 1)]
    const rows = this.reading(({ provenBetween }) => provenBetween.all(turned(from), turned(to)))
    return this.decoded(() => rows.map((row) => provenRow(row, recordOf(row))))
  }

  /** The newest operations on the name of a script hash (`nameIndexHash`), the newest first. */
  ofScript(hash: Bytes, limit: number): ReadonlyArray<NameEntry> {
    const rows = this.reading(({ ofScript }) => ofScript.all(hashKey(hash), limit))
    // All rows of one name are equal here, and most hashes have one name.
    return this.decoded(() => rows.filter(({ name }) => equal(nameIndexHash(name), hash)).map(recordOf))
  }

  /** The operation in a transaction with its branch. */
  ofTxid(txid: Bytes): WindowProofRow | undefined {
    const rows = this.reading(({ ofTxid }) => ofTxid.all(hashKey(txid)))
    return this.decoded(() => rows.map((row) => provenRow(row, recordOf(row))))
      .find(({ record }) => equal(record.txid, txid))
  }

  /** The heads from a height on, up to the first that is not kept. */
  heads(from: Height, limit: number): ReadonlyArray<WindowHead> {
    const rows = this.reading(({ headsFrom }) => headsFrom.all(turned(firstOperationAt(from)), limit))
    const gap = rows.findIndex(({ place }, i) => turned(place) !== firstOperationAt(from + i))
    return this.decoded(() => rows.slice(0, gap < 0 ? rows.length : gap).map(windowHead))
  }

  proof(name: Bytes): Proof {
    return this.reading(({ proof }) => proof.get({ name })) ?? { unchecked: 0, invalid: 0 }
  }

  private links(rows: ReadonlyArray<WindowRow>): ReadonlyArray<LinkRow> {
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
