import type { HeaderId } from "../protocol/keys.ts"
import type { WindowOperation } from "./WindowFile.ts"

/** What is kept of a block until it is in the window. */
interface WaitingBlock {
  readonly operations: ReadonlyArray<WindowOperation>
  /** The size of the block: the operations are views of its bytes. */
  readonly size: number
}

/** Checked blocks that are not in the window yet, by their headers. */
export class WaitingBlocks {
  private readonly blocks = new Map<HeaderId, WaitingBlock>()
  private held = 0

  get count(): number {
    return this.blocks.size
  }

  /** Bytes of memory that the blocks hold. */
  get bytes(): number {
    return this.held
  }

  /** In the order in which they came. */
  get ids(): Iterable<HeaderId> {
    return this.blocks.keys()
  }

  has(id: HeaderId): boolean {
    return this.blocks.has(id)
  }

  put(id: HeaderId, block: WaitingBlock): void {
    this.blocks.set(id, block)
    this.held += block.size
  }

  /** Removes a block and returns its operations; `undefined` if it does not wait. */
  take(id: HeaderId): ReadonlyArray<WindowOperation> | undefined {
    const block = this.blocks.get(id)
    if (block === undefined) return undefined
    this.blocks.delete(id)
    this.held -= block.size
    return block.operations
  }
}
