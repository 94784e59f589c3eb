import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { MAX_LOCKS } from "../../consensus/block.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { BlockStart } from "../wire/messages/block.ts"
import { isAhead, isRoom, isWanted } from "./incomingBlocks.ts"
import { isCompactWelcome } from "./incomingCompact.ts"
import { isNew, isOffence, misbehaves, type SyncContext, type SyncPeer } from "./SyncContext.ts"

/**
 * What becomes of a block that its peer was not asked for, judged by its header, its predecessor and its proof of work
 * before a transaction of it is decoded. `announced`: the block is not wanted, and what its header says is still of use.
 */
export type Screening = "decode" | "announced" | "drop"

/** Looks at the state of the sync and changes nothing, but for ending the connection of a peer that breaks a rule. */
export const screen = (
  context: SyncContext,
  state: SyncPeer,
  type: "block" | "cmpctblock",
  { header, transactions }: BlockStart
): Screening => {
  const { download, loading, params, tree } = context
  // Each locks one id or more: whatever they are, no block with so many is valid.
  if (transactions > MAX_LOCKS) {
    misbehaves(state, `a block of ${transactions} transactions`)
    return "drop"
  }
  const id = tree.find(header.header.hash)
  if (download.isAsked(state.peer.id, id)) return "decode"
  if (loading || (type === "block" && !isRoom(context))) return "drop"
  if (id !== NO_HEADER && !isNew(context, id)) return "announced"
  const parent = tree.find(header.header.prevHash)
  const compact = type === "cmpctblock"
  if (parent === NO_HEADER) {
    if (compact) return "announced"
    misbehaves(state, "a block whose predecessor is unknown")
    return "drop"
  }
  const welcome = compact
    ? isCompactWelcome(context, header, parent)
    : isWanted(context, id) || isAhead(context, header, parent)
  if (!welcome) return id === NO_HEADER ? "drop" : "announced"
  const reject = checkProofOfWork(header, params) ?? tree.misplaced(header)
  if (reject === undefined) return "decode"
  if (isOffence(reject, state, compact)) misbehaves(state, `an invalid header (${reject.reason})`)
  return "drop"
}
