/** A binary heap, for access to the first item of an order. */
export class Heap<A> {
  private items: Array<A> = []
  private readonly compare: (a: A, b: A) => number

  /** `compare` is negative if `a` comes before `b`. */
  constructor(compare: (a: A, b: A) => number) {
    this.compare = compare
  }

  get size(): number {
    return this.items.length
  }

  peek(): A | undefined {
    return this.items[0]
  }

  push(item: A): void {
    const { compare, items } = this
    let at = items.length
    items.push(item)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = items[above]
      if (parent === undefined || compare(parent, item) <= 0) break
      items[at] = parent
      at = above
    }
    items[at] = item
  }

  pop(): A | undefined {
    const first = this.items[0]
    const last = this.items.pop()
    if (last !== undefined && this.items.length > 0) this.sink(last)
    return first
  }

  retain(keep: (item: A) => boolean): void {
    const kept = this.items.filter(keep)
    this.items = []
    for (const item of kept) this.push(item)
  }

  /** Inserts an item at the top and moves it down to its place. */
  private sink(item: A): void {
    const { compare, items } = this
    let at = 0
    for (;;) {
      const left = items[2 * at + 1]
      const right = items[2 * at + 2]
      if (left === undefined) break
      const isRight = right !== undefined && compare(right, left) < 0
      const child = isRight ? right : left
      if (compare(item, child) <= 0) break
      items[at] = child
      at = 2 * at + (isRight ? 2 : 1)
    }
    items[at] = item
  }
}
