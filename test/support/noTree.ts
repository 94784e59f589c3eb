import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { type HeaderTree, NO_HEADER } from "../../src/chain/index/HeaderTree.ts"
import { BlockLosses } from "../../src/chain/repair/BlockLosses.ts"

const asked = (): never => {
  throw new Error("this test has no header tree")
}

/** The header tree of a chain on which no test uses it. */
export const noTree: HeaderTree = {
  find: asked,
  hash: asked,
  height: asked,
  time: asked,
  bits: asked,
  parent: asked,
  ancestor: asked,
  forkPoint: asked,
  compareWork: asked,
  chainwork: asked,
  medianTimePast: asked,
  misplaced: asked,
  isFailed: asked,
  transactions: asked,
  hasBlock: asked,
  isPruned: asked,
  wasConnected: asked,
  tip: asked,
  best: asked,
  mostWork: asked,
  count: asked,
  at: asked,
  isActive: asked,
  losses: new BlockLosses(new BlockIndex(), { isActive: () => false, at: () => NO_HEADER, settledHeight: -1 })
}
