import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { Block } from "../../protocol/block.ts"

/** A block on its way from a peer to the chain. */
export interface Received {
  readonly block: Block
  /** The number of its header; `NO_HEADER` where that is not known yet. */
  readonly id: number
  readonly peer: number
  /** Whether it was put together from a compact block: then nobody is blamed for what is wrong with it (BIP 152). */
  readonly compact: boolean
  /** Whether nobody was asked for it. */
  readonly unrequested: boolean
}

/** Bytes of blocks that wait for their predecessors; beyond, the lowest go on without. */
const MOST_WAITING = 24 * 1024 * 1024

/** Blocks and bytes handed on at once: what the chain keeps parsed until it connects them. */
const BATCH = { blocks: 64, bytes: 3 * 1024 * 1024 }

/**
 * Brings blocks that come from many peers into the order of their chains, so that the chain connects them from memory
 * and need not read them back. Who asks for blocks bounds how many there are.
 */
export class BlockOrder {
  private readonly tree: Pick<HeaderTree, "parent" | "hasBlock" | "isActive" | "isFailed" | "height">
  private ready: Array<Received> = []
  private taken = 0
  /** By the number of the predecessor that they wait for. */
  private readonly waiting = new Map<number, Array<Received>>()
  private waitingBytes = 0
  /** Numbers of blocks that are ready or handed on and not stored yet. */
  private readonly passing = new Set<number>()

  constructor(tree: Pick<HeaderTree, "parent" | "hasBlock" | "isActive" | "isFailed" | "height">) {
    this.tree = tree
  }

  push(item: Received): void {
    const parent = item.id === NO_HEADER ? NO_HEADER : this.tree.parent(item.id)
    const free = parent === NO_HEADER || this.tree.hasBlock(parent) || this.tree.isActive(parent) ||
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

  /** Makes a block ready, and what waited for it. */
  private pass(first: Received): void {
    const fresh = [first]
    for (let item = fresh.pop(); item !== undefined; item = fresh.pop()) {
      this.ready.push(item)
      if (item.id === NO_HEADER) continue
      this.passing.add(item.id)
      fresh.push(...this.children(item.id))
    }
  }

  private children(parent: number): ReadonlyArray<Received> {
    const children = this.waiting.get(parent)
    if (children === undefined) return []
    this.waiting.delete(parent)
    for (const { block } of children) this.waitingBytes -= block.size
    return children
  }

  private release(parent: number): void {
    for (const item of this.children(parent)) this.pass(item)
  }

  private lowest(): number {
    let lowest = NO_HEADER
    for (const parent of this.waiting.keys()) {
      if (lowest === NO_HEADER || this.tree.height(parent) < this.tree.height(lowest)) lowest = parent
    }
    return lowest
  }

  /** The next blocks to be handed on, predecessors first; none where all wait. */
  take(): ReadonlyArray<Received> {
    const batch: Array<Received> = []
    for (let bytes = 0; batch.length < BATCH.blocks && bytes < BATCH.bytes;) {
      const item = this.ready[this.taken]
      if (item === undefined) break
      this.taken++
      batch.push(item)
      bytes += item.block.size
    }
    // Dropping from the front of an array costs its length: do it rarely.
    if (this.taken > 256 || this.taken === this.ready.length) {
      this.ready = this.ready.slice(this.taken)
      this.taken = 0
    }
    return batch
  }

  /** The chain has stored or refused these. */
  done(batch: ReadonlyArray<Received>): void {
    for (const { id } of batch) this.passing.delete(id)
  }

  /**
   * Lets go on what waits for a predecessor that came another way, is invalid, or is not going to come: where nobody
   * wants the block, nobody is asked for what it waits for.
   */
  unblock(isWanted: (id: number) => boolean = () => true): void {
    const { tree } = this
    for (const [parent, items] of [...this.waiting]) {
      const free = tree.hasBlock(parent) || tree.isActive(parent) || tree.isFailed(parent)
      if (free || !items.some(({ id }) => isWanted(id))) this.release(parent)
    }
  }
}
