import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { MOST_BLOCKS } from "../peer/Asked.ts"
import { Services } from "../wire/messages/version.ts"
import type { BlockRequest } from "./DownloadPeer.ts"
import { isNearTip, isNew, type SyncContext, type SyncPeer } from "./SyncContext.ts"

/** Longest branch that is looked at. */
const LONGEST_BRANCH = 288

/** The blocks that lead from our chain to a header, lowest first; none of a branch that is too long. */
const branchTo = ({ tree }: SyncContext, last: HeaderId): ReadonlyArray<HeaderId> => {
  const fork = tree.height(tree.forkPoint(last, tree.tip()))
  if (tree.height(last) - fork > LONGEST_BRANCH) return []
  return Array.from({ length: tree.height(last) - fork }, (_, i) => tree.ancestor(last, fork + 1 + i))
}

/**
 * Requests the blocks that a peer announced with headers from this peer, whatever else it has, and whether or not it
 * offers to serve blocks: if they have at least the work of our tip, and our tip is recent. Recorded as sent. Source:
 * upstream `net_processing.cpp`, `HeadersDirectFetchBlocks`.
 */
export const fetchAnnounced = (
  context: SyncContext,
  { peer }: SyncPeer,
  last: HeaderId
): ReadonlyArray<BlockRequest> => {
  const { download, now, params, tree } = context
  if (last === NO_HEADER || peer.closed || context.loading || tree.isFailed(last)) return []
  if (tree.compareWork(last, tree.tip()) < 0 || !isNearTip(context)) return []
  const below = (peer.hello.services & Services.witness) === 0n ? params.activation.segwit : Infinity
  const wanted = branchTo(context, last).filter((id) =>
    isNew(context, id) && download.askersOf(id).length === 0 && tree.height(id) < below
  )
  // A long reorg is left to the download window.
  if (wanted.length > MOST_BLOCKS) return []
  const requests: Array<BlockRequest> = []
  for (const header of wanted) {
    if (download.inFlight(peer.id).length >= MOST_BLOCKS || download.room <= 0) break
    download.ask(peer.id, header, now())
    requests.push({ peer: peer.id, header })
  }
  return requests
}
