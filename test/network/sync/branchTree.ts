import type { HeaderTree } from "../../../src/chain/index/HeaderTree.ts"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { type HeaderId, headerId } from "../../../src/protocol/keys.ts"

/** The number of the first header. */
export const GENESIS = headerId(0)

/** A tree of headers with only heights and parents; each header has work 2. Number 0 is genesis, and stored. */
export class BranchTree {
  private readonly parents: Array<HeaderId> = [NO_HEADER]
  private readonly heights = [0]
  readonly stored = new Set([GENESIS])
  readonly failed = new Set<HeaderId>()
  private tipId = GENESIS

  /** Adds `count` headers after `parent` and returns their numbers. */
  grow(parent: HeaderId, count: number): ReadonlyArray<HeaderId> {
    const ids: Array<HeaderId> = []
    let last = parent
    for (let i = 0; i < count; i++) {
      const id = headerId(this.parents.length)
      this.parents.push(last)
      this.heights.push((this.heights[last] ?? 0) + 1)
      ids.push(id)
      last = id
    }
    return ids
  }

  /** Stores a block; the tip moves to the highest fully stored chain. */
  store(id: HeaderId): void {
    this.stored.add(id)
    for (let moved = true; moved;) {
      moved = false
      for (let number = 0; number < this.parents.length; number++) {
        const next = headerId(number)
        if (this.stored.has(next) && this.parent(next) === this.tipId && this.height(next) > this.height(this.tipId)) {
          this.tipId = next
          moved = true
        }
      }
    }
  }

  set tipAt(id: HeaderId) {
    this.tipId = id
  }

  readonly height = (id: HeaderId): number => this.heights[id] ?? -1
  readonly parent = (id: HeaderId): HeaderId => this.parents[id] ?? NO_HEADER
  readonly tip = (): HeaderId => this.tipId
  readonly hasBlock = (id: HeaderId): boolean => this.stored.has(id)
  readonly isFailed = (id: HeaderId): boolean => {
    for (let at = id; at > 0; at = this.parent(at)) if (this.failed.has(at)) return true
    return false
  }
  readonly ancestor = (id: HeaderId, height: number): HeaderId => {
    let at = id
    while (this.height(at) > height) at = this.parent(at)
    return this.height(at) === height ? at : NO_HEADER
  }
  readonly forkPoint = (a: HeaderId, b: HeaderId): HeaderId => {
    let [one, other] = [a, b]
    while (one !== other) {
      if (this.height(one) >= this.height(other)) one = this.parent(one)
      else other = this.parent(other)
    }
    return one
  }
  readonly compareWork = (a: HeaderId, b: HeaderId): number => this.height(a) - this.height(b)
  readonly chainwork = (id: HeaderId): bigint => 2n * BigInt(this.height(id) + 1)
  readonly isActive = (id: HeaderId): boolean => this.ancestor(this.tipId, this.height(id)) === id
}

/** The tree as tested code uses it. */
export type TestedTree = Pick<
  HeaderTree,
  | "height"
  | "parent"
  | "tip"
  | "hasBlock"
  | "isFailed"
  | "ancestor"
  | "forkPoint"
  | "compareWork"
  | "chainwork"
  | "isActive"
>
