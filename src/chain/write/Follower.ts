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

/** The coins that a block removed. */
export interface SpentByBlock {
  /** By transaction and input; none for the coinbase. */
  readonly spent: ReadonlyArray<ReadonlyArray<Coin>>
  /** Those from before the block by `outpointKey`: spent ones, and those of names that expired. */
  readonly removed: ReadonlyMap<string, Coin>
}

/** A name that is not expired: its claim, and the coin that holds it. */
export interface NameCoin {
  readonly claim: NameClaim
  readonly coin: Coin
}

/** The state at a block, for a store that begins there: the blocks before it are not stored. */
export interface StateAtBase {
  readonly at: Cursor
  /** Passes all names that are not expired to `use` in lists. */
  readonly visitNames: <E>(
    use: (names: ReadonlyArray<NameCoin>) => Effect.Effect<void, E>
  ) => Effect.Effect<void, E | StorageFailure>
}

/**
 * For a store that writes the blocks of thousands together with much less work than in batches. Chain calls `hold` in place
 * of `apply` while further blocks are at hand, and `settle` when there are none, and before it prunes blocks.
 */
export interface BulkWrites {
  /**
   * Takes blocks as `apply` does, but may keep them in memory, up to a limit. The stored data and their cursor stay at an
   * earlier block until `settle` or the next `apply` or `rewind`. A process that ends before has stored none of them: the
   * store then continues from its stored cursor.
   */
  readonly hold: (blocks: ReadonlyArray<ConnectedBlock>) => Effect.Effect<void, StorageFailure>
  /** Stores the blocks that are kept in memory, if there are any. */
  readonly settle: Effect.Effect<void, StorageFailure>
}

/**
 * A store that is derived from the best chain and keeps its own cursor in the same transaction as its data (design:
 * NameDb, the wallet's index, optional indexes). Chain brings it from its cursor to the tip, at the start and after
 * each batch of blocks. So a crash between the two commits needs no special handling.
 *
 * - `apply` gets blocks that follow the cursor without a gap, and moves the cursor to the last of them.
 * - `rewind` removes all data above `to`, which is never above the cursor.
 *
 * Both are all or nothing. Chain calls them one at a time.
 */
export interface Follower {
  readonly name: string
  /**
   * Whether Chain calls the follower after all others, even after those that register later: the mempool, which may
   * notify peers and callers only of what names and wallets know already.
   */
  readonly last?: boolean
  /** Whether `apply` needs the coins that blocks removed. */
  readonly needsCoins?: boolean
  /** Bytes of blocks for one call of `apply`, approximately: for stores whose work on them takes one turn of the event loop. */
  readonly batchBytes?: number
  /**
   * Whether the follower may be far behind the tip: then it catches up in the background, between new blocks. For stores
   * without which all answers stay correct.
   */
  readonly background?: boolean
  /** The last block of the data; `undefined` for an empty store, which begins with the genesis block. */
  readonly cursor: Effect.Effect<Cursor | undefined, StorageFailure>
  /**
   * Recent blocks up to the cursor, the newest first. If the chain does not know the cursor's block, the store rewinds
   * to the newest of them that the chain knows. A store without a trail then starts again from genesis.
   */
  readonly trail?: Effect.Effect<ReadonlyArray<Cursor>, StorageFailure>
  readonly apply: (blocks: ReadonlyArray<ConnectedBlock>) => Effect.Effect<void, StorageFailure>
  readonly rewind: (to: Cursor) => Effect.Effect<void, StorageFailure>
  readonly bulk?: BulkWrites
  /**
   * Replaces all data by those of the state at a block, and moves the cursor there. Chain calls it in place of `apply`
   * if the chain state began with a snapshot and the blocks after the cursor are missing. A follower without it waits for
   * these blocks, and so does one that returns false.
   */
  readonly adopt?: (state: StateAtBase) => Effect.Effect<boolean, StorageFailure>
  /**
   * Called when the follower has reached the tip, or an unreadable block: for work that waits for the end of a reorg.
   */
  readonly arrived?: Effect.Effect<void, StorageFailure>
  /** Rebuilds the store if it is found damaged while the node runs. Without it, damage ends the node. */
  readonly repair?: Repair
}

/** The attributes of the span in which a follower applies blocks. */
export const applied = (
  blocks: ReadonlyArray<Cursor>
): { readonly blocks: number; readonly height: Height | undefined } => ({
  blocks: blocks.length,
  height: blocks.at(-1)?.height
})
