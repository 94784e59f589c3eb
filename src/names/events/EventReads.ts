import type { Cursor } from "../../chain/write/Follower.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import { nameEntryOf, type OperationRow, plain, RECORD_COLUMNS, recordEntryOf, WrongRow } from "../NameEntry.ts"
import { kindKeeping, operationKind } from "./NameEvent.ts"
import type { LoggedOperation, OperationLog } from "./OperationLog.ts"

interface NamedOperation extends OperationRow {
  readonly name: Buffer
}

/** The numbers of an operation: `first` is 1 for a registration, lengths are in bytes. */
type OperationNumbers = readonly [
  id: number,
  vout: number,
  amount: number,
  first: number,
  valueLength: number,
  addressLength: number,
  nameLength: number
]

/**
 * An operation and the previous one on the same name, as a list: the numbers of both, and the bytes of all columns in
 * one piece. Objects with a buffer per column would take two thirds of a replay's time.
 */
type PackedPair = readonly [
  ...operation: OperationNumbers,
  beforeId: number | null,
  beforeVout: number,
  beforeAmount: number,
  beforeFirst: number,
  beforeValueLength: number,
  beforeAddressLength: number,
  bytes: Buffer
]

const numbersOf = (table: string): string =>
  `${table}.id, ${table}.vout, ${table}.amount, ${table}.rand IS NOT NULL, length(${table}.value), length(${table}.address)`

/** The same without the previous record. `kept` is 2 for the same owner, plus 1 for the same value. */
type PackedOperation = readonly [
  ...operation: OperationNumbers,
  kept: number | null,
  bytes: Buffer
]

// CROSS JOIN keeps the order of the tables: the operations of the range one after the other. Text joined from blobs has
// exactly their bytes, with every zero byte.
const OPERATIONS = `
  SELECT ${numbersOf("o")}, length(n.name), ${numbersOf("p")},
    CAST(o.txid || o.value || o.address || n.name || coalesce(p.txid || p.value || p.address, '') AS BLOB)
  FROM operations o CROSS JOIN names n ON n.id = o.name_id
  LEFT JOIN operations p ON p.id = (SELECT max(q.id) FROM operations q WHERE q.name_id = o.name_id AND q.id < o.id)
  WHERE o.id >= ? AND o.id < ? ORDER BY o.id LIMIT ?`

// Compares the previous record within SQLite, without reading its bytes; a registration needs none.
const OPERATIONS_ALONE = `
  SELECT ${numbersOf("o")}, length(n.name),
    iif(o.rand IS NULL, (
      SELECT 2 * (p.address = o.address) + (p.value = o.value) FROM operations p
      WHERE p.name_id = o.name_id AND p.id < o.id ORDER BY p.id DESC LIMIT 1
    ), NULL),
    CAST(o.txid || o.value || o.address || n.name AS BLOB)
  FROM operations o CROSS JOIN names n ON n.id = o.name_id
  WHERE o.id >= ? AND o.id < ? ORDER BY o.id LIMIT ?`

const NEWEST = `
  SELECT ${RECORD_COLUMNS}, n.name FROM operations o CROSS JOIN names n ON n.id = o.name_id
  WHERE o.id >= ? AND o.id < ? AND NOT EXISTS (
    SELECT 1 FROM operations q WHERE q.name_id = o.name_id AND q.id > o.id AND q.id < ?
  ) ORDER BY o.id`

const BELOW = `
  SELECT ${RECORD_COLUMNS} FROM operations o
  WHERE o.name_id = (SELECT id FROM names WHERE name = ?) AND o.id < ? ORDER BY o.id DESC LIMIT 1`

const TXID_BYTES = 32

/** Splits the bytes of one row. */
class PackedBytes {
  private readonly bytes: Buffer
  private at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Plain bytes, whose `slice` copies, unlike a `Buffer`'s. */
  next(length: number): Bytes {
    const { bytes } = this
    const from = this.at
    this.at += length
    // A damaged row may have a column of another type, whose length is not in bytes.
    if (!(this.at <= bytes.length)) throw new WrongRow("a row is shorter than its columns")
    return new Uint8Array(bytes.buffer, bytes.byteOffset + from, length)
  }

