/**
 * Nested branches, true for an executed one. The position of the lowest false branch is enough, at a cost that does not
 * depend on the depth.
 */
export class ConditionStack {
  private size = 0
  /** Position of the lowest false branch; -1 for none. */
  private firstFalse = -1

  get isEmpty(): boolean {
    return this.size === 0
  }

  get allTrue(): boolean {
    return this.firstFalse < 0
  }

  push(condition: boolean): void {
    if (!condition && this.firstFalse < 0) this.firstFalse = this.size
    this.size++
  }

  /** Returns false outside of branches. */
  pop(): boolean {
    if (this.size === 0) return false
    this.size--
    if (this.firstFalse === this.size) this.firstFalse = -1
    return true
  }

  /** Returns false outside of branches. */
  toggle(): boolean {
    if (this.size === 0) return false
    const top = this.size - 1
    if (this.firstFalse < 0) this.firstFalse = top
    else if (this.firstFalse === top) this.firstFalse = -1
    return true
  }
}
