import type * as Effect from "effect/Effect"
import type { Coin, NameClaim, NameEffect } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Repair } from "../../storage/repair.ts"

export interface Cursor {
  readonly height: Height
  /** Wire order. */
  readonly hash: Bytes
}

export interface ConnectedBlock extends Cursor {
  readonly block: Block
  /** The name effects of the block, in order (reference/protocol.md 4.6). */
  readonly effects: ReadonlyArray<NameEffect>
  /** What the block removed from the coins; only for followers with `needsCoins`. */
  readonly coins?: SpentByBlock
}

export interface SpentByBlock {
  /** By transaction and input; none for the coinbase. */
  readonly spent: ReadonlyArray<ReadonlyArray<Coin>>
  /** Older coins by `outpointKey`: spent ones, and those of expired names. */
  readonly removed: ReadonlyMap<string, Coin>
}

/** The claim and coin of an unexpired name. */
export interface NameCoin {
  readonly claim: NameClaim
  readonly coin: Coin
}

/** The state at a block, for a store that begins there because earlier blocks are not stored. */
export interface StateAtBase {
  readonly at: Cursor
  /** Passes all unexpired names to `use` in lists. */
  readonly visitNames: <E>(
    use: (names: ReadonlyArray<NameCoin>) => Effect.Effect<void, E>
  ) => Effect.Effect<void, E | StorageFailure>
}

/**
 * For a store that writes thousands of blocks together with much less work than in batches. Chain calls `hold` instead
 * of `apply` while further blocks are at hand, and `settle` when there are none, or before pruning.
 */
export interface BulkWrites {
  /**
   * Takes blocks like `apply`, but may keep them in memory, up to a limit. The stored data and cursor stay behind until
   * `settle` or the next `apply` or `rewind`. After a crash the store continues from its stored cursor.
   */
  readonly hold: (blocks: ReadonlyArray<ConnectedBlock>) => Effect.Effect<void, StorageFailure>
  readonly settle: Effect.Effect<void, StorageFailure>
}

/**
 * A store derived from the best chain, with its cursor in the same transaction as its data (NameDb, the wallet's index,
 * optional indexes). Chain brings it from its cursor to the tip, at the start and after each batch of blocks, so a
 * crash between the two commits needs no special handling. Both calls are all or nothing, one at a time:
 * - `apply` gets blocks that follow the cursor without a gap, and moves the cursor to the last of them.
 * - `rewind` removes all data above `to`, which is never above the cursor.
 */
export interface Follower {
  readonly name: string
  /**
   * Whether Chain calls the follower after all others, even later ones. For the mempool, which may notify peers and
   * callers only of what names and wallets already know.
   */
  readonly last?: boolean
  /** Whether `apply` needs the coins that blocks removed. */
  readonly needsCoins?: boolean
  /** Approximate bytes of blocks per call of `apply`, for stores that take one turn of the event loop. */
  readonly batchBytes?: number
  /**
   * Whether the follower may be far behind the tip and then catches up in the background, between new blocks. For
   * stores without which all answers stay correct.
   */
  readonly background?: boolean
  /** The last block of the data; `undefined` for an empty store, which begins with genesis. */
  readonly cursor: Effect.Effect<Cursor | undefined, StorageFailure>
  /**
   * Recent blocks up to the cursor, newest first. If the chain does not know the cursor's block, the store rewinds to
   * the newest known one. Without a trail, it starts again from genesis.
   */
  readonly trail?: Effect.Effect<ReadonlyArray<Cursor>, StorageFailure>
  readonly apply: (blocks: ReadonlyArray<ConnectedBlock>) => Effect.Effect<void, StorageFailure>
  readonly rewind: (to: Cursor) => Effect.Effect<void, StorageFailure>
  readonly bulk?: BulkWrites
  /**
   * Replaces all data by the state at a block and moves the cursor there. Called instead of `apply` if the chain state
   * began with a snapshot and the blocks after the cursor are missing. A follower without it waits for these blocks, as
   * does one that returns false.
   */
  readonly adopt?: (state: StateAtBase) => Effect.Effect<boolean, StorageFailure>
  /**
   * Called once the follower has reached the tip or an unreadable block, for work that waits for the end of a reorg.
   */
  readonly arrived?: Effect.Effect<void, StorageFailure>
  /** Rebuilds the store if it is found damaged at run time. Without it, damage ends the node. */
  readonly repair?: Repair
}

/** Span attributes for applying blocks. */
export const applied = (
  blocks: ReadonlyArray<Cursor>
): { readonly blocks: number; readonly height: Height | undefined } => ({
  blocks: blocks.length,
  height: blocks.at(-1)?.height
})
