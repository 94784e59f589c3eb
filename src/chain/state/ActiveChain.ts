import type { HeaderId, Height } from "../../protocol/keys.ts"
import { type BlockIndex, GENESIS, NONE } from "../index/BlockIndex.ts"

/**
 * The best chain: the numbers of its headers by height. While a batch is prepared, blocks at its end have unverified
 * scripts.
 */
export class ActiveChain {
  private readonly index: BlockIndex
  private readonly numbers: Array<HeaderId> = []
  /** The number of blocks at the end whose scripts are not verified yet. */
  private unverified = 0

  constructor(index: BlockIndex) {
    this.index = index
  }

  /** Becomes the chain from genesis to a tip. */
  become(tip: HeaderId): void {
    this.numbers.length = this.index.height(tip) + 1
    for (let id = tip; id !== NONE; id = this.index.parent(id)) this.numbers[this.index.height(id)] = id
  }

  get tip(): HeaderId {
    return this.numbers[this.numbers.length - 1] ?? GENESIS
  }

  get height(): Height {
    return this.numbers.length - 1
  }

  /** The blocks with unverified scripts. */
  get onTrust(): number {
    return this.unverified
  }

  /** The height of the last validated block. Readers see the chain up to it. */
  get settledHeight(): Height {
    return this.height - this.unverified
  }

  /** The number of the last validated block. */
  get settledTip(): HeaderId {
    return this.at(this.settledHeight)
  }

  at(height: Height): HeaderId {
    return this.numbers[height] ?? NONE
  }

  /** Whether a block is in the validated part. */
  isActive(id: HeaderId): boolean {
    const height = this.index.height(id)
    return height <= this.settledHeight && this.numbers[height] === id
  }

  /** The numbers by height: a view. */
  all(): ReadonlyArray<HeaderId> {
    return this.numbers
  }

  /** Adds a block whose scripts are not verified yet. */
  pushOnTrust(id: HeaderId): void {
    this.numbers.push(id)
    this.unverified++
  }

  /** Notes that the scripts of the first unverified block are valid. */
  settleOne(): void {
    this.unverified--
  }

  /** Removes the last block, which is not validated. */
  popOnTrust(): void {
    this.numbers.pop()
    this.unverified--
  }

  /** Removes the last block, which is validated. */
  pop(): void {
    this.numbers.pop()
  }
}
