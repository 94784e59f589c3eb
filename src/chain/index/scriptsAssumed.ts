import type { ConsensusParams } from "../../consensus/params.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { type BlockIndex, GENESIS, NONE } from "./BlockIndex.ts"

/** Seconds of work above a block, at the best header's rate, before its scripts are assumed valid. */
const BURIED_SECONDS = 1_209_600n

/**
 * Whether the scripts of block `id` are assumed valid: it is an ancestor of the assumed-valid block, which is in the
 * chain of header `best`, and far below that header (reference/protocol.md 1.1, note 4).
 */
export const scriptsAssumed = (
  index: BlockIndex,
  { best, id }: { readonly id: HeaderId; readonly best: HeaderId },
  { assumeValid, minimumChainWork, targetSpacing }: ConsensusParams
): boolean => {
  if (assumeValid === undefined) return false
  const assumed = index.find(assumeValid)
  const height = index.height(id)
  if (assumed === NONE || index.ancestor(assumed, height) !== id || index.ancestor(best, height) !== id) return false
  const work = index.chainwork(best)
  if (work < minimumChainWork) return false
  const before = index.parent(best)
  const perBlock = work - index.chainwork(before === NONE ? GENESIS : before)
  return (work - index.chainwork(id)) * BigInt(targetSpacing) > BURIED_SECONDS * perBlock
}
