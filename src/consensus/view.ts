import type { Bytes } from "../protocol/bytes.ts"
import type { Height, NameKey } from "../protocol/keys.ts"
import type { NameSetting } from "../protocol/nameOperation.ts"
import type { Transaction } from "../protocol/transaction.ts"

export interface Coin {
  /** Smallest units. */
  readonly value: number
  /** The whole scriptPubKey with its name prefix. In the changes of a block it is a view: copy it to keep it. */
  readonly script: Bytes
  /** Height of the block that created it. */
  readonly height: Height
  readonly coinbase: boolean
}

/** Changes with the coins. */
export interface NameClaim {
  /** Height of the last NAME_FIRSTUPDATE or NAME_UPDATE. */
  readonly height: Height
  /** Key of the outpoint that holds the name (`outpointKey`). */
  readonly outpoint: string
}

/** Reads are synchronous; storage errors pass through the rules. */
export interface ChainView {
  readonly coin: (outpoint: string) => Coin | undefined
  /** The current claim of a name (`nameKey`), expired or not. */
  readonly claim: (name: NameKey) => NameClaim | undefined
  /** Announces many claims that are read next, so that a view of a disk can read them at once. */
  readonly expectClaims?: (names: ReadonlyArray<NameKey>) => void
  /** The current claims created from height `from` to `to` (both included), by name key, in any order. */
  readonly claimsBetween: (from: Height, to: Height) => ReadonlyArray<readonly [name: NameKey, claim: NameClaim]>
}

/** A NAME_FIRSTUPDATE or NAME_UPDATE that takes effect: it sets the record of its name (reference/protocol.md 4.6). */
export interface NameEffect {
  readonly name: Bytes
  readonly operation: NameSetting
  readonly height: Height
  readonly transaction: Transaction
  readonly vout: number
  /** Smallest units in the name output. */
  readonly value: number
  /** The script after the name prefix. */
  readonly address: Bytes
}

export interface ScriptCheck {
  readonly transaction: Transaction
  readonly coins: ReadonlyArray<Coin>
}

/**
 * Net changes: a coin that the block creates and spends is in none of the maps. `undoBlock` computes the reverse from
 * the block with its height, `removed` and `claimsBefore`.
 */
export interface BlockDelta {
  /** Coins after the block by outpoint key; `undefined` if the block removed the coin. */
  readonly coins: ReadonlyMap<string, Coin | undefined>
  /** Older coins that the block removed or replaced: spent, expired, ignored or overwritten. */
  readonly removed: ReadonlyMap<string, Coin>
  /** By name key. */
  readonly claims: ReadonlyMap<NameKey, NameClaim>
  /** Claims of the same names before the block; `undefined` for a new name. */
  readonly claimsBefore: ReadonlyMap<NameKey, NameClaim | undefined>
  readonly effects: ReadonlyArray<NameEffect>
  /** Smallest units. */
  readonly fees: number
  /** Checks still to be made, in block order. Empty if scripts are assumed valid. */
  readonly scripts: ReadonlyArray<ScriptCheck>
}
