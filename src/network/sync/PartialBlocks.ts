import type { Account } from "../../base/MemoryBudget.ts"
import type { PartialBlock } from "../wire/compactBlock.ts"

/** Bytes that a place in a block takes, and what a transaction that the peer sent takes beside its own bytes. */
const PLACE = 16
const TRANSACTION = 512

/** Blocks that are remembered to have been put together once. */
const MOST_ATTEMPTED = 16

/** Memory of a block of which some transactions are missing. Any of them may be in memory for this block alone. */
const sizeOf = ({ transactions }: PartialBlock): number => {
  let size = PLACE * transactions.length
  for (const transaction of transactions) {
    if (transaction !== undefined) size += TRANSACTION + transaction.bytes.length
  }
  return size
}

/**
 * Compact blocks of a peer that wait for transactions, by the number of their header, the oldest first; `undefined` where
 * the attempt failed and the whole block was asked for. Their memory is counted in the account of the peer.
 */
export class PartialBlocks {
  private readonly account: Account
  private readonly blocks = new Map<number, PartialBlock | undefined>()
  private readonly sizes = new Map<number, number>()
  private readonly attempts = new Set<number>()

  constructor(account: Account) {
    this.account = account
  }

  get size(): number {
    return this.blocks.size
  }

  has(id: number): boolean {
    return this.blocks.has(id)
  }

  get(id: number): PartialBlock | undefined {
    return this.blocks.get(id)
  }

  /** The one that has waited longest. */
  get oldest(): number | undefined {
    for (const id of this.blocks.keys()) return id
    return undefined
  }

  /** Keeps what there is of a block; false, and nothing is kept, where there is no memory for it. */
  set(id: number, block: PartialBlock | undefined): boolean {
    this.delete(id)
    const size = block === undefined ? 0 : sizeOf(block)
    if (size > 0 && !this.account.take("compact_blocks", size)) return false
    this.blocks.set(id, block)
    this.sizes.set(id, size)
    return true
  }

  delete(id: number): void {
    this.account.give("compact_blocks", this.sizes.get(id) ?? 0)
    this.sizes.delete(id)
    this.blocks.delete(id)
  }

  /** Notes that a block is put together from what this peer sent. Returns whether that is the first time. */
  attempt(id: number): boolean {
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
