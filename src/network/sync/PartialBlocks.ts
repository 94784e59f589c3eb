import type { MemoryAccount } from "../../base/MemoryBudget.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import type { PartialBlock } from "../wire/compactBlock.ts"

/** Memory of a place in a block, and of a received transaction beyond its bytes. */
const PLACE = 16
const TRANSACTION = 512

const MOST_ATTEMPTED = 16

/** Any of the block's transactions may be in memory only for it. */
const sizeOf = ({ transactions }: PartialBlock): number => {
  let size = PLACE * transactions.length
  for (const transaction of transactions) {
    if (transaction !== undefined) size += TRANSACTION + transaction.bytes.length
  }
  return size
}

/** Oldest first; `undefined` if the whole block was requested. Counted in the peer's memory. */
export class PartialBlocks {
  private readonly account: MemoryAccount
  private readonly blocks = new Map<HeaderId, PartialBlock | undefined>()
  private readonly sizes = new Map<HeaderId, number>()
  private readonly attempts = new Set<HeaderId>()

  constructor(account: MemoryAccount) {
    this.account = account
  }

  get size(): number {
    return this.blocks.size
  }

  has(id: HeaderId): boolean {
    return this.blocks.has(id)
  }

  get(id: HeaderId): PartialBlock | undefined {
    return this.blocks.get(id)
  }

  get oldest(): HeaderId | undefined {
    for (const id of this.blocks.keys()) return id
    return undefined
  }

  /** False if out of memory. */
  set(id: HeaderId, block: PartialBlock | undefined): boolean {
    this.delete(id)
    const size = block === undefined ? 0 : sizeOf(block)
    if (size > 0 && !this.account.take("compact_blocks", size)) return false
    this.blocks.set(id, block)
    this.sizes.set(id, size)
    return true
  }

  delete(id: HeaderId): void {
    this.account.give("compact_blocks", this.sizes.get(id) ?? 0)
    this.sizes.delete(id)
    this.blocks.delete(id)
  }

  /** Per block, with this peer's data. */
  attempt(id: HeaderId): boolean {
    if (this.attempts.has(id)) return false
    this.attempts.add(id)
    if (this.attempts.size > MOST_ATTEMPTED) {
      for (const oldest of this.attempts) {
        this.attempts.delete(oldest)
        break
      }
    }
    return true
  }
}
