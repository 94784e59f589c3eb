import type { BlockLosses } from "../../chain/BlockLosses.ts"
import type { BlockDownload, BlockRequest, DownloadTree } from "./BlockDownload.ts"
import { type DownloadPeer, firstOfLimited } from "./DownloadPeer.ts"

/** Missing blocks that are looked at in one turn: enough to keep all peers busy. */
const MOST_LOOKED_AT = 256

const canGive = (tree: DownloadTree, peer: DownloadPeer, id: number, onAnyChain: boolean): boolean => {
  const height = tree.height(id)
  return peer.stalling === undefined && peer.flights.size < peer.score.limit && !peer.lacks.has(id) &&
    height < peer.source.below && (!peer.source.limited || height >= firstOfLimited(tree.height(peer.best))) &&
    (onAnyChain || tree.ancestor(peer.best, height) === id)
}

/**
 * Whom to ask for blocks of the best chain that were here and are missing; noted as asked. They lie below the window of
 * `BlockDownload.plan`, which looks at what is still to be connected. A block that a reorganisation has to take back is
 * not in the chain of those who have the other branch: whoever it is may still have it.
 */
export const planMissing = (
  download: BlockDownload,
  tree: DownloadTree,
  losses: Pick<BlockLosses, "ids" | "waitsFor">,
  now: number
): ReadonlyArray<BlockRequest> => {
  const requests: Array<BlockRequest> = []
  let looked = 0
  for (const id of losses.ids()) {
    if (looked++ >= MOST_LOOKED_AT || download.room <= 0) break
    if (download.askersOf(id).length > 0 || download.isUnstored(id)) continue
    const needed = losses.waitsFor === id
    const peer = (needed ? download.everyone() : download.ranked()).find((peer) => canGive(tree, peer, id, needed))
    if (peer === undefined) continue
    download.ask(peer.id, id, now)
    requests.push({ peer: peer.id, id })
  }
  return requests
}
