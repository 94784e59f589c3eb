import type { ChainView, Coin, NameClaim } from "../../consensus/view.ts"
import type { Height, NameKey } from "../../protocol/keys.ts"

type Changes = {
  readonly coins: ReadonlyMap<string, Coin | undefined>
  readonly claims: ReadonlyMap<NameKey, NameClaim | undefined>
}

/** Coins and claims at an earlier block, in memory on top of those at the tip, which must not change. */
export class UndoneView implements ChainView {
  private readonly tip: ChainView
  private readonly coins = new Map<string, Coin | undefined>()
  private readonly claims = new Map<NameKey, NameClaim | undefined>()

  constructor(tip: ChainView) {
    this.tip = tip
  }

  get size(): number {
    return this.coins.size + this.claims.size
  }

  readonly coin = (outpoint: string): Coin | undefined =>
    this.coins.has(outpoint) ? this.coins.get(outpoint) : this.tip.coin(outpoint)

  readonly claim = (name: NameKey): NameClaim | undefined =>
    this.claims.has(name) ? this.claims.get(name) : this.tip.claim(name)

  readonly claimsBetween = (from: Height, to: Height): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> => {
    const found = this.tip.claimsBetween(from, to).filter(([name]) => !this.claims.has(name))
    for (const [name, claim] of this.claims) {
      if (claim !== undefined && claim.height >= from && claim.height <= to) found.push([name, claim])
    }
    return found
  }

  /** Disconnects a block. Returns the previous coins and claims of the changed keys. */
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
