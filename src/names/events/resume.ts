import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { type HeaderId, headerId, type Height } from "../../protocol/keys.ts"
import { blockKey, type EventCursor } from "./EventCursor.ts"

/** Where a reader with a cursor continues. */
export type Resumption =
  /** After the cursor, whose block is in the chain. */
  | { readonly type: "on" }
  /**
   * Its block is undone to the records of the block at height `base`: it left the chain, or the reader was going down
   * to there when the chain changed again.
   */
  | { readonly type: "undo"; readonly block: HeaderId; readonly base: Height }
  /** The chain of the names does not reach the block yet. */
  | { readonly type: "ahead" }
  /** The block is below the first one with known events. */
  | { readonly type: "early" }
  /** The block is above every header, and may arrive. */
  | { readonly type: "future"; readonly highest: Height }
  /** No header is known for it. */
  | { readonly type: "unknown" }

export type EventTree = Pick<
  HeaderTree,
  "ancestor" | "count" | "find" | "forkPoint" | "hash" | "height" | "isFailed" | "parent" | "time" | "tip"
>

/** Finds headers by height and the first bytes of their hash. Headers are only ever added to a tree. */
export class HeadersByHeight {
  private readonly tree: EventTree
  /** The first added header of each height, and the others. */
  private readonly first: Array<HeaderId> = []
  private readonly others = new Map<Height, Array<HeaderId>>()
  private known = 0

  constructor(tree: EventTree) {
    this.tree = tree
  }

  private update(): void {
    for (const count = this.tree.count(); this.known < count; this.known++) {
      const id = headerId(this.known)
      const height = this.tree.height(id)
      if (this.first[height] === undefined) this.first[height] = id
      else this.others.set(height, [...this.others.get(height) ?? [], id])
    }
  }

  get highest(): Height {
    this.update()
    return this.first.length - 1
  }

  find({ block, height }: EventCursor): HeaderId {
    this.update()
    const first = this.first[height]
    const all = first === undefined ? [] : [first, ...this.others.get(height) ?? []]
    return all.find((id) => blockKey(this.tree.hash(id)) === block) ?? NO_HEADER
  }
}

export interface NamesChain {
  readonly tree: EventTree
  readonly headers: HeadersByHeight
  /** The last block of the names. */
  readonly tip: HeaderId
  /** The height up to which only the newest operation on each name is known; -1 if all are. */
  readonly beginning: Height
}

const hasBlock = ({ tip, tree }: NamesChain, { block, height }: EventCursor): boolean =>
  height <= tree.height(tip) && blockKey(tree.hash(tree.ancestor(tip, height))) === block

/** Whether the best chain has the block or may still reach it: names lag while they are rewritten. */
const isAwaited = (tree: EventTree, block: HeaderId): boolean => {
  const best = tree.tip()
  const shared = tree.forkPoint(block, best)
  return !tree.isFailed(block) && (shared === block || shared === best)
}

export const resumption = (cursor: EventCursor, chain: NamesChain): Resumption => {
  const { beginning, headers, tip, tree } = chain
  if (cursor.height < 0) return { type: "on" }
  if (cursor.height < beginning) {
    // Below the beginning, only a reader of this state has a place among the operations.
    const hasPlace = cursor.base === undefined && hasBlock(chain, { ...cursor, height: beginning })
    return { type: hasPlace ? "on" : "early" }
  }
  if (cursor.base === undefined && hasBlock(chain, cursor)) return { type: "on" }
  const block = headers.find(cursor)
  if (block === NO_HEADER) {
    const { highest } = headers
    return cursor.height > highest ? { type: "future", highest } : { type: "unknown" }
  }
  const fork = tree.forkPoint(block, tip)
  const { base = Infinity } = cursor
  const isBehind = fork === tip && tree.height(tip) < Math.min(base, cursor.height)
  if (isBehind && isAwaited(tree, block)) return { type: "ahead" }
  const down = Math.min(base, tree.height(fork))
  return down < beginning ? { type: "early" } : { type: "undo", block, base: down }
}
