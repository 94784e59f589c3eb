import type { BlockLosses } from "../repair/BlockLosses.ts"
import { type BlockIndex, NONE } from "./BlockIndex.ts"

/** The header with the most work that nothing is known against, of those that the chain can go to and of all. */
export class BestHeader {
  private readonly index: BlockIndex
  private readonly losses: Pick<BlockLosses, "bars">
  /** The number of the best one that the chain can go to. */
  reachable = NONE
  /** The number of the best one of all, on a branch that was given up too. */
  mostWork = NONE

  constructor(index: BlockIndex, losses: Pick<BlockLosses, "bars">) {
    this.index = index
    this.losses = losses
  }

  /** Looks at all headers; none is worse than the tip, or what of its chain nothing is known against. */
  find(tip: number): void {
    let least = tip
    while (least > 0 && this.index.isFailed(least)) least = this.index.parent(least)
    this.reachable = least
    this.mostWork = least
    for (let id = 0; id < this.index.count; id++) this.consider(id)
  }

  /** Looks at one header. */
  consider(id: number): void {
    const { index } = this
    if (index.isFailed(id)) return
    if (index.compareWork(id, this.mostWork) > 0) this.mostWork = id
    if (index.compareWork(id, this.reachable) > 0 && !this.losses.bars(id)) this.reachable = id
  }
}
