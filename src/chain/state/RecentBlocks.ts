import type { Block } from "../../protocol/block.ts"

/** Bytes of blocks to keep: some batches of an import, or the last blocks at the tip for relay and reorganisations. */
const LIMIT = 4 * 1024 * 1024

/** The blocks that came last, parsed: connected from memory instead of read back. Oldest first out, the last one stays. */
export class RecentBlocks {
  private readonly blocks = new Map<number, Block>()
  private readonly limit: number
  private used = 0

  /** @param limit bytes of blocks, as they are serialized. */
  constructor(limit = LIMIT) {
    this.limit = limit
  }

  get(id: number): Block | undefined {
    return this.blocks.get(id)
  }

  put(id: number, block: Block): void {
    this.remove(id)
    this.blocks.set(id, block)
    this.used += block.size
    for (const oldest of this.blocks.keys()) {
      if (this.used <= this.limit || oldest === id) break
      this.remove(oldest)
    }
  }

  remove(id: number): void {
    const block = this.blocks.get(id)
    if (block === undefined) return
    this.blocks.delete(id)
    this.used -= block.size
  }
}
