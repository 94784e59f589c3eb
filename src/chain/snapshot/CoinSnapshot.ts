import SQLite from "better-sqlite3"
import type { Coin } from "../../consensus/view.ts"
import { guarded } from "../../storage/Database.ts"
import { decodeCoin } from "../state/coinCodec.ts"

export interface StoredCoin {
  /** The key of the database: txid, then the index in four bytes, big endian. */
  readonly key: Buffer
  readonly coin: Coin
}

const NO_KEY = Buffer.alloc(0)

/**
 * The coins of a database as of now, on a connection of its own while the writer continues. The write-ahead log is not
 * emptied until `close`. Methods throw `StorageFailure`.
 */
export class CoinSnapshot {
  private readonly file: string
  private readonly database: SQLite.Database
  private readonly next: SQLite.Statement<[Buffer, number], { readonly outpoint: Buffer; readonly coin: Buffer }>
  private last: Buffer = NO_KEY

  constructor(file: string) {
    this.file = file
    this.database = this.reading(() => new SQLite(file, { readonly: true }))
    try {
      this.next = this.reading(() => {
        this.database.exec("BEGIN")
        // The first read fixes the state.
        this.database.prepare("SELECT best_hash FROM state").get()
        return this.database.prepare<[Buffer, number], { readonly outpoint: Buffer; readonly coin: Buffer }>(
          "SELECT outpoint, coin FROM coins WHERE outpoint > ? ORDER BY outpoint LIMIT ?"
        )
      })
    } catch (cause) {
      this.database.close()
      throw cause
    }
  }

  private reading<A>(work: () => A): A {
    return guarded({ file: this.file, doing: "reading", remedy: "Start the node again: it checks the file" }, work)
  }

  /** The next coins in (txid, index) order; none at the end. */
  coins(limit: number): ReadonlyArray<StoredCoin> {
    const rows = this.reading(() => this.next.all(this.last, limit))
    this.last = rows[rows.length - 1]?.outpoint ?? this.last
    return rows.map(({ coin, outpoint }) => ({ key: outpoint, coin: decodeCoin(coin) }))
  }

  close(): void {
    this.database.close()
  }
}
