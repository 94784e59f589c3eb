/**
 * The branches that a script is in: true where it runs, false where it is passed over. Nobody asks for more than
 * whether all are true, so the lowest false one says enough, and no depth of nesting costs more than another.
 */
export class ConditionStack {
  private size = 0
  /** Position of the lowest false one; -1 for none. */
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

  /** Leaves the innermost branch; answers false where there is none. */
  pop(): boolean {
    if (this.size === 0) return false
    this.size--
    if (this.firstFalse === this.size) this.firstFalse = -1
    return true
  }

  /** Turns to the other side of the innermost branch; answers false where there is none. */
  toggle(): boolean {
    if (this.size === 0) return false
    const top = this.size - 1
    if (this.firstFalse < 0) this.firstFalse = top
    else if (this.firstFalse === top) this.firstFalse = -1
    return true
  }
}
