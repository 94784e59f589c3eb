import { type BlockIndex, NONE, Status } from "./BlockIndex.ts"

/** Blocks of the best chain at the start whose place is remembered: deeper reorganisations have no ties to decide. */
const KEPT_AT_START = 2_016

/** Arrivals that are remembered. */
const MAX_ARRIVALS = 100_000

/**
 * The blocks that could become the tip: nothing is known against them, their bytes and those of all their ancestors
 * are here, and they have at least the work of the tip. Of those with equal work the first to arrive wins; what was
 * there at the start counts as arrived at once, the best chain first.
 */
export class Candidates {
  private readonly index: BlockIndex
  /** Whether a block and all its ancestors are here, by number. */
  private linked = new Uint8Array(1024)
  /** Blocks that are here and wait for their parent. */
  private readonly waiting = new Map<number, Array<number>>()
  private readonly candidates = new Set<number>()
  /** When a block that was not there at the start became linked, counted. */
  private readonly arrivals = new Map<number, number>()
  private nextArrival = 0
  /** The end of the best chain at the start. */
  private activeAtStart: ReadonlySet<number> | undefined

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

  /** 0 for the best chain at the start, 1 for what else was there, then in the order of arrival. */
  private sequence(id: number): number {
    const arrival = this.arrivals.get(id)
    if (arrival !== undefined) return 2 + arrival
    return this.activeAtStart?.has(id) === true ? 0 : 1
  }

  /** Finds all candidates anew, given the best chain by height. The first call is the start. */
  rebuild(active: ReadonlyArray<number>): void {
    this.activeAtStart ??= new Set(active.slice(-KEPT_AT_START))
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
      this.arrivals.set(next, this.nextArrival++)
      fresh.push(...(this.waiting.get(next) ?? []))
      this.waiting.delete(next)
    }
  }

  /** The block to go to: the one with the most work, of several the first to arrive. `barred` ones are left out. */
  best(tip: number, barred: (id: number) => boolean = () => false): number {
    let best = NONE
    for (const id of this.candidates) if ((best === NONE || this.isBetter(id, best)) && !barred(id)) best = id
    return best === NONE ? tip : best
  }

  private isBetter(a: number, b: number): boolean {
    const difference = this.index.compareWork(a, b)
    return difference === 0 ? this.sequence(a) < this.sequence(b) : difference > 0
  }

  /** Drops what has less work than the tip. */
  prune(tip: number): void {
    for (const id of this.candidates) if (this.index.compareWork(id, tip) < 0) this.candidates.delete(id)
    if (this.arrivals.size > MAX_ARRIVALS) this.forgetOldest()
  }

  /** Order matters among blocks of equal work only: those far below the tip never compete again. */
  private forgetOldest(): void {
    const drop = this.arrivals.size - MAX_ARRIVALS / 2
    let count = 0
    for (const id of this.arrivals.keys()) {
      if (count++ >= drop) return
      if (!this.candidates.has(id)) this.arrivals.delete(id)
    }
  }
}
