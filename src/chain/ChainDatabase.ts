import { join } from "node:path"
import type { Coin, NameClaim } from "../consensus/view.ts"
import { binaryString, type Bytes, concat, fromBinaryString } from "../protocol/bytes.ts"
import { DecodeError } from "../protocol/Reader.ts"
import { type Database, guarded, openDatabase, type Statement } from "../storage/Database.ts"
import { StorageCorrupted } from "../storage/errors.ts"
import { PAGE_BYTES } from "./BlockIndex.ts"
import { coinKey, decodeCoin, encodeCoin, outpointOfKey } from "./coinCodec.ts"

/**
 * chainstate/chainstate.db: coins, name claims, the block index and the best block. They change in one transaction
 * from tip to tip. Methods throw `StorageFailure`.
 */

const REMEDY =
  "Stop the node, delete the folders blocks and chainstate, and start again: the chain is fetched anew, names and wallet stay"

const MIGRATIONS = [
  `CREATE TABLE coins (outpoint BLOB PRIMARY KEY, coin BLOB NOT NULL) WITHOUT ROWID, STRICT;
   CREATE TABLE claims (name BLOB PRIMARY KEY, height INTEGER NOT NULL, outpoint BLOB NOT NULL) WITHOUT ROWID, STRICT;
   CREATE INDEX claims_by_height ON claims (height);
   CREATE TABLE headers (page INTEGER PRIMARY KEY, records BLOB NOT NULL) STRICT;
   CREATE TABLE state (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     header_count INTEGER NOT NULL,
     best_hash BLOB NOT NULL
   ) STRICT;`
]

const FIRST_INDEX = new Uint8Array(4)
const LAST_INDEX = new Uint8Array(4).fill(0xff)

/** Where the stored state stands. */
export interface StoredState {
  readonly headerCount: number
  /** Wire order. */
  readonly bestHash: Bytes
}

/** What one commit changes. */
export interface Changes {
  readonly pages: ReadonlyArray<{ readonly page: number; readonly bytes: Uint8Array }>
  readonly headerCount: number
  readonly bestHash: Bytes
  readonly coins: Iterable<readonly [outpoint: string, coin: Coin | undefined]>
  readonly claims: Iterable<readonly [name: string, claim: NameClaim | undefined]>
}

interface ClaimRow {
  readonly name: Buffer
  readonly height: number
  readonly outpoint: Buffer
}

const toClaim = ({ height, outpoint }: Omit<ClaimRow, "name">): NameClaim => ({
  height,
  outpoint: binaryString(outpoint)
})

export class ChainDatabase {
  readonly file: string
  private readonly database: Database
  private readonly selectCoin: Statement<[Buffer], { readonly coin: Buffer }>
  private readonly selectClaim: Statement<[Buffer], Omit<ClaimRow, "name">>
  private readonly selectClaimsBetween: Statement<[number, number], { readonly name: Buffer }>
  private readonly putCoin: Statement<[Buffer, Uint8Array], never>
  private readonly deleteCoin: Statement<[Buffer], never>
  private readonly putClaim: Statement<[Buffer, number, Buffer], never>
  private readonly deleteClaim: Statement<[Buffer], never>
  private readonly putPage: Statement<[number, Uint8Array], never>
  private readonly putState: Statement<[number, Uint8Array], never>

  constructor(directory: string, pageSize: number) {
    this.file = join(directory, "chainstate.db")
    this.database = openDatabase({ filename: this.file, pageSize, migrations: MIGRATIONS, remedy: REMEDY })
    const database = this.database
    this.selectCoin = database.prepare("SELECT coin FROM coins WHERE outpoint = ?")
    this.selectClaim = database.prepare("SELECT height, outpoint FROM claims WHERE name = ?")
    this.selectClaimsBetween = database.prepare("SELECT name FROM claims WHERE height BETWEEN ? AND ?")
    this.putCoin = database.prepare("INSERT OR REPLACE INTO coins (outpoint, coin) VALUES (?, ?)")
    this.deleteCoin = database.prepare("DELETE FROM coins WHERE outpoint = ?")
    this.putClaim = database.prepare("INSERT OR REPLACE INTO claims (name, height, outpoint) VALUES (?, ?, ?)")
    this.deleteClaim = database.prepare("DELETE FROM claims WHERE name = ?")
    this.putPage = database.prepare("INSERT OR REPLACE INTO headers (page, records) VALUES (?, ?)")
    this.putState = database.prepare(
      "INSERT OR REPLACE INTO state (one, header_count, best_hash) VALUES (1, ?, ?)"
    )
  }

  private guard<A>(doing: string, work: () => A): A {
    return guarded(this.file, doing, REMEDY, () => {
      try {
        return work()
      } catch (cause) {
        if (cause instanceof DecodeError) {
          throw new StorageCorrupted({
            file: this.file,
            found: `a coin does not decode (${cause.message})`,
            remedy: REMEDY
          })
        }
        throw cause
      }
    })
  }

  /** The failure of data that contradict themselves. */
  corrupted(found: string): StorageCorrupted {
    return new StorageCorrupted({ file: this.file, found, remedy: REMEDY })
  }

