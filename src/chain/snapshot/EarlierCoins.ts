import { type BlockUndo, coinsBefore } from "../../consensus/connectBlock.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import { coinKey } from "../state/coinCodec.ts"
import type { StoredCoin } from "./CoinSnapshot.ts"

/** Approximate memory of an entry without its script, in bytes. */
const ENTRY_BYTES = 250

/**
 * The differences between the coins at the tip and at an earlier block. The caller disconnects the blocks, tip first,
 * and then passes all coins of the tip through `merge`.
 */
export class EarlierCoins {
  private readonly changes = new Map<string, Coin | undefined>()
  private bytes = 0
  private order: ReadonlyArray<string> = []
  private at = 0

  /** Approximate, in bytes. */
  get memory(): number {
    return this.bytes
  }

  disconnect(block: Block, undo: BlockUndo): void {
    for (const [outpoint, coin] of coinsBefore(block, undo)) {
      const key = coinKey(outpoint).toString("latin1")
      if (!this.changes.has(key)) this.bytes += ENTRY_BYTES
      this.bytes += coin?.script.length ?? 0
      this.changes.set(key, coin)
    }
  }

  begin(): void {
    this.order = [...this.changes.keys()].sort()
  }

  /** The coins at the earlier block, up to the last of these coins at the tip; all remaining ones if there are none. */
  merge(coins: ReadonlyArray<StoredCoin>): ReadonlyArray<StoredCoin> {
    if (this.order.length === 0) return coins
    const merged: Array<StoredCoin> = []
    for (const stored of coins) {
      const key = stored.key.toString("latin1")
      this.upTo(key, merged)
      if (!this.changes.has(key)) merged.push(stored)
    }
    if (coins.length === 0) this.upTo(undefined, merged)
    return merged
  }

  /** Adds the changed coins up to a key, inclusive. */
  private upTo(key: string | undefined, merged: Array<StoredCoin>): void {
    for (let next = this.order[this.at]; next !== undefined && (key === undefined || next <= key);) {
      const coin = this.changes.get(next)
      if (coin !== undefined) merged.push({ key: Buffer.from(next, "latin1"), coin })
      next = this.order[++this.at]
    }
  }
}
