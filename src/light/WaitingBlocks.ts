import type { HeaderId } from "../protocol/keys.ts"
import type { KeptBlock } from "./nameWindow.ts"

/** What is kept of a block until it joins the window. */
interface WaitingBlock extends KeptBlock {
  /** The size of the block. The operations are views of its bytes. */
  readonly size: number
}

/** Checked blocks that are not in the window yet, by header. */
export class WaitingBlocks {
  private readonly blocks = new Map<HeaderId, WaitingBlock>()
  private held = 0

  get count(): number {
    return this.blocks.size
  }

  get bytes(): number {
    return this.held
  }

  /** In the order of arrival. */
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

  /** Removes a block and returns it; `undefined` if it is not waiting. */
  take(id: HeaderId): KeptBlock | undefined {
    const block = this.blocks.get(id)
    if (block === undefined) return undefined
    this.blocks.delete(id)
    this.held -= block.size
    return block
  }
}
