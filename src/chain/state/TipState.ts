import type { Coin, NameClaim } from "../../consensus/view.ts"
import type { HeaderInfo } from "../index/headerInfo.ts"

/**
 * Coins and names as they are at the tip, for whoever judges what a next block may hold: the mempool, templates.
 * Reading does not wait and throws `StorageFailure`. Good for as long as nobody moves the tip: within `Chain.atTip`, and
 * within a follower's steps.
 */
export interface TipState {
  readonly tip: HeaderInfo
  /** The coin at an outpoint key (`outpointKey`), confirmed ones alone. */
  readonly coin: (outpoint: string) => Coin | undefined
  /** The current claim of a name (`binaryString` of its bytes), expired or not. */
  readonly claim: (name: string) => NameClaim | undefined
  /** Median time past of the block of the best chain at a height (BIP 68 counts from it), seconds since 1970. */
  readonly medianTimePastAt: (height: number) => number
}
