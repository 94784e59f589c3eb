import type { ChainView, Coin, NameClaim } from "../consensus/view.ts"
import type { CoinStore } from "./CoinStore.ts"

type Changes = {
  readonly coins: ReadonlyMap<string, Coin | undefined>
  readonly claims: ReadonlyMap<string, NameClaim | undefined>
}

/** Coins and claims as they were some blocks ago, in memory: over those of the tip, which stay as they are. */
export class UndoneView implements ChainView {
  private readonly store: CoinStore
  private readonly coins = new Map<string, Coin | undefined>()
  private readonly claims = new Map<string, NameClaim | undefined>()

  constructor(store: CoinStore) {
    this.store = store
  }

  /** Coins and claims that are kept in memory. */
  get size(): number {
    return this.coins.size + this.claims.size
  }

  readonly coin = (outpoint: string): Coin | undefined =>
    this.coins.has(outpoint) ? this.coins.get(outpoint) : this.store.peek(outpoint)

  readonly claim = (name: string): NameClaim | undefined =>
    this.claims.has(name) ? this.claims.get(name) : this.store.claim(name)

  readonly namesClaimedBetween = (from: number, to: number): ReadonlyArray<string> => {
    const names = new Set([...this.store.namesClaimedBetween(from, to), ...this.claims.keys()])
    return [...names].filter((name) => {
      const height = this.claim(name)?.height
      return height !== undefined && height >= from && height <= to
    })
  }

  /** Takes a block back. Returns what was there before, of all that this changes. */
  apply({ claims, coins }: Changes): Changes {
    const before = {
      coins: new Map([...coins.keys()].map((key) => [key, this.coin(key)] as const)),
      claims: new Map([...claims.keys()].map((name) => [name, this.claim(name)] as const))
    }
    for (const [key, coin] of coins) this.coins.set(key, coin)
    for (const [name, claim] of claims) this.claims.set(name, claim)
    return before
  }
}
