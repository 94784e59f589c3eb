import type { Height } from "../../protocol/keys.ts"
import { firstOperationAt } from "../NameEntry.ts"
import type { LoggedOperation, OperationLog } from "./OperationLog.ts"

/** Reads of the operation log for lists of blocks and charts. */

/** The number of operations between two heights; `undefined` if the log lacks one of the blocks. */
export const operationsWithin = (
  { beginning, count, last }: OperationLog,
  { from, to }: { readonly from: Height; readonly to: Height }
): number | undefined =>
  from <= beginning || to > (last?.height ?? -1)
    ? undefined
    : count({ from: firstOperationAt(from), to: firstOperationAt(to + 1) })

/** The newest operations of the last blocks with their previous records, newest first. */
export const newestOperations = (
  { beginning, count, last, operations }: OperationLog,
  { blocks, limit }: { readonly blocks: number; readonly limit: number }
): ReadonlyArray<LoggedOperation> => {
  const found: Array<LoggedOperation> = []
  const tip = last?.height ?? -1
  const end = Math.max(beginning, tip - blocks)
  for (let height = tip; height > end && found.length < limit; height--) {
    const from = firstOperationAt(height)
    const to = from + count({ from, to: firstOperationAt(height + 1) })
    const left = limit - found.length
    found.push(...operations({ from: Math.max(from, to - left), to }, { limit: left, before: true }).toReversed())
  }
  return found
}
