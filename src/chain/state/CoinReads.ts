import type { Coin } from "../../consensus/view.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Database, Statement } from "../../storage/Database.ts"
import { repeated } from "../../storage/rowWriter.ts"
import { coinKey, decodeCoin, outpointOfKey, scriptStart } from "./coinCodec.ts"

/** Scripts to search for as `binaryString`, and their lengths. */
export interface WantedScripts {
  readonly keys: { readonly has: (script: string) => boolean }
  readonly lengths: ReadonlySet<number>
  /** The distinct last four bytes of the scripts, to find coins within SQLite; none if a script is shorter. */
  readonly tails: ReadonlyArray<Bytes>
}

/** Bytes of a tail, and how many tails a search compares within SQLite, where a mismatch costs a tenth. */
export const TAIL_BYTES = 4
const TAILS = [64, 4_096]

/** Coins read at a time by a script search: two to four milliseconds of work either way. */
export const rowsAtOnce = ({ tails }: WantedScripts): number =>
  tails.length === 0 || tails.length > 4_096 ? 500 : tails.length > 64 ? 4_000 : 1_000

interface CoinCells {
  readonly outpoint: Buffer
  readonly coin: Buffer
}

export interface CoinSearch {
  /** The key of the last coin of the previous step; empty for the first. */
  readonly after: Buffer
  readonly limit: number
  readonly scripts: WantedScripts
}

export interface CoinsFound {
  readonly found: ReadonlyArray<readonly [outpoint: string, coin: Coin]>
  readonly count: number
  /** The key of the last one, which begins with its txid in wire order; `undefined` at the end. */
  readonly last: Buffer | undefined
}

/**
 * Reads stored coins in key order, some at a time. Only needs a connection to chainstate.db, so another thread can have
 * one. Methods throw driver errors and `DecodeError`.
 */
export class CoinReads {
  readonly #coinsAfter: Statement<[Buffer, number], CoinCells>
  readonly #coinsUpTo: Statement<[Buffer, number], { readonly count: number; readonly last: Buffer | null }>
  readonly #coinsWithin: Statement<[Buffer, Buffer], CoinCells>
  readonly #coinsEnding: ReadonlyArray<{
    readonly size: number
    readonly statement: Statement<Array<Uint8Array>, CoinCells>
  }>

  /** Prepares the statements. Throws the driver's error if the file has other tables. */
  constructor(database: Database) {
    this.#coinsAfter = database.prepare(
      "SELECT outpoint, coin FROM coins WHERE outpoint > ? ORDER BY outpoint LIMIT ?"
    )
    this.#coinsUpTo = database.prepare(
      `SELECT count(*) AS count, max(outpoint) AS last
       FROM (SELECT outpoint FROM coins WHERE outpoint > ? ORDER BY outpoint LIMIT ?)`
    )
    this.#coinsWithin = database.prepare(
      "SELECT outpoint, coin FROM coins WHERE outpoint > ? AND outpoint <= ? ORDER BY outpoint"
    )
    this.#coinsEnding = TAILS.map((size) => ({
      size,
      statement: database.prepare(
        `SELECT outpoint, coin FROM coins WHERE outpoint > ? AND outpoint <= ?
         AND substr(coin, -${TAIL_BYTES}) IN (${repeated("?", size)}) ORDER BY outpoint`
      )
    }))
  }

  /** Up to `limit` coins after an outpoint key, or from the first one, in (txid, index) order. */
  coinsAfter(outpoint: string | undefined, limit: number): ReadonlyArray<readonly [outpoint: string, coin: Coin]> {
    const after = outpoint === undefined ? Buffer.alloc(0) : coinKey(outpoint)
    return this.#coinsAfter.all(after, limit).map((row) => [outpointOfKey(row.outpoint), decodeCoin(row.coin)] as const)
  }

  /** The coins with one of the scripts among up to `limit` coins after a key, without decoding the others. */
  coinsPaying({ after, limit, scripts }: CoinSearch): CoinsFound {
    const { count, last } = this.#coinsUpTo.get(after, limit) ?? { count: 0, last: null }
    if (last === null) return { found: [], count: 0, last: undefined }
    const found: Array<readonly [outpoint: string, coin: Coin]> = []
    for (const { coin, outpoint } of this.#between({ after, last }, scripts)) {
      const start = scriptStart(coin)
      if (scripts.lengths.has(coin.length - start) && scripts.keys.has(coin.toString("latin1", start))) {
        found.push([outpointOfKey(outpoint), decodeCoin(coin)])
      }
    }
    return { found, count, last }
  }

  /** The coins within bounds, without most of those with other scripts. */
  #between(
    { after, last }: { readonly after: Buffer; readonly last: Buffer },
    { tails }: WantedScripts
  ): ReadonlyArray<CoinCells> {
    const [first] = tails
    const ending = this.#coinsEnding.find(({ size }) => tails.length <= size)
    if (first === undefined || ending === undefined) return this.#coinsWithin.all(after, last)
    const rest = Array.from({ length: ending.size - tails.length }, () => first)
    return ending.statement.all(after, last, ...tails, ...rest)
  }
}
