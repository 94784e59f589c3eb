import { checkWitnesses } from "../../consensus/block.ts"
import type { Block } from "../../protocol/block.ts"
import { equal } from "../../protocol/bytes.ts"

/** Size of an inner node of a merkle tree, which could pass for a transaction of that size. */
const NODE_SIZE = 64

/**
 * Whether the transactions of a block are not, or may not be, those that its header commits to. Its faults then do not
 * invalidate the hash. `segwitActive`: whether witnesses are allowed at its height. Source: upstream `validation.cpp`,
 * `IsBlockMutated`.
 */
export const isMutated = (block: Block, segwitActive: boolean): boolean => {
  const { header, merkle, transactions } = block
  if (merkle.mutated || !equal(merkle.root, header.merkleRoot)) return true
  if (transactions[0]?.isCoinbase !== true) return transactions.some(({ strippedSize }) => strippedSize === NODE_SIZE)
  return checkWitnesses(block, segwitActive) !== undefined
}