  /** Where the stored state stands; `undefined` in a new database. */
  state(): StoredState | undefined {
    const select: Statement<[], { readonly header_count: number; readonly best_hash: Buffer }> = this.database.prepare(
      "SELECT header_count, best_hash FROM state"
    )
    const row = this.guard("reading", () => select.get())
    return row === undefined ? undefined : { headerCount: row.header_count, bestHash: row.best_hash }
  }

  /** The pages of the block index, in order. */
  *pages(): Iterable<Uint8Array> {
    const select: Statement<[], { readonly page: number; readonly records: Buffer }> = this.database.prepare(
      "SELECT page, records FROM headers ORDER BY page"
    )
    let expected = 0
    for (const { page, records } of select.iterate()) {
      if (page !== expected++ || records.length !== PAGE_BYTES) throw this.corrupted(`page ${page} of the block index`)
      // A copy of its own: the index views it as words, which needs an aligned buffer, and writes to it.
      yield new Uint8Array(records)
    }
  }

  coin(outpoint: string): Coin | undefined {
    return this.guard("reading", () => {
      const row = this.selectCoin.get(coinKey(outpoint))
      return row === undefined ? undefined : decodeCoin(row.coin)
    })
  }

  /** The stored coin of a transaction with the lowest index. */
  coinOf(txid: Bytes): Coin | undefined {
    const select: Statement<[Uint8Array, Uint8Array], { readonly coin: Buffer }> = this.database.prepare(
      "SELECT coin FROM coins WHERE outpoint BETWEEN ? AND ? ORDER BY outpoint LIMIT 1"
    )
    return this.guard("reading", () => {
      const row = select.get(concat(txid, FIRST_INDEX), concat(txid, LAST_INDEX))
      return row === undefined ? undefined : decodeCoin(row.coin)
    })
  }

  claim(name: string): NameClaim | undefined {
    const row = this.guard("reading", () => this.selectClaim.get(Buffer.from(name, "latin1")))
    return row === undefined ? undefined : toClaim(row)
  }

  /** Names whose stored claim was made in the heights `from` to `to`, both included. */
  namesClaimedBetween(from: number, to: number): ReadonlyArray<string> {
    const rows = this.guard("reading", () => this.selectClaimsBetween.all(from, to))
    return rows.map(({ name }) => binaryString(name))
  }

  /**
   * Up to `limit` stored coins behind an outpoint key (`undefined`: from the first), in the order of (txid, index).
   */
  coinsAfter(outpoint: string | undefined, limit: number): ReadonlyArray<readonly [outpoint: string, coin: Coin]> {
    const select: Statement<[Buffer, number], { readonly outpoint: Buffer; readonly coin: Buffer }> = this.database
      .prepare("SELECT outpoint, coin FROM coins WHERE outpoint > ? ORDER BY outpoint LIMIT ?")
    return this.guard(
      "reading",
      () =>
        select.all(outpoint === undefined ? Buffer.alloc(0) : coinKey(outpoint), limit).map((row) =>
          [outpointOfKey(row.outpoint), decodeCoin(row.coin)] as const
        )
    )
  }

  /** Up to `limit` stored claims behind a name, in the order of the names' bytes. */
  claimsAfter(name: string | undefined, limit: number): ReadonlyArray<readonly [name: string, claim: NameClaim]> {
    // The empty name exists; nothing is smaller, so the first page starts without a bound.
    const where = name === undefined ? "WHERE ? IS NOT NULL" : "WHERE name > ?"
    const select: Statement<[Buffer, number], ClaimRow> = this.database.prepare(
      `SELECT name, height, outpoint FROM claims ${where} ORDER BY name LIMIT ?`
    )
    const rows = this.guard("reading", () => select.all(Buffer.from(name ?? "", "latin1"), limit))
    return rows.map((row) => [binaryString(row.name), toClaim(row)] as const)
  }

  /** Stores all changes, or none of them. Rows go in the order of their keys, which is several times faster. */
  commit(changes: Changes): void {
    const apply = this.database.transaction(() => {
      const coins = [...changes.coins].map(([outpoint, coin]) => [coinKey(outpoint), coin] as const)
      coins.sort((a, b) => Buffer.compare(a[0], b[0]))
      for (const [key, coin] of coins) {
        if (coin === undefined) this.deleteCoin.run(key)
        else this.putCoin.run(key, encodeCoin(coin))
      }
      const claims = [...changes.claims].map(([name, claim]) => [Buffer.from(name, "latin1"), claim] as const)
      claims.sort((a, b) => Buffer.compare(a[0], b[0]))
      for (const [name, claim] of claims) {
        if (claim === undefined) this.deleteClaim.run(name)
        else this.putClaim.run(name, claim.height, Buffer.from(fromBinaryString(claim.outpoint)))
      }
      for (const { bytes, page } of changes.pages) this.putPage.run(page, bytes)
      this.putState.run(changes.headerCount, changes.bestHash)
    })
    this.guard("writing", () => apply.immediate())
  }

  /** Bytes of the database file. */
  size(): number {
    return Number(this.database.pragma("page_count", { simple: true })) *
      Number(this.database.pragma("page_size", { simple: true }))
  }

  close(): void {
    this.database.close()
  }
}