  get isEnd(): boolean {
    return this.at === this.bytes.length
  }
}

/** The record of a row, whose bytes come first. */
const recordIn = (
  [id, vout, amount, first, valueLength, addressLength, nameLength]: PackedPair | PackedOperation,
  bytes: PackedBytes
) => {
  // In the order of the bytes.
  const txid = bytes.next(TXID_BYTES)
  const value = bytes.next(valueLength)
  const address = bytes.next(addressLength)
  const name = bytes.next(nameLength)
  return recordEntryOf({ name, id, vout, amount, first, txid, value, address })
}

const pairOf = (row: PackedPair): LoggedOperation => {
  const bytes = new PackedBytes(row[13])
  const id = row[0]
  const record = recordIn(row, bytes)
  const beforeId = row[7]
  if (beforeId === null) return { id, kind: operationKind(record, undefined), record, before: undefined }
  const before = recordEntryOf({
    name: record.name,
    id: beforeId,
    vout: row[8],
    amount: row[9],
    first: row[10],
    txid: bytes.next(TXID_BYTES),
    value: bytes.next(row[11]),
    address: bytes.next(row[12])
  })
  if (!bytes.isEnd) throw new WrongRow("a row is longer than its columns")
  return { id, kind: operationKind(record, before), record, before }
}

const aloneOf = (row: PackedOperation): LoggedOperation => {
  const bytes = new PackedBytes(row[8])
  const record = recordIn(row, bytes)
  if (!bytes.isEnd) throw new WrongRow("a row is longer than its columns")
  const [id] = row
  const kept = row[7]
  const kind = kindKeeping(record, kept === null ? undefined : { address: kept >= 2, value: kept % 2 === 1 })
  return { id, kind, record, before: undefined }
}

/** Reads the operations of names.db in chain order, directly on the driver. Methods throw the driver's errors. */
export class EventReads {
  private readonly database: Database
  private readonly operations: Statement<[number, number, number], PackedPair>
  private readonly alone: Statement<[number, number, number], PackedOperation>
  private readonly counted: Statement<[number, number], { readonly count: number }>
  private readonly newest: Statement<[number, number, number], NamedOperation>
  private readonly below: Statement<[Bytes, number], OperationRow>
  private readonly position: Statement<[], { readonly height: Height; readonly hash: Buffer }>
  private readonly start: Statement<[], { readonly height: Height }>

  constructor(database: Database) {
    this.database = database
    this.operations = database.prepare<[number, number, number], PackedPair>(OPERATIONS).raw(true)
    this.alone = database.prepare<[number, number, number], PackedOperation>(OPERATIONS_ALONE).raw(true)
    this.counted = database.prepare("SELECT count(*) AS count FROM operations WHERE id >= ? AND id < ?")
    this.newest = database.prepare(NEWEST)
    this.below = database.prepare(BELOW)
    this.position = database.prepare("SELECT height, hash FROM cursor")
    this.start = database.prepare("SELECT height FROM beginning")
  }

  private last(): Cursor | undefined {
    const row = this.position.get()
    return row === undefined ? undefined : { height: row.height, hash: plain(row.hash) }
  }

  private log(): OperationLog {
    return {
      last: this.last(),
      beginning: this.start.get()?.height ?? -1,
      operations: ({ from, to }, { before, limit }) =>
        before ? this.operations.all(from, to, limit).map(pairOf) : this.alone.all(from, to, limit).map(aloneOf),
      count: ({ from, to }) => this.counted.get(from, to)?.count ?? 0,
      newest: ({ from, to }, asOf) =>
        this.newest.all(from, to, asOf).map((row) => ({ id: row.id, record: nameEntryOf(plain(row.name), row) })),
      recordBelow: (name, id) => {
        const row = this.below.get(name, id)
        return row === undefined ? undefined : nameEntryOf(name.slice(), row)
      }
    }
  }

  /** Runs reads on one state of the file. */
  read<A>(use: (log: OperationLog) => A): A {
    return this.database.transaction(() => use(this.log()))()
  }
}
