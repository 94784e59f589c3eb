import { binaryString, type Bytes } from "../protocol/bytes.ts"
import type { Height, NameKey } from "../protocol/keys.ts"
import { outpoint, OUTPOINT_SIZE } from "../protocol/transaction.ts"
import type { ChainView, Coin, NameClaim } from "./view.ts"

/**
 * The view before the block plus the changes so far. Each key of `coins` that has a coin in the view is also in
 * `removed`.
 */
export class BlockOverlay {
  /** Coins that the block created; `undefined` for a coin of the view that it removed. */
  readonly coins = new Map<string, Coin | undefined>()
  /** Coins of the view that the block removed or replaced. */
  readonly removed = new Map<string, Coin>()
  readonly claims = new Map<NameKey, NameClaim>()
  readonly claimsBefore = new Map<NameKey, NameClaim | undefined>()
  private readonly view: ChainView
  private readonly scratch = new Uint8Array(OUTPOINT_SIZE)

  constructor(view: ChainView) {
    this.view = view
  }

  coin(outpoint: string): Coin | undefined {
    const coin = this.coins.get(outpoint)
    return coin !== undefined || this.coins.has(outpoint) ? coin : this.view.coin(outpoint)
  }

  /** `coin` must be what `coin` returned for this outpoint. */
  spend(outpoint: string, coin: Coin): void {
    if (this.coins.has(outpoint) && !this.removed.has(outpoint)) {
      // This block created the coin. It never becomes visible outside of the block.
      this.coins.delete(outpoint)
      return
    }
    if (!this.removed.has(outpoint)) this.removed.set(outpoint, coin)
    this.coins.set(outpoint, undefined)
  }

  /**
   * Only a coinbase can repeat an older transaction (BIP 30 is not enforced, reference/protocol.md 4.8); its coins
   * replace the older ones.
   */
  add(outpoint: string, coin: Coin): void {
    if (coin.coinbase && !this.coins.has(outpoint)) {
      const replaced = this.view.coin(outpoint)
      if (replaced !== undefined) this.removed.set(outpoint, replaced)
    }
    this.coins.set(outpoint, coin)
  }

  readonly claim = (name: NameKey): NameClaim | undefined => this.claims.get(name) ?? this.view.claim(name)

  expectClaims(names: ReadonlyArray<NameKey>): void {
    this.view.expectClaims?.(names)
  }

  setClaim(name: NameKey, claim: NameClaim): void {
    if (!this.claims.has(name)) this.claimsBefore.set(name, this.view.claim(name))
    this.claims.set(name, claim)
  }

  /** Claims from the heights `from` to `to` that this block did not renew, by name key. */
  claimsBetween(from: Height, to: Height): ReadonlyArray<readonly [name: NameKey, claim: NameClaim]> {
    return this.view.claimsBetween(from, to).filter(([name]) => !this.claims.has(name))
  }

  /** A flat string in memory. */
  outputKey(txid: Bytes, index: number): string {
    return binaryString(outpoint(txid, index, this.scratch))
  }
}
