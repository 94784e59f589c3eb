import { type HeaderTree, indexedHeaders } from "../chain/index/HeaderTree.ts"
import { BlockLosses } from "../chain/repair/BlockLosses.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { LightHeaders } from "./LightHeaders.ts"

export interface LightTreeParts {
  readonly headers: LightHeaders
  readonly hasBlock: (id: HeaderId) => boolean
  /** The last block with known names, or the root. */
  readonly tip: () => HeaderId
}

/** The headers of a light chain as the sync with peers sees them. */
export const lightTree = ({ hasBlock, headers, tip }: LightTreeParts): HeaderTree => {
  const { best, index } = headers
  const isActive = (id: HeaderId): boolean =>
    index.height(id) <= index.height(tip()) && index.ancestor(tip(), index.height(id)) === id
  const at = (height: Height): HeaderId => index.ancestor(tip(), height)
  return {
    ...indexedHeaders(index),
    misplaced: (header) => headers.misplaced(header),
    transactions: () => 0,
    hasBlock,
    wasConnected: () => false,
    isPruned: () => false,
    tip,
    best: () => best.reachable,
    mostWork: () => best.mostWork,
    at,
    isActive,
    // Only the names of a block are stored, so no block can be lost.
    losses: new BlockLosses(index, { isActive, at, settledHeight: 0 })
  }
}
