import type { HeaderId } from "../../protocol/keys.ts"
import type { ChainState } from "../state/ChainState.ts"
import { Status } from "./BlockIndex.ts"
import { type HeaderInfo, headerInfo } from "./headerInfo.ts"

/** The status of a branch, with the terms of the reference node in `getchaintips`. */
export type BranchStatus = "active" | "valid-fork" | "valid-headers" | "headers-only" | "invalid"

export interface Branch {
  readonly tip: HeaderInfo
  /** Blocks from the best chain to the tip of the branch. */
  readonly length: number
  readonly status: BranchStatus
}

const statusOf = (state: ChainState, id: HeaderId, best: HeaderId): BranchStatus => {
  if (id === best) return "active"
  if (state.index.isFailed(id)) return "invalid"
  if (!state.index.has(id, Status.HAVE_DATA)) return "headers-only"
  return state.index.has(id, Status.VALID) ? "valid-fork" : "valid-headers"
}

export const branchOf = (state: ChainState) => (id: HeaderId): Branch => {
  const best = state.settledTip
  const tip = headerInfo(state, id)
  const length = tip.height - state.index.height(state.index.forkPoint(id, best))
  return { tip, length, status: statusOf(state, id, best) }
}
