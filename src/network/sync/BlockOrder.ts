import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { Block } from "../../protocol/block.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import type { Lease } from "./Slots.ts"

export interface ReceivedBlock {
  readonly block: Block
  /** `NO_HEADER` if unknown. */
  readonly id: HeaderId
  readonly peer: PeerId
  /** Reconstructed from a compact block, for which its peer is not to blame if invalid (BIP 152). */
  readonly compact: boolean
  /** The slot of an unsolicited block, held until the chain has stored or refused it. */
  readonly slot: Lease | undefined
  readonly isFetched?: boolean
}

/** Bytes of blocks that wait for predecessors. Beyond it, the lowest are released. */
const MOST_WAITING = 24 * 1024 * 1024

/** Per batch, which the chain keeps parsed until it connects the blocks. */
const BATCH = { blocks: 64, bytes: 3 * 1024 * 1024 }

/** Sorts blocks into chain order. The loop adds and releases blocks, the writer takes batches. */
export class BlockOrder {
  private readonly tree: Pick<HeaderTree, "parent" | "hasBlock" | "isActive" | "isFailed" | "height">
  private ready: Array<ReceivedBlock> = []
  private taken = 0
  /** By the predecessor that they wait for. */
  private readonly waiting = new Map<HeaderId, Array<ReceivedBlock>>()
  private waitingBytes = 0
  private awaited: ReadonlySet<HeaderId> = new Set()
  /** Blocks that are ready or delivered but not stored. */
  private readonly passing = new Set<HeaderId>()
  private readonly sent = new Map<PeerId, number>()

  constructor(tree: Pick<HeaderTree, "parent" | "hasBlock" | "isActive" | "isFailed" | "height">) {
    this.tree = tree
  }

  push(item: ReceivedBlock): void {
    const parent = item.id === NO_HEADER ? NO_HEADER : this.tree.parent(item.id)
    // Two kinds do not wait: an unsolicited block holds a slot, and the predecessors of a fetched one may be unwanted.
    const free = parent === NO_HEADER || item.slot !== undefined || item.isFetched === true ||
      this.tree.hasBlock(parent) ||
      this.tree.isActive(parent) ||
      this.passing.has(parent)
    if (free) this.pass(item)
    else {
      const siblings = this.waiting.get(parent)
      if (siblings === undefined) this.waiting.set(parent, [item])
      else siblings.push(item)
      this.waitingBytes += item.block.size
      while (this.waitingBytes > MOST_WAITING) this.release(this.lowest())
    }
  }

  /**
   * By generation. The first sibling to arrive becomes the tip among equal work (upstream
   * `ChainstateManager::ReceivedBlockTransactions`).
   */
  private pass(first: ReceivedBlock): void {
    const fresh = [first]
    for (const item of fresh) {
      this.ready.push(item)
      this.sent.set(item.peer, (this.sent.get(item.peer) ?? 0) + 1)
      if (item.id === NO_HEADER) continue
      this.passing.add(item.id)
      fresh.push(...this.children(item.id))
    }
  }

  private children(parent: HeaderId): ReadonlyArray<ReceivedBlock> {
    const children = this.waiting.get(parent)
    if (children === undefined) return []
    this.waiting.delete(parent)
    for (const { block } of children) this.waitingBytes -= block.size
    return children
  }

  private release(parent: HeaderId): void {
    for (const item of this.children(parent)) this.pass(item)
  }

  private lowest(): HeaderId {
    let lowest = NO_HEADER
    for (const parent of this.waiting.keys()) {
      if (lowest === NO_HEADER || this.tree.height(parent) < this.tree.height(lowest)) lowest = parent
    }
    return lowest
  }

  /** Predecessors first; empty if all blocks wait. */
  take(): ReadonlyArray<ReceivedBlock> {
    const batch: Array<ReceivedBlock> = []
    for (let bytes = 0; batch.length < BATCH.blocks && bytes < BATCH.bytes;) {
      const item = this.ready[this.taken]
      if (item === undefined) break
      this.taken++
      batch.push(item)
      bytes += item.block.size
    }
    if (this.taken > 256 || this.taken === this.ready.length) {
      this.ready = this.ready.slice(this.taken)
      this.taken = 0
    }
    return batch
  }

  done(batch: ReadonlyArray<ReceivedBlock>): void {
    for (const { id, peer } of batch) {
      this.passing.delete(id)
      const left = (this.sent.get(peer) ?? 0) - 1
      if (left > 0) this.sent.set(peer, left)
      else this.sent.delete(peer)
    }
  }

  isPassing(peer: PeerId): boolean {
    return this.sent.has(peer)
  }

  /** Releases blocks whose predecessor is unwanted and so not requested. The chain stores them meanwhile. */
  releaseUnless(isWanted: (parent: HeaderId) => boolean, parent: HeaderId): void {
    if (this.waiting.has(parent) && !isWanted(parent)) this.release(parent)
  }

  /** Releases blocks whose predecessor arrived another way, is invalid, or is unwanted and so not requested. */
  unblock(isWanted: (id: HeaderId) => boolean = () => true): void {
    const { tree } = this
    for (const parent of [...this.waiting.keys()]) {
      const free = tree.hasBlock(parent) || tree.isActive(parent) || tree.isFailed(parent)
      if (free || !isWanted(parent)) this.release(parent)
    }
  }

  /** Releases blocks that already waited at the last call: maybe no peer has the predecessor. The chain decides. */
  releaseOld(): void {
    const here = new Set([...this.waiting.values()].flatMap((items) => items.map(({ id }) => id)))
    const awaited = new Set([...this.waiting.keys()].filter((parent) => !here.has(parent)))
    for (const parent of awaited) if (this.awaited.has(parent)) this.release(parent)
    this.awaited = awaited
  }
}
