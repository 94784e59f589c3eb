import type { Cursor } from "../chain/write/Follower.ts"
import type { NameClaim } from "../consensus/view.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import { hash256 } from "../protocol/hash.ts"
import { outpoint, outpointKey } from "../protocol/transaction.ts"
import type { Database, Statement } from "../storage/Database.ts"
import {
  hashKey,
  heightOfOperation,
  type NameRecord,
  type OperationRow,
  plain,
  RECORD_COLUMNS,
  recordOf
} from "./NameRecord.ts"

interface ClaimRow {
  readonly id: number
  readonly txid: Buffer
  readonly vout: number
}

/**
 * Single rows, asked for on the driver itself and on a connection of its own: `NameDb.resolve` has a budget of 66 µs,
 * which is what one statement through the SQL client takes. Each call sees what was committed last. Methods throw what
 * the driver throws.
 */
export class PointReads {
  private readonly byName: Statement<[Bytes], OperationRow>
  private readonly byHash: Statement<[Bytes], OperationRow & { readonly name: Buffer }>
  private readonly byTxid: Statement<[{ readonly txid: Bytes }], { readonly id: number | null }>
  private readonly claimByName: Statement<[Bytes], ClaimRow>
  private readonly position: Statement<[], { readonly height: number; readonly hash: Buffer }>

  constructor(database: Database) {
    const current = "FROM names n JOIN operations o ON o.id = n.operation"
    this.byName = database.prepare(`SELECT ${RECORD_COLUMNS} ${current} WHERE n.name = ?`)
    this.byHash = database.prepare(`SELECT ${RECORD_COLUMNS}, n.name ${current} WHERE n.hash = ?`)
    this.byTxid = database.prepare(
      "SELECT max(id) AS id FROM operations WHERE substr(txid, 1, 8) = substr(@txid, 1, 8) AND txid = @txid"
    )
    this.claimByName = database.prepare(`SELECT o.id, o.txid, o.vout ${current} WHERE n.name = ?`)
    this.position = database.prepare("SELECT height, hash FROM cursor")
  }

  /** The last block that the rest knows; `undefined` before the first. */
  cursor(): Cursor | undefined {
    const row = this.position.get()
    return row === undefined ? undefined : { height: row.height, hash: plain(row.hash) }
  }

  /** The current record of a name. */
  record(name: Bytes): NameRecord | undefined {
    const row = this.byName.get(name)
    // The caller's bytes may be a view of something large.
    return row === undefined ? undefined : recordOf(name.slice(), row)
  }

  /** The current record of the name with this double SHA-256. */
  recordByHash(hash: Bytes): NameRecord | undefined {
    for (const row of this.byHash.all(hashKey(hash))) {
      if (equal(hash256(row.name), hash)) return recordOf(plain(row.name), row)
    }
    return undefined
  }

  /** The height of a transaction that changed a name; the last one, should it stand in the chain twice. */
  heightOfTransaction(txid: Bytes): number | undefined {
    const id = this.byTxid.get({ txid })?.id ?? undefined
    return id === undefined ? undefined : heightOfOperation(id)
  }

  /** What the chain state should say about a name. */
  claim(name: Bytes): NameClaim | undefined {
    const row = this.claimByName.get(name)
    if (row === undefined) return undefined
    return { height: heightOfOperation(row.id), outpoint: outpointKey(outpoint(plain(row.txid), row.vout)) }
  }
}
