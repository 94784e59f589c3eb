import type { Cursor } from "../../chain/write/Follower.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import { type NameEntry, nameEntryOf, type OperationRow, plain, RECORD_COLUMNS } from "../NameEntry.ts"
import type { LoggedOperation, OperationLog } from "./OperationLog.ts"

interface NamedOperation extends OperationRow {
  readonly name: Buffer
}

/** An operation beside the one before it on the same name. */
interface OperationPair extends NamedOperation {
  readonly beforeId: number | null
  readonly beforeTxid: Buffer
  readonly beforeVout: number
  readonly beforeAmount: number
  readonly beforeValue: Buffer
  readonly beforeAddress: Buffer
  readonly beforeFirst: number
}

// CROSS JOIN keeps the order of the tables: the operations of the range one after the other.
const OPERATIONS = `
  SELECT ${RECORD_COLUMNS}, n.name, p.id AS beforeId, p.txid AS beforeTxid, p.vout AS beforeVout,
    p.amount AS beforeAmount, p.value AS beforeValue, p.address AS beforeAddress, p.rand IS NOT NULL AS beforeFirst
  FROM operations o CROSS JOIN names n ON n.id = o.name_id
  LEFT JOIN operations p ON p.id = (SELECT max(q.id) FROM operations q WHERE q.name_id = o.name_id AND q.id < o.id)
  WHERE o.id >= ? AND o.id < ? ORDER BY o.id LIMIT ?`

const NEWEST = `
  SELECT ${RECORD_COLUMNS}, n.name FROM operations o CROSS JOIN names n ON n.id = o.name_id
  WHERE o.id >= ? AND o.id < ? AND NOT EXISTS (
    SELECT 1 FROM operations q WHERE q.name_id = o.name_id AND q.id > o.id AND q.id < ?
  ) ORDER BY o.id`

const BELOW = `
  SELECT ${RECORD_COLUMNS} FROM operations o
  WHERE o.name_id = (SELECT id FROM names WHERE name = ?) AND o.id < ? ORDER BY o.id DESC LIMIT 1`

const beforeOf = (name: Bytes, row: OperationPair): NameEntry | undefined =>
  row.beforeId === null ? undefined : nameEntryOf(name, {
    id: row.beforeId,
    txid: row.beforeTxid,
    vout: row.beforeVout,
    amount: row.beforeAmount,
    value: row.beforeValue,
    address: row.beforeAddress,
    first: row.beforeFirst
  })

/** Reads the operations of names.db in chain order, directly on the driver. Methods throw the driver's errors. */
export class EventReads {
  private readonly database: Database
  private readonly operations: Statement<[number, number, number], OperationPair>
  private readonly newest: Statement<[number, number, number], NamedOperation>
  private readonly below: Statement<[Bytes, number], OperationRow>
  private readonly position: Statement<[], { readonly height: Height; readonly hash: Buffer }>
  private readonly start: Statement<[], { readonly height: Height }>

  constructor(database: Database) {
    this.database = database
    this.operations = database.prepare(OPERATIONS)
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
      operations: ({ from, to }, limit) =>
        this.operations.all(from, to, limit).map((row): LoggedOperation => {
          const name = plain(row.name)
          return { id: row.id, record: nameEntryOf(name, row), before: beforeOf(name, row) }
        }),
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
