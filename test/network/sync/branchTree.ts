import type { HeaderTree } from "../../../src/chain/index/HeaderTree.ts"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"

/** A tree of headers with only heights and parents; each header has work 2. Number 0 is genesis, and stored. */
export class BranchTree {
  private readonly parents = [NO_HEADER]
  private readonly heights = [0]
  readonly stored = new Set([0])
  readonly failed = new Set<number>()
  private tipId = 0

  /** Adds `count` headers after `parent` and returns their numbers. */
  grow(parent: number, count: number): ReadonlyArray<number> {
    const ids: Array<number> = []
    let last = parent
    for (let i = 0; i < count; i++) {
      const id = this.parents.length
      this.parents.push(last)
      this.heights.push((this.heights[last] ?? 0) + 1)
      ids.push(id)
      last = id
    }
    return ids
  }

  /** Stores a block; the tip moves to the highest fully stored chain. */
  store(id: number): void {
    this.stored.add(id)
    for (let moved = true; moved;) {
      moved = false
      for (let next = 0; next < this.parents.length; next++) {
        if (this.stored.has(next) && this.parent(next) === this.tipId && this.height(next) > this.height(this.tipId)) {
          this.tipId = next
          moved = true
        }
      }
    }
  }

  set tipAt(id: number) {
    this.tipId = id
  }

  readonly height = (id: number): number => this.heights[id] ?? -1
  readonly parent = (id: number): number => this.parents[id] ?? NO_HEADER
  readonly tip = (): number => this.tipId
  readonly hasBlock = (id: number): boolean => this.stored.has(id)
  readonly isFailed = (id: number): boolean => {
    for (let at = id; at > 0; at = this.parent(at)) if (this.failed.has(at)) return true
    return false
  }
  readonly ancestor = (id: number, height: number): number => {
    let at = id
    while (this.height(at) > height) at = this.parent(at)
    return this.height(at) === height ? at : NO_HEADER
  }
  readonly forkPoint = (a: number, b: number): number => {
    let [one, other] = [a, b]
    while (one !== other) {
      if (this.height(one) >= this.height(other)) one = this.parent(one)
      else other = this.parent(other)
    }
    return one
  }
  readonly compareWork = (a: number, b: number): number => this.height(a) - this.height(b)
  readonly chainwork = (id: number): bigint => 2n * BigInt(this.height(id) + 1)
  readonly isActive = (id: number): boolean => this.ancestor(this.tipId, this.height(id)) === id
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
