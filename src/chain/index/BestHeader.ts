import type { HeaderId } from "../../protocol/keys.ts"
import type { BlockLosses } from "../repair/BlockLosses.ts"
import { type BlockIndex, NONE } from "./BlockIndex.ts"

/** The headers with the most chainwork, among those not known to be invalid and among the others. */
export class BestHeader {
  private readonly index: BlockIndex
  private readonly losses: Pick<BlockLosses, "bars">
  /** The best header that the chain can reach. */
  reachable = NONE
  /** The best header of all, including branches that were given up. */
  mostWork = NONE
  /** The best header that is invalid or follows an invalid one, or `NONE`. */
  invalid = NONE

  constructor(index: BlockIndex, losses: Pick<BlockLosses, "bars">) {
    this.index = index
    this.losses = losses
  }

  /** Examines all headers. The result is at least the tip or its highest valid ancestor. */
  find(tip: HeaderId): void {
    let least = tip
    while (least > 0 && this.index.isFailed(least)) least = this.index.parent(least)
    this.reachable = least
    this.mostWork = least
    this.invalid = NONE
    this.index.each((id) => this.consider(id))
  }

  consider(id: HeaderId): void {
    const { index } = this
    if (index.isFailed(id)) {
      if (this.invalid === NONE || index.compareWork(id, this.invalid) > 0) this.invalid = id
      return
    }
    if (index.compareWork(id, this.mostWork) > 0) this.mostWork = id
    if (index.compareWork(id, this.reachable) > 0 && !this.losses.bars(id)) this.reachable = id
  }
}
