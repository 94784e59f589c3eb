import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import { type DownloadPeer, firstOfLimited } from "./DownloadPeer.ts"
import { DownloadWindow, type NextBlocks, type WindowOptions } from "./DownloadWindow.ts"

/** The last blocks of the chain, which a light chain takes newest first. */
export interface BlockSpan {
  /** The lowest wanted block; `Infinity` while none is wanted. */
  readonly first: () => Height
  /** The lowest and last block that have arrived without a gap. None while the last is `NO_HEADER`. */
  readonly taken: () => { readonly low: Height; readonly high: HeaderId }
}

/**
 * Which blocks of a span to request next from a peer: the newest first. `cursor` is the height from which on all blocks
 * of the peer's chain are stored or in flight. A window moves down below the blocks that are there without a gap, and one
 * of the same length moves up above them.
 *
 *   first ······ low - window ······ cursor ═══ stored or in flight ═══ low ═══ all there ═══ high ··· high + window
 */
export class SpanWindow extends DownloadWindow {
  protected override readonly newestFirst = true
  private readonly span: BlockSpan

  constructor(options: WindowOptions, span: BlockSpan) {
    super(options)
    this.span = span
  }

  override isWanted(header: HeaderId): boolean {
    return this.options.tree.height(header) >= this.span.first() && super.isWanted(header)
  }

  override next(peer: DownloadPeer, most: number): NextBlocks {
    const { isMissing, tree } = this.options
    const best = tree.height(peer.best)
    if (peer.common === NO_HEADER) {
      peer.common = peer.best
      peer.cursor = best + 1
    }
    const first = Math.max(this.span.first(), peer.source.limited ? firstOfLimited(best) : 0)
    const taken = this.span.taken()
    const last = Math.max(first, taken.low - this.options.length)
    const headers: Array<HeaderId> = []
    this.addAbove(peer, most, headers)
    // The cursor may be above the peer's chain: another peer left with blocks in flight there.
    let height = below(taken, Math.min(peer.cursor, best + 1, peer.source.below) - 1)
    for (; height >= last && headers.length < most; height = below(taken, height - 1)) {
      const header = tree.ancestor(peer.best, height)
      if (!isMissing(header)) continue
      if (peer.lacks.has(header)) break
      headers.push(header)
    }
    if (!peer.lacks.has(tree.ancestor(peer.best, Math.max(height, first)))) peer.cursor = height + 1
    return { headers, end: height < first ? "chain" : height < last ? "window" : "before" }
  }

  private addAbove(peer: DownloadPeer, most: number, headers: Array<HeaderId>): void {
    const { isMissing, tree } = this.options
    const { high } = this.span.taken()
    if (high === NO_HEADER) return
    const fork = tree.height(tree.forkPoint(peer.best, high))
    // Blocks far above one that does not arrive would fill the memory for waiting blocks.
    const last = Math.min(tree.height(peer.best), peer.source.below - 1, fork + this.options.length)
    for (let height = fork + 1; height <= last; height++) {
      const header = tree.ancestor(peer.best, height)
      if (headers.length >= most || peer.lacks.has(header)) return
      if (isMissing(header)) headers.push(header)
    }
  }

  override firstMissing(peer: DownloadPeer): HeaderId {
    const { tree } = this.options
    return tree.ancestor(peer.best, Math.max(0, below(this.span.taken(), tree.height(peer.best))))
  }

  override rescan(height: number): void {
    for (const peer of this.options.peers.values()) peer.cursor = Math.max(peer.cursor, height + 1)
  }
}

/** A height, or the next one below the blocks that are there. */
const below = ({ high, low }: ReturnType<BlockSpan["taken"]>, height: Height): Height =>
  high === NO_HEADER || height < low ? height : low - 1
