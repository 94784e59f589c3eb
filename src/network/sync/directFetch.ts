import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import { MOST_BLOCKS } from "../peer/Asked.ts"
import { ItemType } from "../wire/messages/inv.ts"
import { Services } from "../wire/messages/version.ts"
import type { BlockRequest } from "./DownloadPeer.ts"
import { isNearTip, isNew, type SyncContext, type SyncPeer } from "./SyncContext.ts"

export type FetchOutcome = "asked" | "loading" | "no peer" | "no witnesses"

export interface FetchEvent {
  readonly type: "fetch"
  readonly peer: PeerId
  readonly header: HeaderId
  readonly answer: (outcome: FetchOutcome) => void
}

const MOST_FETCHED = 1_000

/** Replaces all other requests for the block. Source: upstream `net_processing.cpp`, `FetchBlock`. */
export const fetchFrom = (
  { download, fetched, loading, now, peers, tree }: SyncContext,
  { header, peer: id }: FetchEvent
): FetchOutcome => {
  if (loading) return "loading"
  const peer = peers.get(id)?.peer
  if (peer === undefined || peer.closed) return "no peer"
  if ((peer.hello.services & Services.witness) === 0n) return "no witnesses"
  for (const asked of download.askersOf(header)) download.release(asked, header)
  download.ask(id, header, now())
  if (fetched.size >= MOST_FETCHED) fetched.clear()
  fetched.add(header)
  peer.post({ type: "getdata", items: [{ type: ItemType.witnessBlock, hash: tree.hash(header).slice() }] })
  return "asked"
}

const LONGEST_BRANCH = 288

/** Lowest first; none if the branch is too long. */
const branchTo = ({ tree }: SyncContext, last: HeaderId): ReadonlyArray<HeaderId> => {
  const fork = tree.height(tree.forkPoint(last, tree.tip()))
  if (tree.height(last) - fork > LONGEST_BRANCH) return []
  return Array.from({ length: tree.height(last) - fork }, (_, i) => tree.ancestor(last, fork + 1 + i))
}

/**
 * Requests the branch to `last` from this peer, whatever it offers, if our tip is recent and has no more work. The
 * requests are recorded as sent. Source: upstream `net_processing.cpp`, `HeadersDirectFetchBlocks`.
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
