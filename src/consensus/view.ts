import type { Bytes } from "../protocol/bytes.ts"
import type { NameChange } from "../protocol/nameOperation.ts"
import type { Transaction } from "../protocol/transaction.ts"

/** An unspent output. */
export interface Coin {
  /** Smallest units. */
  readonly value: number
  /** The whole scriptPubKey, a name prefix included. Bytes of its own, not a view of a block. */
  readonly script: Bytes
  /** Height of the block that made it. */
  readonly height: number
  readonly coinbase: boolean
}

/** What the rules need to know of a name: who holds it and since when. Moves with the coins. */
export interface NameClaim {
  /** Height of the last NAME_FIRSTUPDATE or NAME_UPDATE. */
  readonly height: number
  /** Key of the outpoint that holds the name (`outpointKey`). */
  readonly outpoint: string
}

/** The state before a block. Reading it does not wait; what the storage throws passes through the rules. */
export interface ChainView {
  /** The coin at an outpoint key. */
  readonly coin: (outpoint: string) => Coin | undefined
  /** The current claim of a name (`binaryString` of its bytes), expired or not. */
  readonly claim: (name: string) => NameClaim | undefined
  /** Hears which claims come next where they are many: a view of a disk reads them at once. Changes no answer. */
  readonly expectClaims?: (names: ReadonlyArray<string>) => void
  /** The current claims that were made in the heights `from` to `to`, both included, by name key, in any order. */
  readonly claimsBetween: (from: number, to: number) => ReadonlyArray<readonly [name: string, claim: NameClaim]>
}

/** A NAME_FIRSTUPDATE or NAME_UPDATE that takes effect: it sets the record of its name (reference/protocol.md 4.6). */
export interface NameEffect {
  readonly name: Bytes
  readonly operation: NameChange
  readonly height: number
  readonly transaction: Transaction
  readonly vout: number
  /** Smallest units in the name output. */
  readonly value: number
  /** The script behind the name prefix. */
  readonly address: Bytes
}

/** A transaction and the coins that its inputs spend, in the order of the inputs: what a script check needs. */
export interface ScriptCheck {
  readonly transaction: Transaction
  readonly coins: ReadonlyArray<Coin>
}

/**
 * What a block does to the coins and claims, net. A coin that is both made and spent in the block is in none of the maps.
 * Inverting it is undoing the block: put `removed` and `claimsBefore` back, and take away whatever `coins` made.
 */
export interface BlockDelta {
  /** Coins after the block by outpoint key; `undefined` where the block removed one. */
  readonly coins: ReadonlyMap<string, Coin | undefined>
  /** Coins from before the block that it removed or replaced: spent, expired, ignored or overwritten. */
  readonly removed: ReadonlyMap<string, Coin>
  /** Claims after the block by name key, of names that it touched. */
  readonly claims: ReadonlyMap<string, NameClaim>
  /** Claims before the block of the same names; `undefined` for a name that was new. */
  readonly claimsBefore: ReadonlyMap<string, NameClaim | undefined>
  readonly effects: ReadonlyArray<NameEffect>
  /** Smallest units. */
  readonly fees: number
  /** Checks that are still to be made; in order of the block. Empty where scripts are assumed valid. */
  readonly scripts: ReadonlyArray<ScriptCheck>
}
