import type { Coin, NameClaim } from "../../consensus/view.ts"
import type { Height, NameKey } from "../../protocol/keys.ts"
import type { HeaderInfo } from "../index/headerInfo.ts"

/**
 * Coins and names at the tip, for checks of the next block: mempool, templates. Reads are synchronous and throw
 * `StorageFailure`. Valid within `ChainCoins.atTip` and within a follower's steps, while the tip does not change.
 */
export interface TipState {
  readonly tip: HeaderInfo
  /** The confirmed coin at an outpoint key (`outpointKey`). */
  readonly coin: (outpoint: string) => Coin | undefined
  /** The current claim of a name (`binaryString` of its bytes), expired or not. */
  readonly claim: (name: NameKey) => NameClaim | undefined
  /** Median time past of a block of the best chain (for BIP 68), in seconds since 1970. */
  readonly medianTimePastAt: (height: Height) => number
}
