import { type HeaderTree, indexedHeaders } from "../chain/index/HeaderTree.ts"
import { BlockLosses } from "../chain/repair/BlockLosses.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { LightHeaders } from "./LightHeaders.ts"

/** What the tree of a light chain is made over. */
export interface LightTreeParts {
  readonly headers: LightHeaders
  readonly hasBlock: (id: HeaderId) => boolean
  /** The last block whose names are known; the root if there is none. */
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
    // Nothing is stored of a block but its names, so nothing of it can be lost.
    losses: new BlockLosses(index, { isActive, at, settledHeight: 0 })
  }
}
