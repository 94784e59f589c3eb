import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Coin, NameClaim } from "../../consensus/view.ts"
import { binaryString, type Bytes, concat } from "../../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../../protocol/keys.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"
import { copyWhenDue } from "../../storage/copyWhenDue.ts"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS, type Statement } from "../../storage/Database.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { type Inspected, newerThan } from "../../storage/inspect.ts"
import type { PageGuard } from "../../storage/PageGuard.ts"
import { repeated, rowWriter } from "../../storage/rowWriter.ts"
import { attempt } from "../attempt.ts"
import { PAGE_BYTES } from "../index/headerPage.ts"
import { coinKey, decodeCoin } from "./coinCodec.ts"
import { CoinReads, type CoinSearch, type CoinsFound } from "./CoinReads.ts"
import type { CoinChanges } from "./CoinTable.ts"

// chainstate/chainstate.db: coins, name claims, the block index and the best block, moved from tip to tip in one
// transaction. Methods throw `StorageFailure`.

const FILE = "chainstate.db"

const REMEDY =
  "Stop the node, delete the folder chainstate and start again: the chain state is rebuilt from the stored blocks. If that does not help, delete the folder blocks too"

const MIGRATIONS = [
  `CREATE TABLE coins (outpoint BLOB PRIMARY KEY, coin BLOB NOT NULL) WITHOUT ROWID, STRICT;
   CREATE TABLE claims (name BLOB PRIMARY KEY, height INTEGER NOT NULL, outpoint BLOB NOT NULL) WITHOUT ROWID, STRICT;
   CREATE INDEX claims_by_height ON claims (height);
   CREATE TABLE headers (page INTEGER PRIMARY KEY, records BLOB NOT NULL) STRICT;
   CREATE TABLE state (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     header_count INTEGER NOT NULL,
     best_hash BLOB NOT NULL
   ) STRICT;`,
  PAGES_HAVE_SUMS
]

/** The SQL of an empty chain state, one step per version. */
export const chainStateFormat: ReadonlyArray<string> = MIGRATIONS

export const chainStateFile = (directory: string): string => join(directory, FILE)

const NAMES_AT_ONCE = 256

export const inspected = (directory: string): Inspected => {
  const filename = join(directory, FILE)
  return { filename, what: FILE, remedy: REMEDY, newer: newerThan(MIGRATIONS.length, filename) }
}

export const hasChainState = (directory: string): boolean => existsSync(join(directory, FILE))

const FIRST_INDEX = new Uint8Array(4)
const LAST_INDEX = new Uint8Array(4).fill(0xff)

export interface StoredState {
  readonly headerCount: number
  readonly bestHash: Bytes
}

export interface Changes extends CoinChanges {
  readonly pages: ReadonlyArray<{ readonly page: number; readonly bytes: Uint8Array }>
  readonly headerCount: number
  readonly bestHash: Bytes
  readonly claims: Iterable<readonly [name: NameKey, claim: NameClaim | undefined]>
}

interface ClaimRow {
  readonly name: Buffer
  readonly height: Height
  readonly outpoint: Buffer
}

const toClaim = ({ height, outpoint }: Omit<ClaimRow, "name">): NameClaim => ({
  height,
  outpoint: binaryString(outpoint)
})

type CoinRow = readonly [key: Bytes, coin: Bytes]

/** Splits changes into deleted and stored rows in byte order of the names. Keys have one character per byte. */
const split = (changes: Changes["claims"]) => {
  const gone: Array<Buffer> = []
  const kept: Array<readonly [Buffer, NameClaim]> = []
  for (const [name, claim] of [...changes].sort(([a], [b]) => a < b ? -1 : 1)) {
    const key = Buffer.from(name, "latin1")
    if (claim === undefined) gone.push(key)
    else kept.push([key, claim])
  }
  return { gone, kept }
}

