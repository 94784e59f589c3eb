import type { HeaderId, Height } from "../../protocol/keys.ts"
import { type BlockIndex, GENESIS, NONE } from "../index/BlockIndex.ts"

/** What the best chain is, without the ways to change it. */
export type ActiveChainReader = Pick<
  ActiveChain,
  "all" | "at" | "height" | "isActive" | "onTrust" | "settledHeight" | "settledTip" | "tip"
>

/** The best chain: headers by height. While a batch is prepared, the last blocks have unverified scripts. */
export class ActiveChain {
  private readonly index: BlockIndex
  private readonly numbers: Array<HeaderId> = []
  /** The number of last blocks with unverified scripts. */
  private unverified = 0

  constructor(index: BlockIndex) {
    this.index = index
  }

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

  get onTrust(): number {
    return this.unverified
  }

  /** The height of the last validated block, up to which readers see the chain. */
  get settledHeight(): Height {
    return this.height - this.unverified
  }

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

  /** The headers by height: a view. */
  all(): ReadonlyArray<HeaderId> {
    return this.numbers
  }

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
