import type { ChainView, Coin, NameClaim } from "../../consensus/view.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import type { Height, NameKey } from "../../protocol/keys.ts"
import type { ChainDatabase, Changes } from "./ChainDatabase.ts"
import { ClaimTable } from "./ClaimTable.ts"
import { CoinTable, DIRTY, FRESH } from "./CoinTable.ts"

/** The lookups of stored coins of the last requested transaction. */
interface Missed {
  readonly txid: string
  count: number
  none: boolean
}

const NOTHING_MISSED: Missed = { txid: "", count: -Infinity, none: false }

/** Consecutive misses before one query covers all outputs of the transaction. */
const MISSES = 4

const TXID_SIZE = 32

/**
 * The coins and name claims of the best chain: unflushed changes and recently read entries on top of the database. The
 * owner limits the cache by flushing when `memory` exceeds its budget. Reads throw `StorageFailure`.
 */
export class CoinStore implements ChainView {
  private database: ChainDatabase
  /** Decoded on access: most coins are read once, when they are spent. */
  private readonly coins = new CoinTable()
  private readonly claims = new ClaimTable()
  private missed: Missed = NOTHING_MISSED
  private changed = false

  constructor(database: ChainDatabase) {
    this.database = database
  }

  get memory(): number {
    return this.coins.bytes + this.claims.bytes
  }

  get hasChanges(): boolean {
    return this.changed
  }

  /** Continues on another database, without changes. */
  continueOn(database: ChainDatabase): void {
    this.forget()
    this.missed = NOTHING_MISSED
    this.database = database
  }

  readonly coin = (outpoint: string): Coin | undefined => {
    const place = this.coins.find(outpoint)
    if (place !== 0) return this.coins.coin(place)
    const coin = this.stored(outpoint)
    // A transaction without coins is remembered once instead of per output.
    if (coin !== undefined || !this.missed.none) this.coins.add(outpoint, coin, coin === undefined ? FRESH : 0)
    return coin
  }

  private peek(outpoint: string): Coin | undefined {
    const place = this.coins.find(outpoint)
    return place === 0 ? this.stored(outpoint) : this.coins.coin(place)
  }

  /**
   * Reads a coin from the database. Outputs of a coinbase are looked up one by one and nearly never exist, so after
   * some misses one query covers the whole transaction.
   */
  private stored(outpoint: string): Coin | undefined {
    const txid = outpoint.slice(0, TXID_SIZE)
    const { missed } = this
    if (missed.txid === txid && missed.none) return undefined
    const coin = this.database.coin(outpoint)
    if (coin !== undefined || missed.txid !== txid) {
      this.missed = { txid, count: coin === undefined ? 1 : -Infinity, none: false }
    } else if (++missed.count === MISSES) missed.none = this.database.coinOf(fromBinaryString(txid)) === undefined
    return coin
  }

  readonly claim = (name: NameKey): NameClaim | undefined => {
    if (this.claims.has(name)) return this.claims.get(name)
    const claim = this.database.claim(name)
    this.claims.add(name, claim)
    return claim
  }

  readonly expectClaims = (names: ReadonlyArray<NameKey>): void => {
    const unknown = names.filter((name) => !this.claims.has(name))
    const found = this.database.claimsOf(unknown)
    for (const name of unknown) this.claims.add(name, found.get(name))
  }

  readonly claimsBetween = (from: Height, to: Height): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> => {
    const found: Array<readonly [name: NameKey, claim: NameClaim]> = []
    for (const [name, claim] of this.database.claimsBetween(from, to)) {
      if (!this.claims.hasChanged(name)) found.push([name, claim])
    }
    for (let height = from; height <= to; height++) found.push(...this.claims.claimsAt(height))
    return found
  }

  /** The same without keeping coins in memory, for callers outside block validation. */
  readonly passing: ChainView = {
    coin: (outpoint) => this.peek(outpoint),
    claim: this.claim,
    expectClaims: this.expectClaims,
    claimsBetween: this.claimsBetween
  }

  /** Applies the changes of connecting or disconnecting a block. */
  apply(
    coins: ReadonlyMap<string, Coin | undefined>,
    claims: ReadonlyMap<NameKey, NameClaim | undefined>
  ): void {
    this.changed ||= coins.size + claims.size > 0
    // Unlike a loop over the map, makes no array per entry.
    coins.forEach((coin, outpoint) => this.setCoin(outpoint, coin))
    claims.forEach((claim, name) => this.claims.change(name, claim))
  }

  private setCoin(outpoint: string, coin: Coin | undefined): void {
    const place = this.coins.find(outpoint)
    if (place === 0) {
      // New, unless a coinbase repeats an older outpoint (BIP 30 is not enforced).
      this.coins.add(outpoint, coin, coin !== undefined && !coin.coinbase ? DIRTY | FRESH : DIRTY)
      return
    }
    const state = this.coins.state(place)
    if (coin === undefined && (state & FRESH) !== 0) this.coins.remove(place)
    else this.coins.set(place, coin, state | DIRTY)
  }

  /** Stores all changes with the rest of a commit, or nothing. */
  flush(rest: Omit<Changes, "coins" | "spent" | "claims">, keep: number): void {
    this.missed = NOTHING_MISSED
    this.database.commit({ ...rest, ...this.coins.changes(), claims: this.claims.changes() })
    this.changed = false
    if (this.memory > keep) return this.forget()
    this.coins.settle()
    this.claims.settle()
  }

  private forget(): void {
    this.coins.clear()
    this.claims.clear()
  }
}
