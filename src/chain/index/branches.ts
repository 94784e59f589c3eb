import type { HeaderId } from "../../protocol/keys.ts"
import type { ChainState } from "../state/ChainState.ts"
import { Status } from "./BlockIndex.ts"
import { type HeaderInfo, headerInfo } from "./headerInfo.ts"

/** The status of a branch in the terms of `getchaintips`. */
export type BranchStatus = "active" | "valid-fork" | "valid-headers" | "headers-only" | "invalid"

export interface Branch {
  readonly tip: HeaderInfo
  /** Blocks from the best chain to the tip of the branch. */
  readonly length: number
  readonly status: BranchStatus
}

/** Whether all blocks of a branch are stored: upstream `CBlockIndex::HaveNumChainTxs`. */
const isComplete = (
  { index }: ChainState,
  { fork, tip }: { readonly tip: HeaderId; readonly fork: HeaderId }
): boolean => {
  for (let id = tip; id !== fork; id = index.parent(id)) if (!index.has(id, Status.HAVE_DATA)) return false
  return true
}

const statusOf = (state: ChainState, branch: { readonly tip: HeaderId; readonly fork: HeaderId }): BranchStatus => {
  const { tip } = branch
  if (tip === state.active.settledTip) return "active"
  if (state.index.isFailed(tip)) return "invalid"
  if (!isComplete(state, branch)) return "headers-only"
  return state.index.has(tip, Status.VALID) ? "valid-fork" : "valid-headers"
}

export const branchOf = (state: ChainState) => (id: HeaderId): Branch => {
  const fork = state.index.forkPoint(id, state.active.settledTip)
  const tip = headerInfo(state, id)
  const length = tip.height - state.index.height(fork)
  return { tip, length, status: statusOf(state, { tip: id, fork }) }
}
