import { NONE } from "../chain/index/BlockIndex.ts"
import type { LightChain } from "./LightChain.ts"
import { MOST_BEHIND } from "./windowBranches.ts"

/** Blocks with more work that a window lacks. */
export const countMissing = ({ headers: { best }, index, tree }: LightChain): number => {
  const [end, tip] = [best.reachable, tree.tip()]
  return index.compareWork(end, tip) <= 0 ? 0 : index.height(end) - index.height(index.forkPoint(end, tip))
}

/**
 * Makes the decision whether a window lacks more blocks than peers may withhold. It runs for each answer, so it counts
 * only after a new header or block.
 */
export const makeIsBehind = (chain: LightChain): () => boolean => {
  let [best, tip, isBehind] = [NONE, NONE, false]
  return () => {
    const [newBest, newTip] = [chain.headers.best.reachable, chain.tree.tip()]
    if (newBest !== best || newTip !== tip) {
      best = newBest
      tip = newTip
      isBehind = countMissing(chain) > MOST_BEHIND
    }
    return isBehind
  }
}
