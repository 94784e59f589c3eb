import type { Cursor } from "../chain/write/Follower.ts"
import type { NameClaim } from "../consensus/view.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import { hash256 } from "../protocol/hash.ts"
import type { Height } from "../protocol/keys.ts"
import { outpoint, outpointKey } from "../protocol/transaction.ts"
import type { Database, Statement } from "../storage/Database.ts"
import {
  hashKey,
  heightOfOperation,
  type NameEntry,
  nameEntryOf,
  type OperationRow,
  plain,
  RECORD_COLUMNS,
  TXID_PART
} from "./NameEntry.ts"

interface ClaimRow {
  readonly id: number
  readonly txid: Buffer
  readonly vout: number
}

/**
 * The last operation of a transaction, by the parts of `operations_by_txid` (see `migrations.ts`), newest first. A
 * missing transaction costs a page of each part. An older file has one index over all operations, which serves every
 * part of the query.
 */
export const BY_TXID = `
  WITH RECURSIVE parts (part) AS (
    SELECT ${TXID_PART} FROM (SELECT max(id) AS id FROM operations) UNION ALL SELECT part - 1 FROM parts WHERE part > 0
  )
  SELECT (
    SELECT max(o.id) FROM operations o
    WHERE o.${TXID_PART} = part AND substr(o.txid, 1, 8) = substr(@txid, 1, 8) AND o.txid = @txid
  ) AS id
  FROM parts WHERE id IS NOT NULL LIMIT 1`

/**
 * Reads single rows with the driver on its own connection: `NameDb.resolve` has a budget of 66 µs, as much as one
 * statement through the SQL client. Each call sees the last commit. Methods throw the driver's errors.
 */
export class PointReads {
  private readonly byName: Statement<[Bytes], OperationRow>
  private readonly byHash: Statement<[Bytes], OperationRow & { readonly name: Buffer }>
  private readonly byTxid: Statement<[{ readonly txid: Bytes }], { readonly id: number }>
  private readonly claimByName: Statement<[Bytes], ClaimRow>
  private readonly position: Statement<[], { readonly height: Height; readonly hash: Buffer }>

  constructor(database: Database) {
    // SQLite would plan a join of both tables again for each name that is bound, which takes longer than the read.
    const current = "FROM operations o WHERE o.id = (SELECT operation FROM names WHERE name = ?)"
    this.byName = database.prepare(`SELECT ${RECORD_COLUMNS} ${current}`)
    this.byHash = database.prepare(
      `SELECT ${RECORD_COLUMNS}, n.name FROM names n JOIN operations o ON o.id = n.operation WHERE n.hash = +?`
    )
    this.byTxid = database.prepare(BY_TXID)
    this.claimByName = database.prepare(`SELECT o.id, o.txid, o.vout ${current}`)
    this.position = database.prepare("SELECT height, hash FROM cursor")
  }

  /** The last block in the file; `undefined` before the first. */
  cursor(): Cursor | undefined {
    const row = this.position.get()
    return row === undefined ? undefined : { height: row.height, hash: plain(row.hash) }
  }

  record(name: Bytes): NameEntry | undefined {
    const row = this.byName.get(name)
    // The caller's bytes may be a view of a large buffer.
    return row === undefined ? undefined : nameEntryOf(name.slice(), row)
  }

  recordByHash(hash: Bytes): NameEntry | undefined {
    for (const row of this.byHash.all(hashKey(hash))) {
      if (equal(hash256(row.name), hash)) return nameEntryOf(plain(row.name), row)
    }
    return undefined
  }

  /** The height of a transaction that changed a name; the last height if the chain has it twice. */
  heightOfTransaction(txid: Bytes): number | undefined {
    const row = this.byTxid.get({ txid })
    return row === undefined ? undefined : heightOfOperation(row.id)
  }

  /** The claim that the chain state should have for a name. */
  claim(name: Bytes): NameClaim | undefined {
    const row = this.claimByName.get(name)
    if (row === undefined) return undefined
    return { height: heightOfOperation(row.id), outpoint: outpointKey(outpoint(plain(row.txid), row.vout)) }
  }
}
