import type { ChainView, Coin, NameClaim } from "../../consensus/view.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import type { ChainDatabase, Changes } from "./ChainDatabase.ts"

interface CoinEntry {
  coin: Coin | undefined
  /** Differs from what is stored. */
  dirty: boolean
  /** The database has no coin here: one that goes again before it was stored leaves no trace. */
  fresh: boolean
}

/** What is known of the stored coins of the transaction that was asked about last. */
interface Missed {
  readonly txid: string
  /** Outputs that were asked for in a row and had no coin. */
  count: number
  /** Whether the transaction has no stored coin at all. */
  none: boolean
}

const NOTHING_MISSED: Missed = { txid: "", count: -Infinity, none: false }

/** Misses in a row after which all outputs of a transaction are asked for at once. */
const MISSES = 4

const TXID_SIZE = 32

/** What an entry of the cache takes beside its script: key, objects, slot of the map. Measured, in bytes. */
const ENTRY_BYTES = 240

const scriptBytes = (coin: Coin | undefined): number => coin?.script.length ?? 0

/**
 * Coins and name claims of the best chain: what changed since the last flush, and what was read lately, over the
 * database. Bounded by its owner, which flushes when `memory` grows beyond its budget. Reads throw `StorageFailure`.
 */
export class CoinStore implements ChainView {
  private readonly database: ChainDatabase
  private readonly coins = new Map<string, CoinEntry>()
  private readonly claims = new Map<string, NameClaim | undefined>()
  /** Outpoints whose entry differs from what is stored or is of no coin: a flush looks at these and at no others. */
  private readonly touched = new Set<string>()
  /** Names whose claim differs from what is stored. */
  private readonly touchedNames = new Set<string>()
  /** Names with a claim that is not stored yet, by its height. */
  private readonly unstored = new Map<number, Set<string>>()
  private missed: Missed = NOTHING_MISSED
  private used = 0
  private changed = false

  constructor(database: ChainDatabase) {
    this.database = database
  }

  /** About how many bytes the cache takes. */
  get memory(): number {
    return this.used
  }

  /** Whether anything differs from what is stored. */
  get hasChanges(): boolean {
    return this.changed
  }

  readonly coin = (outpoint: string): Coin | undefined => {
    const entry = this.coins.get(outpoint)
    if (entry !== undefined) return entry.coin
    const coin = this.stored(outpoint)
    // That a transaction has no coin at all is remembered once.
    if (coin !== undefined || !this.missed.none) {
      this.enter(outpoint, { coin, dirty: false, fresh: coin === undefined })
    }
    return coin
  }

  /** The same without keeping it: for whoever asks, however often. */
  peek(outpoint: string): Coin | undefined {
    const entry = this.coins.get(outpoint)
    return entry === undefined ? this.stored(outpoint) : entry.coin
  }

  /**
   * A coin in the database. The outputs of a coinbase are asked for one after the other and are nearly never there: after
   * some of them one question about the transaction stands for the rest.
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

  readonly claim = (name: string): NameClaim | undefined => {
    if (this.claims.has(name)) return this.claims.get(name)
    const claim = this.database.claim(name)
    this.claims.set(name, claim)
    this.used += ENTRY_BYTES
    return claim
  }

  readonly expectClaims = (names: ReadonlyArray<string>): void => {
    const unknown = names.filter((name) => !this.claims.has(name))
    const found = this.database.claimsOf(unknown)
    for (const name of unknown) this.claims.set(name, found.get(name))
    this.used += ENTRY_BYTES * unknown.length
  }

  readonly claimsBetween = (from: number, to: number): ReadonlyArray<readonly [name: string, claim: NameClaim]> => {
    const found: Array<readonly [name: string, claim: NameClaim]> = []
    for (const [name, claim] of this.database.claimsBetween(from, to)) {
      if (!this.touchedNames.has(name)) found.push([name, claim])
    }
    // A name that changed since is found at the heights of all its claims: the one that it has now decides.
    for (let height = from; this.unstored.size > 0 && height <= to; height++) {
      for (const name of this.unstored.get(height) ?? []) {
        const claim = this.claims.get(name)
        if (claim?.height === height) found.push([name, claim])
      }
    }
    return found
  }

  private enter(outpoint: string, entry: CoinEntry): void {
    this.coins.set(outpoint, entry)
    if (entry.dirty || entry.coin === undefined) this.touched.add(outpoint)
    this.used += ENTRY_BYTES + scriptBytes(entry.coin)
  }

  /** Applies what a block, or undoing one, does to the coins and claims. */
  apply(
    coins: ReadonlyMap<string, Coin | undefined>,
    claims: ReadonlyMap<string, NameClaim | undefined>
  ): void {
    this.changed ||= coins.size + claims.size > 0
    for (const [outpoint, coin] of coins) this.setCoin(outpoint, coin)
    for (const [name, claim] of claims) this.setClaim(name, claim)
  }

  private setCoin(outpoint: string, coin: Coin | undefined): void {
    const entry = this.coins.get(outpoint)
    if (entry === undefined) {
      // An outpoint nobody asked for is new, but for coinbases that repeat an older one (there is no BIP 30 here).
      this.enter(outpoint, { coin, dirty: true, fresh: coin !== undefined && !coin.coinbase })
      return
    }
    this.used += scriptBytes(coin) - scriptBytes(entry.coin)
    if (coin === undefined && entry.fresh) {
      this.coins.delete(outpoint)
      this.touched.delete(outpoint)
      this.used -= ENTRY_BYTES
      return
    }
    entry.coin = coin
    entry.dirty = true
    this.touched.add(outpoint)
  }

  private setClaim(name: string, claim: NameClaim | undefined): void {
    if (!this.claims.has(name)) this.used += ENTRY_BYTES
    this.claims.set(name, claim)
    this.touchedNames.add(name)
    if (claim === undefined) return
    const names = this.unstored.get(claim.height)
    if (names === undefined) this.unstored.set(claim.height, new Set([name]))
    else names.add(name)
  }

  /** Stores everything that changed, together with the rest of a commit. All or nothing. */
  flush(rest: Omit<Changes, "coins" | "claims">, keep: number): void {
    const coins: Array<readonly [string, Coin | undefined]> = []
    for (const outpoint of this.touched) {
      const entry = this.coins.get(outpoint)
      if (entry?.dirty === true) coins.push([outpoint, entry.coin])
    }
    const claims = Array.from(this.touchedNames, (name) => [name, this.claims.get(name)] as const)
    this.missed = NOTHING_MISSED
    this.database.commit({ ...rest, coins, claims })
    this.unstored.clear()
    this.changed = false
    if (this.used > keep) this.forget()
    else this.settle()
  }

  /** Notes that everything is stored. */
  private settle(): void {
    for (const outpoint of this.touched) {
      const entry = this.coins.get(outpoint)
      if (entry === undefined) continue
      if (entry.coin === undefined) {
        this.coins.delete(outpoint)
        this.used -= ENTRY_BYTES
        continue
      }
      entry.dirty = false
      entry.fresh = false
    }
    this.touched.clear()
    this.touchedNames.clear()
  }

  private forget(): void {
    this.coins.clear()
    this.claims.clear()
    this.touched.clear()
    this.touchedNames.clear()
    this.used = 0
  }
}
