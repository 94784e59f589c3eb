/** Bits for each key: with all keys, one new key in 8 is taken for a known one. */
const BITS_PER_KEY = 16

/**
 * Whether a key came before, among the last thousands, in four bytes for each. A cache that keeps only what is asked for
 * again stays clear of what is asked for once: that would drive out what many ask for, and is work for the collector
 * of garbage, which costs as much as a small answer.
 */
export class Repeats {
  readonly #most: number
  #young: Uint32Array
  #old: Uint32Array
  #keys = 0

  /** `most`: so many keys are remembered, and at most twice as many. A power of two. */
  constructor(most: number) {
    this.#most = most
    this.#young = new Uint32Array(most * BITS_PER_KEY / 32)
    this.#old = new Uint32Array(this.#young.length)
  }

  /** Notes the key. */
  isRepeated(key: string): boolean {
    const place = hashOf(key) & (this.#most * BITS_PER_KEY - 1)
    const [word, bit] = [place >>> 5, 1 << (place & 31)]
    const young = this.#young[word] ?? 0
    if ((young & bit) !== 0) return true
    const isKnown = ((this.#old[word] ?? 0) & bit) !== 0
    this.#young[word] = young | bit
    this.#keys += 1
    if (this.#keys === this.#most) {
      const old = this.#old
      this.#old = this.#young
      this.#young = old.fill(0)
      this.#keys = 0
    }
    return isKnown
  }
}

/** FNV-1a, with its upper bits mixed into the lower ones. Whoever finds keys that fall together has a few more kept. */
const hashOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash ^ hash >>> 15
}
