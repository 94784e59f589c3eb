import type { HeaderId } from "../../protocol/keys.ts"
import { type BlockIndex, GENESIS, NONE, Status } from "./BlockIndex.ts"

/** Blocks of the best chain remembered at the start. Deeper reorgs have no ties to decide. */
const KEPT_AT_START = 2_016

const MAX_ARRIVALS = 100_000

/**
 * The possible tips: valid blocks with at least the work of the tip, stored with all their ancestors. Among equal work
 * the first to arrive wins. Blocks from before the start count as one arrival, the best chain first.
 */
export class Candidates {
  private readonly index: BlockIndex
  /** Whether a block and all its ancestors are stored. */
  private linked = new Uint8Array(1024)
  /** Stored blocks that wait for their parent. */
  private readonly waiting = new Map<HeaderId, Array<HeaderId>>()
  private readonly candidates = new Set<HeaderId>()
  /** The order in which blocks became linked after the start. */
  private readonly arrivals = new Map<HeaderId, number>()
  private nextArrival = 0
  /** The arrival of the next preferred block, ahead of all others. */
  private nextPreferred = -3
  private activeAtStart: ReadonlySet<HeaderId> | undefined

  constructor(index: BlockIndex) {
    this.index = index
  }

  private isLinked(id: HeaderId): boolean {
    return this.linked[id] === 1
  }

  private setLinked(id: HeaderId): void {
    if (id >= this.linked.length) {
      const grown = new Uint8Array(Math.max(2 * this.linked.length, id + 1))
      grown.set(this.linked)
      this.linked = grown
    }
    this.linked[id] = 1
  }

  /** 0 for the best chain at the start, 1 for other earlier blocks, then by arrival. */
  private sequence(id: HeaderId): number {
    const arrival = this.arrivals.get(id)
    if (arrival !== undefined) return 2 + arrival
    return this.activeAtStart?.has(id) === true ? 0 : 1
  }

  /** Finds all candidates again, given the best chain by height. The first call is the start. */
  rebuild(active: ReadonlyArray<HeaderId>): void {
    this.activeAtStart ??= new Set(active.slice(-KEPT_AT_START))
    this.linked = new Uint8Array(Math.max(1024, this.index.count))
    this.waiting.clear()
    this.candidates.clear()
    // If a block of the best chain failed, the chain will return to the block below it.
    const tip = active.findLast((id) => !this.index.isFailed(id)) ?? GENESIS
    // Connected blocks count as stored, even if a damaged file lost their bytes.
    for (const id of active) this.setLinked(id)
    this.index.each((id, status) => {
      if (this.isLinked(id)) this.candidate(id, tip)
      else if ((status & Status.HAVE_DATA) !== 0) this.enter(id, tip)
    })
  }

  private candidate(id: HeaderId, tip: HeaderId): void {
    if (!this.index.isFailed(id) && (id === tip || this.index.compareWork(id, tip) >= 0)) this.candidates.add(id)
  }

  private enter(id: HeaderId, tip: HeaderId): void {
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

  /** Notes that a block is stored, and links the blocks that waited for it. */
  arrived(id: HeaderId, tip: HeaderId): void {
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

  /** Until the next start, treats a block as the first to arrive among those of equal work (`preciousblock`). */
  prefer({ id, tip }: { readonly id: HeaderId; readonly tip: HeaderId }): void {
    this.arrivals.set(id, this.nextPreferred--)
    if (this.isLinked(id)) this.candidate(id, tip)
  }

  /** The best candidate that is not `barred`: the most work, then the first to arrive. */
  best(tip: HeaderId, barred: (id: HeaderId) => boolean = () => false): HeaderId {
    let best = NONE
    for (const id of this.candidates) if ((best === NONE || this.isBetter(id, best)) && !barred(id)) best = id
    return best === NONE ? tip : best
  }

  private isBetter(a: HeaderId, b: HeaderId): boolean {
    const difference = this.index.compareWork(a, b)
    return difference === 0 ? this.sequence(a) < this.sequence(b) : difference > 0
  }

  prune(tip: HeaderId): void {
    for (const id of this.candidates) if (this.index.compareWork(id, tip) < 0) this.candidates.delete(id)
    if (this.arrivals.size > MAX_ARRIVALS) this.forgetOldest()
  }

  /** Arrival matters only among blocks of equal work, and blocks far below the tip never compete again. */
  private forgetOldest(): void {
    const drop = this.arrivals.size - MAX_ARRIVALS / 2
    let count = 0
    for (const id of this.arrivals.keys()) {
      if (count++ >= drop) return
      if (!this.candidates.has(id)) this.arrivals.delete(id)
    }
  }
}