/** Prepares the statements. Throws the driver's error if the file has other tables. */
const prepare = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    coins: new CoinReads(database),
    coin: statement<[Buffer], { readonly coin: Buffer }>("SELECT coin FROM coins WHERE outpoint = ?"),
    coinOf: statement<[Uint8Array, Uint8Array], { readonly coin: Buffer }>(
      "SELECT coin FROM coins WHERE outpoint BETWEEN ? AND ? ORDER BY outpoint LIMIT 1"
    ),
    claim: statement<[Buffer], Omit<ClaimRow, "name">>("SELECT height, outpoint FROM claims WHERE name = ?"),
    claimsOf: statement<Array<Buffer>, ClaimRow>(
      `SELECT name, height, outpoint FROM claims WHERE name IN (${repeated("?", NAMES_AT_ONCE)})`
    ),
    // One blob per row: for tens of thousands of rows, a buffer per column takes longer than the read.
    claimsBetween: statement<[number, number], { readonly height: Height; readonly claim: Buffer }>(
      "SELECT height, CAST(outpoint || name AS BLOB) AS claim FROM claims WHERE height BETWEEN ? AND ?"
    ),
    firstClaims: statement<[number], ClaimRow>("SELECT name, height, outpoint FROM claims ORDER BY name LIMIT ?"),
    claimsAfter: statement<[Buffer, number], ClaimRow>(
      "SELECT name, height, outpoint FROM claims WHERE name > ? ORDER BY name LIMIT ?"
    ),
    page: statement<[number], { readonly records: Buffer }>("SELECT records FROM headers WHERE page = ?"),
    pageCount: statement<[], { readonly pages: number }>("SELECT count(*) AS pages FROM headers"),
    state: statement<[], { readonly header_count: number; readonly best_hash: Buffer }>(
      "SELECT header_count, best_hash FROM state"
    ),
    putCoins: rowWriter<CoinRow>(
      database,
      (rows) => `INSERT OR REPLACE INTO coins (outpoint, coin) VALUES ${repeated("(?, ?)", rows)}`,
      ([key, coin], cells) => cells.push(key, coin)
    ),
    deleteCoins: rowWriter<Bytes>(
      database,
      (rows) => `DELETE FROM coins WHERE outpoint IN (${repeated("?", rows)})`,
      (key, cells) => cells.push(key)
    ),
    putClaims: rowWriter<readonly [Buffer, NameClaim]>(
      database,
      (rows) => `INSERT OR REPLACE INTO claims (name, height, outpoint) VALUES ${repeated("(?, ?, ?)", rows)}`,
      ([name, { height, outpoint }], cells) => cells.push(name, height, Buffer.from(outpoint, "latin1"))
    ),
    deleteClaims: rowWriter<Buffer>(
      database,
      (rows) => `DELETE FROM claims WHERE name IN (${repeated("?", rows)})`,
      (name, cells) => cells.push(name)
    ),
    putPage: statement<[number, Uint8Array], never>("INSERT OR REPLACE INTO headers (page, records) VALUES (?, ?)"),
    putState: statement<[number, Uint8Array], never>(
      "INSERT OR REPLACE INTO state (one, header_count, best_hash) VALUES (1, ?, ?)"
    )
  }
}

export class ChainDatabase {
  readonly file: string
  readonly sums: PageGuard
  private readonly database: Database
  private readonly statements: ReturnType<typeof prepare>
  /** Called for all damage found. */
  private readonly damaged: (damage: StorageCorrupted) => void

  constructor(directory: string, pageSize: number, damaged: (damage: StorageCorrupted) => void = () => {}) {
    this.file = chainStateFile(directory)
    this.damaged = damaged
    const opened = openDatabase({ filename: this.file, pageSize, migrations: MIGRATIONS, remedy: REMEDY })
    this.database = opened.database
    this.sums = opened.guard
    try {
      this.statements = prepare(this.database)
    } catch (cause) {
      this.sums.close()
      throw this.corrupted(
        `it is not a chain state of svcd (${cause instanceof Error ? cause.message : String(cause)})`
      )
    }
  }

  private guard<A>(doing: string, work: () => A): A {
    try {
      return guarded({ file: this.file, doing, remedy: REMEDY }, () => {
        try {
          return work()
        } catch (cause) {
          // A damaged file may have another type in place of a blob.
          if (!this.database.open || !(cause instanceof DecodeError || cause instanceof TypeError)) throw cause
          throw this.corrupted(`a row does not decode (${cause.message})`)
        }
      })
    } catch (cause) {
      if (cause instanceof StorageCorrupted) this.damaged(cause)
      throw cause
    }
  }

  corrupted(found: string): StorageCorrupted {
    return new StorageCorrupted({ file: this.file, found, remedy: REMEDY })
  }

  state(): StoredState | undefined {
    const row = this.guard("reading", () => this.statements.state.get())
    return row === undefined ? undefined : { headerCount: row.header_count, bestHash: row.best_hash }
  }

  *pages(): Iterable<Uint8Array> {
    const count = this.guard("reading", () => this.statements.pageCount.get()?.pages ?? 0)
    for (let page = 0; page < count; page++) {
      const row = this.guard("reading", () => this.statements.page.get(page))
      if (row?.records.length !== PAGE_BYTES) throw this.corrupted(`page ${page} of the block index`)
      // The index writes to it and views it as words, which needs an aligned buffer.
      yield row.records.byteOffset % 4 === 0 ? row.records : new Uint8Array(row.records)
    }
  }

