import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { MAX_LOCKS } from "../../consensus/block.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { Peer } from "../Peer.ts"
import type { BlockStart } from "../wire/messages/block.ts"
import { isAhead, isWanted } from "./incomingBlocks.ts"
import { isCompactWelcome } from "./incomingCompact.ts"
import { isNew, isOffence, misbehaves, type SyncView } from "./SyncContext.ts"

/**
 * Decision on an unsolicited block by its header, parent and proof of work, before its transactions are decoded.
 * `announced`: only the header is useful. `wait`: no slot is free.
 */
export type Screening = "decode" | "announced" | "drop" | "wait"

/** Runs in the fiber of the peer. Changes nothing, but disconnects a misbehaving peer. */
export const screen = (
  context: SyncView,
  state: { readonly peer: Peer },
  { header, transactions, type }: BlockStart
): Screening => {
  const { download, loading, params, slots, tree } = context
  // Each transaction locks at least one id, so a block with more transactions cannot be valid.
  if (transactions > MAX_LOCKS) {
    misbehaves(state, `invalid block: ${transactions} transactions`)
    return "drop"
  }
  const id = tree.find(header.header.hash)
  if (download.isAsked(state.peer.id, id)) return "decode"
  if (loading) return "drop"
  if (type === "block" && !slots.isRoom) return "wait"
  if (id !== NO_HEADER && !isNew(context, id)) return "announced"
  const parent = tree.find(header.header.prevHash)
  const compact = type === "cmpctblock"
  if (parent === NO_HEADER) {
    if (compact) return "announced"
    misbehaves(state, "invalid block: its predecessor is unknown")
    return "drop"
  }
  const welcome = compact
    ? isCompactWelcome(context, header, parent)
    : isWanted(context, id) || isAhead(context, header, parent)
  if (!welcome) return id !== NO_HEADER || isCompactWelcome(context, header, parent) ? "announced" : "drop"
  const reject = checkProofOfWork(header, params) ?? tree.misplaced(header)
  if (reject === undefined) return "decode"
  if (isOffence(reject, state, compact)) misbehaves(state, `invalid header: ${reject.reason}`)
  return "drop"
}
