import type { BlockLosses } from "../../chain/repair/BlockLosses.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import type { BlockDownload } from "./BlockDownload.ts"
import { type BlockRequest, canServe, type DownloadTree } from "./DownloadPeer.ts"

/** Checked in one turn: enough to keep all peers busy. */
const MOST_LOOKED_AT = 256

/** Milliseconds. */
const SILENCE = 10_000

/** Milliseconds until a peer is asked again for the same block. */
const ASK_AGAIN = 120_000

type Losses = Pick<BlockLosses, "ids" | "needs" | "refusedBy">

interface Search {
  readonly asked: Map<PeerId, number>
  pending: PeerId | undefined
}

/**
 * Requests once-stored blocks that are missing below the window of `BlockDownload.plan`. Peers are asked in turn,
 * repeatedly, and need not answer; the block is accepted from any peer at any time. Milliseconds of one clock.
 */
export class MissingBlocks {
  private readonly download: BlockDownload
  private readonly tree: DownloadTree
  private readonly losses: Losses
  private readonly searches = new Map<HeaderId, Search>()

  constructor(download: BlockDownload, tree: DownloadTree, losses: Losses) {
    this.download = download
    this.tree = tree
    this.losses = losses
  }

  plan(now: number): ReadonlyArray<BlockRequest> {
    const { download, losses, tree } = this
    const requests: Array<BlockRequest> = []
    for (const header of this.searches.keys()) {
      if (!losses.needs(header) || tree.hasBlock(header)) this.searches.delete(header)
    }
    let looked = 0
    let ranked = download.ranked()
    for (const header of losses.ids()) {
      if (looked++ >= MOST_LOOKED_AT || download.room <= 0) break
      if (download.askersOf(header).length > 0 || download.isUnstored(header)) continue
      const peer = ranked.find((peer) => peer.stalling === undefined && canServe(tree, peer, header))
      if (peer !== undefined) {
        download.ask(peer.id, header, now)
        ranked = download.ranked()
        requests.push({ peer: peer.id, header })
      } else if (losses.needs(header)) requests.push(...this.search(header, now))
    }
    return requests
  }

  refused(peer: PeerId, header: HeaderId): boolean {
    const search = this.searches.get(header)
    if (search?.pending !== peer) return false
    this.without(header, search)
    return true
  }

  private without(header: HeaderId, search: Search): void {
    search.pending = undefined
    this.losses.refusedBy(header)
  }

  private search(header: HeaderId, now: number): ReadonlyArray<BlockRequest> {
    const search = this.searches.get(header) ?? { asked: new Map<PeerId, number>(), pending: undefined }
    this.searches.set(header, search)
    if (search.pending !== undefined) {
      if (now - (search.asked.get(search.pending) ?? -Infinity) < SILENCE) return []
      this.without(header, search)
    }
    const peers = this.download.everyone()
    const known = new Set(peers.map((peer) => peer.id))
    for (const peer of search.asked.keys()) if (!known.has(peer)) search.asked.delete(peer)
    const free = peers.find((peer) => now - (search.asked.get(peer.id) ?? -Infinity) >= ASK_AGAIN)
    if (free === undefined) return []
    search.asked.set(free.id, now)
    search.pending = free.id
    return [{ peer: free.id, header }]
  }
}
