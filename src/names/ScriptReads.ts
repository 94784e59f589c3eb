import { type Bytes, equal } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import { nameIndexHash } from "../protocol/nameOperation.ts"
import type { Database, Statement } from "../storage/Database.ts"
import { firstOperationAt, hashKey, heightOfOperation, plain } from "./NameEntry.ts"

export interface NameOfScript {
  readonly id: number
  readonly name: Bytes
}

/** An operation in the history of a name, with its coin. */
export interface ScriptOperation {
  readonly height: number
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** Smallest units locked in the output. */
  readonly amount: number
}

interface OperationRow {
  readonly id: number
  readonly txid: Buffer
  readonly vout: number
  readonly amount: number
}

/** Finds names by their script hash (`nameIndexHash`), directly on the driver. Methods throw the driver's errors. */
export class ScriptReads {
  private readonly byScript: Statement<[Bytes], { readonly id: number; readonly name: Buffer }>
  private readonly history: Statement<[number, number, number], OperationRow>
  private readonly first: Statement<[], { readonly id: number }>

  constructor(database: Database) {
    this.byScript = database.prepare("SELECT id, name FROM names WHERE script = ?")
    this.history = database.prepare(
      "SELECT id, txid, vout, amount FROM operations WHERE name_id = ? AND id >= ? ORDER BY id LIMIT ?"
    )
    this.first = database.prepare("SELECT id FROM names WHERE script IS NULL LIMIT 1")
  }

  /** Whether all names can be found: those of an older file get their script hash in the background. */
  isComplete(): boolean {
    return this.first.get() === undefined
  }

  /** The name with a script hash, 32 bytes in digest order. */
  find(hash: Bytes): NameOfScript | undefined {
    for (const { id, name } of this.byScript.all(hashKey(hash))) {
      if (equal(nameIndexHash(name), hash)) return { id, name: plain(name) }
    }
    return undefined
  }

  /** The operations on a name from a height on, oldest first, at most `limit`. */
  operations(
    { id }: Pick<NameOfScript, "id">,
    { from, limit }: { readonly from: Height; readonly limit: number }
  ): ReadonlyArray<ScriptOperation> {
    return this.history.all(id, firstOperationAt(from), limit).map((row) => ({
      height: heightOfOperation(row.id),
      // A copy takes less memory than a buffer of SQLite's.
      txid: plain(row.txid).slice(),
      vout: row.vout,
      amount: row.amount
    }))
  }
}
