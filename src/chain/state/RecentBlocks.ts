import type { Block } from "../../protocol/block.ts"
import type { HeaderId } from "../../protocol/keys.ts"

/** Bytes of blocks to keep: some batches of an import, or the last blocks at the tip for relay and reorgs. */
const LIMIT = 4 * 1024 * 1024

/** The most recent blocks, decoded. The oldest are dropped first; the last one stays. */
export class RecentBlocks {
  private readonly blocks = new Map<HeaderId, Block>()
  private readonly limit: number
  private used = 0

  /** @param limit bytes of serialized blocks. */
  constructor(limit = LIMIT) {
    this.limit = limit
  }

  get(id: HeaderId): Block | undefined {
    return this.blocks.get(id)
  }

  put(id: HeaderId, block: Block): void {
    this.remove(id)
    this.blocks.set(id, block)
    this.used += block.size
    this.trim(this.limit, id)
  }

  /** Drops the oldest blocks until the rest has at most `limit` bytes, or `last` is the oldest. */
  trim(limit: number, last?: HeaderId): void {
    for (const oldest of this.blocks.keys()) {
      if (this.used <= limit || oldest === last) break
      this.remove(oldest)
    }
  }

  remove(id: HeaderId): void {
    const block = this.blocks.get(id)
    if (block === undefined) return
    this.blocks.delete(id)
    this.used -= block.size
  }
}
