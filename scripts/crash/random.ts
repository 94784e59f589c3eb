/** Numbers that follow from a seed, so that each round can be repeated by itself. Not for secrets. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** The numbers of one round, independent of the rounds before it. */
  static of(seed: number, round: number): Random {
    const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(round + 1, 0x85ebca6b))
    random.next()
    return random
  }

  /** 32 bits (mulberry32). */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** A whole number below `limit`, which is above 0. */
  below(limit: number): number {
    return Math.floor((this.next() / 2 ** 32) * limit)
  }

  /** `true` with this probability. */
  chance(probability: number): boolean {
    return this.next() / 2 ** 32 < probability
  }

  /** One of some values, of which there is at least one. */
  pick<A>(values: ReadonlyArray<A>): A {
    const value = values[this.below(values.length)]
    if (value === undefined) throw new Error("there is nothing to choose from")
    return value
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256))
  }
}