  coin(outpoint: string): Coin | undefined {
    return this.guard("reading", () => {
      const row = this.statements.coin.get(coinKey(outpoint))
      return row === undefined ? undefined : decodeCoin(row.coin)
    })
  }

  /** The stored coin of a transaction with the lowest index. */
  coinOf(txid: Bytes): Coin | undefined {
    return this.guard("reading", () => {
      const row = this.statements.coinOf.get(concat(txid, FIRST_INDEX), concat(txid, LAST_INDEX))
      return row === undefined ? undefined : decodeCoin(row.coin)
    })
  }

  claim(name: NameKey): NameClaim | undefined {
    return this.guard("reading", () => {
      const row = this.statements.claim.get(Buffer.from(name, "latin1"))
      return row === undefined ? undefined : toClaim(row)
    })
  }

  /** The stored claims of names, each given once. */
  claimsOf(names: ReadonlyArray<NameKey>): ReadonlyMap<NameKey, NameClaim> {
    const found = new Map<NameKey, NameClaim>()
    const whole = names.length - names.length % NAMES_AT_ONCE
    this.guard("reading", () => {
      for (let from = 0; from < whole; from += NAMES_AT_ONCE) {
        const some = names.slice(from, from + NAMES_AT_ONCE).map((name) => Buffer.from(name, "latin1"))
        for (const row of this.statements.claimsOf.all(...some)) found.set(nameKey(row.name), toClaim(row))
      }
    })
    for (const name of names.slice(whole)) {
      const claim = this.claim(name)
      if (claim !== undefined) found.set(name, claim)
    }
    return found
  }

  /** Stored claims with heights from `from` to `to`, inclusive. */
  claimsBetween(from: Height, to: Height): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> {
    return this.guard("reading", () => {
      const found: Array<readonly [NameKey, NameClaim]> = []
      for (const { claim, height } of this.statements.claimsBetween.iterate(from, to)) {
        const outpoint = claim.toString("latin1", 0, OUTPOINT_SIZE)
        found.push([nameKey(claim.subarray(OUTPOINT_SIZE)), { height, outpoint }])
      }
      return found
    })
  }

  /** As in `CoinReads`. */
  coinsAfter(outpoint: string | undefined, limit: number): ReadonlyArray<readonly [outpoint: string, coin: Coin]> {
    return this.guard("reading", () => this.statements.coins.coinsAfter(outpoint, limit))
  }

  /** As in `CoinReads`. */
  coinsPaying(search: CoinSearch): CoinsFound {
    return this.guard("reading", () => this.statements.coins.coinsPaying(search))
  }

  /** Up to `limit` stored claims after a name, or from the first one, in byte order of the names. */
  claimsAfter(name: NameKey | undefined, limit: number): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> {
    const { claimsAfter, firstClaims } = this.statements
    return this.guard("reading", () => {
      const rows = name === undefined ? firstClaims.all(limit) : claimsAfter.all(Buffer.from(name, "latin1"), limit)
      return rows.map((row) => [nameKey(row.name), toClaim(row)] as const)
    })
  }

  /** Stores all changes or none. Rows are written in key order, which is several times faster. */
  commit(changes: Changes): void {
    const apply = this.database.transaction(() => {
      this.statements.deleteCoins(changes.spent)
      this.statements.putCoins(changes.coins)
      const claims = split(changes.claims)
      this.statements.deleteClaims(claims.gone)
      this.statements.putClaims(claims.kept)
      for (const { bytes, page } of changes.pages) this.statements.putPage.run(page, bytes)
      this.statements.putState.run(changes.headerCount, changes.bestHash)
    })
    this.guard("writing", () => apply.immediate())
  }

  size(): number {
    return this.guard("reading", () =>
      Number(this.database.pragma("page_count", { simple: true })) *
      Number(this.database.pragma("page_size", { simple: true })))
  }

  /** Copies the write-ahead log into the file if it is large enough. Call it after a commit. */
  committed(): void {
    this.guard("writing", () => this.sums.committed())
  }

  copyLog(): void {
    this.guard("writing", () => this.sums.copyLog())
  }

  /** Like `committed`, without blocking the event loop. The writer waits for it. */
  committedAside(): Effect.Effect<void, StorageFailure> {
    return copyWhenDue(this.sums, { file: this.file, doing: "writing", remedy: REMEDY }).pipe(
      Effect.tapErrorTag("StorageCorrupted", (damage) => attempt(() => this.damaged(damage))),
      Effect.uninterruptible
    )
  }

  close(): void {
    this.sums.close()
  }
}
