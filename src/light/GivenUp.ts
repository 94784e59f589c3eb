import type { BlockIndex } from "../chain/index/BlockIndex.ts"
import type { HeaderId } from "../protocol/keys.ts"

/** Headers whose blocks did not arrive, so that no window could begin at them. */
export class GivenUp {
  private readonly index: BlockIndex
  private readonly headers = new Set<HeaderId>()

  constructor(index: BlockIndex) {
    this.index = index
  }

  add(id: HeaderId): void {
    this.headers.add(id)
  }

  delete(id: HeaderId): void {
    this.headers.delete(id)
  }

  clear(): void {
    this.headers.clear()
  }

  /** Whether any of them is in the chain up to a header. */
  isIn(end: HeaderId): boolean {
    const { index } = this
    return [...this.headers].some((id) =>
      index.height(id) <= index.height(end) && index.ancestor(end, index.height(id)) === id
    )
  }
}
