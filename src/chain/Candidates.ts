import { type BlockIndex, NONE, Status } from "./BlockIndex.ts"

/**
 * The blocks that could become the tip: nothing is known against them, their bytes and those of all their ancestors
 * are here, and they have at least the work of the tip. Of equal ones the first to arrive wins, the tip before all.
 */
export class Candidates {
  private readonly index: BlockIndex
  /** Whether a block and all its ancestors are here, by number. */
  private linked = new Uint8Array(1024)
  /** Blocks that are here and wait for their parent. */
  private readonly waiting = new Map<number, Array<number>>()
  /** In the order in which they became linked. */
  private readonly candidates = new Set<number>()

  constructor(index: BlockIndex) {
    this.index = index
  }

  private isLinked(id: number): boolean {
    return this.linked[id] === 1
  }

  private setLinked(id: number): void {
    if (id >= this.linked.length) {
      const grown = new Uint8Array(Math.max(2 * this.linked.length, id + 1))
      grown.set(this.linked)
      this.linked = grown
    }
    this.linked[id] = 1
  }

  /** Finds all candidates anew, given the best chain by height. */
  rebuild(active: ReadonlyArray<number>): void {
    this.linked = new Uint8Array(Math.max(1024, this.index.count))
    this.waiting.clear()
    this.candidates.clear()
    // Where a block of the best chain is marked as failed, the chain goes back to below it.
    const tip = active.findLast((id) => !this.index.isFailed(id)) ?? 0
    // What is connected counts as here, even where a damaged file lost its bytes.
    for (const id of active) this.setLinked(id)
    for (let id = 0; id < this.index.count; id++) {
      if (this.isLinked(id)) this.candidate(id, tip)
      else if (this.index.has(id, Status.HAVE_DATA)) this.enter(id, tip)
    }
  }

  private candidate(id: number, tip: number): void {
    if (!this.index.isFailed(id) && (id === tip || this.index.compareWork(id, tip) >= 0)) this.candidates.add(id)
  }

  private enter(id: number, tip: number): void {
    const parent = this.index.parent(id)
    if (parent === NONE || this.isLinked(parent)) {
      this.setLinked(id)
      this.candidate(id, tip)
      return
    }
    const siblings = this.waiting.get(parent)
    if (siblings === undefined) this.waiting.set(parent, [id])
    else siblings.push(id)
  }

  /** Notes that a block's bytes are here now, and links what waited for it. */
  arrived(id: number, tip: number): void {
    const fresh = [id]
    for (let next = fresh.shift(); next !== undefined; next = fresh.shift()) {
      if (this.isLinked(next)) continue
      this.enter(next, tip)
      if (!this.isLinked(next)) continue
      fresh.push(...(this.waiting.get(next) ?? []))
      this.waiting.delete(next)
    }
  }

  /** The block to go to: the one with the most work, the present tip where nothing beats it. */
  best(tip: number): number {
    let best = this.index.isFailed(tip) ? NONE : tip
    for (const id of this.candidates) if (best === NONE || this.index.compareWork(id, best) > 0) best = id
    return best === NONE ? tip : best
  }

  /** Drops what has less work than the tip. */
  prune(tip: number): void {
    for (const id of this.candidates) if (this.index.compareWork(id, tip) < 0) this.candidates.delete(id)
  }
}
