import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { type DownloadPeer, type DownloadPeers, type DownloadTree, firstOfLimited } from "./DownloadPeer.ts"

/** Blocks beyond the last common one that are requested (reference/protocol.md 6.8). */
export const WINDOW = 1024

export interface WindowOptions {
  readonly tree: DownloadTree
  readonly peers: DownloadPeers
  readonly minimumChainWork: bigint
  readonly length: number
  readonly isMissing: (header: HeaderId) => boolean
}

export interface NextBlocks {
  readonly headers: ReadonlyArray<HeaderId>
  /** Where the search ended: at the end of the peer's chain, of the window, or before both. */
  readonly end: "chain" | "window" | "before"
}

/**
 * Selects blocks to request from a peer. A window moves over its chain, from the last block that we have in common on.
 *
 *   genesis ─── common ─── cursor ······ missing blocks ······ common + window ─── best
 *               all stored     stored or in flight
 */
export class DownloadWindow {
  protected readonly options: WindowOptions

  protected readonly newestFirst: boolean = false

  constructor(options: WindowOptions) {
    this.options = options
  }

  setBest(peer: DownloadPeer, best: HeaderId): void {
    const { tree } = this.options
    if (peer.best === best) return
    const extended = peer.best !== NO_HEADER && best !== NO_HEADER &&
      tree.ancestor(best, tree.height(peer.best)) === peer.best
    peer.best = best
    if (!extended || this.newestFirst) restart(peer)
  }

  isUseful({ best, source }: DownloadPeer): boolean {
    const { minimumChainWork, tree } = this.options
    return source.serves && best !== NO_HEADER && !tree.isFailed(best) && tree.compareWork(best, tree.tip()) >= 0 &&
      tree.chainwork(best) >= minimumChainWork
  }

  isWanted(header: HeaderId): boolean {
    const { peers, tree } = this.options
    const height = tree.height(header)
    return [...peers.values()].some((peer) =>
      this.isUseful(peer) && height <= tree.height(peer.best) &&
      (!peer.source.limited || height >= firstOfLimited(tree.height(peer.best))) &&
      tree.ancestor(peer.best, height) === header
    )
  }

  next(peer: DownloadPeer, most: number): NextBlocks {
    this.advance(peer)
    const { isMissing, length, tree } = this.options
    const best = tree.height(peer.best)
    const windowEnd = tree.height(peer.common) + length
    const last = Math.min(best, windowEnd, peer.source.below - 1)
    const first = peer.source.limited ? firstOfLimited(best) : 0
    const headers: Array<HeaderId> = []
    let height = Math.max(peer.cursor + 1, first)
    for (; height <= last && headers.length < most; height++) {
      const header = tree.ancestor(peer.best, height)
      if (!isMissing(header)) continue
      if (peer.lacks.has(header)) break
      headers.push(header)
    }
    // Blocks that a limited peer cannot serve are not skipped for good.
    if (!peer.source.limited && !peer.lacks.has(tree.ancestor(peer.best, Math.min(height, best)))) {
      peer.cursor = Math.max(peer.cursor, height - 1)
    }
    return { headers, end: height > best ? "chain" : height > windowEnd ? "window" : "before" }
  }

  private advance(peer: DownloadPeer): void {
    const { tree } = this.options
    if (peer.common === NO_HEADER) {
      peer.common = tree.forkPoint(peer.best, tree.tip())
      peer.cursor = 0
    }
    const end = tree.height(peer.best)
    let height = tree.height(peer.common)
    for (; height < end; height++) {
      const next = tree.ancestor(peer.best, height + 1)
      if (!tree.hasBlock(next)) break
      peer.common = next
    }
    peer.cursor = Math.max(peer.cursor, height)
  }

  firstMissing(peer: DownloadPeer): HeaderId {
    const { tree } = this.options
    return tree.ancestor(peer.best, Math.min(tree.height(peer.common) + 1, tree.height(peer.best)))
  }

  rescan(height: number): void {
    for (const peer of this.options.peers.values()) peer.cursor = Math.min(peer.cursor, height - 1)
  }

  recheck(): void {
    for (const peer of this.options.peers.values()) {
      restart(peer)
      peer.lacks.clear()
    }
  }
}

const restart = (peer: DownloadPeer): void => {
  peer.common = NO_HEADER
  peer.cursor = 0
}
