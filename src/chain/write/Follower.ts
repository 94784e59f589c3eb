import type * as Effect from "effect/Effect"
import type { NameEffect } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Repair } from "../../storage/repair.ts"

/** A place in the chain. */
export interface Cursor {
  readonly height: number
  /** Wire order. */
  readonly hash: Bytes
}

/** A block of the best chain as followers see it. */
export interface ConnectedBlock extends Cursor {
  readonly block: Block
  /** What the block does to names, in order (reference/protocol.md 4.6). */
  readonly effects: ReadonlyArray<NameEffect>
}

/**
 * A store that is derived from the best chain and keeps its own cursor in the same transaction as its data
 * (design: NameDb, the wallet's index, optional indexes). Chain brings it from its cursor to the tip, at the start and
 * after each batch of blocks; a crash between the two commits is therefore an ordinary start.
 *
 * - `apply` gets blocks that follow the cursor without a gap, and moves it to the last of them.
 * - `rewind` forgets everything above `to`, which is never above the cursor.
 *
 * Both are all or nothing. Chain calls them one at a time.
 */
export interface Follower {
  /** For logs and errors. */
  readonly name: string
  /**
   * Whether Chain calls the follower after all others, also after those that register later: the mempool, which may
   * notify peers and callers only of what names and wallets know already.
   */
  readonly last?: boolean
  /** Where the data stand; `undefined` for an empty store, which begins with the genesis block. */
  readonly cursor: Effect.Effect<Cursor | undefined, StorageFailure>
  /**
   * Blocks up to the cursor that the store remembers, the newest first: asked for where the chain does not know the
   * cursor's block, to go back to the newest that it knows. A store without them begins anew then.
   */
  readonly trail?: Effect.Effect<ReadonlyArray<Cursor>, StorageFailure>
  readonly apply: (blocks: ReadonlyArray<ConnectedBlock>) => Effect.Effect<void, StorageFailure>
  readonly rewind: (to: Cursor) => Effect.Effect<void, StorageFailure>
  /**
   * Called after steps that brought the follower to the tip, or as far towards it as blocks can be read: for what waits
   * until a reorganisation is through.
   */
  readonly arrived?: Effect.Effect<void, StorageFailure>
  /** How the store is made anew where it turns out to be damaged while the node runs; without it, that ends the node. */
  readonly repair?: Repair
}
