/** Bits for keys, and keys after which all bits are cleared: at the end, one new key in 16 is taken for a known one. */
const BITS = 1 << 17
const MOST_KEYS = 8_192

/**
 * Whether a key came before, among the last few thousand, in 16 kB. Questions about missing names are often random and
 * never asked again: kept at once, they would drive out what many ask for, and be work for the collector of garbage.
 */
export class Repeats {
  readonly #bits = new Uint32Array(BITS / 32)
  #keys = 0

  /** Notes the key. */
  isRepeated(key: string): boolean {
    const place = hashOf(key) & (BITS - 1)
    const [word, bit] = [place >>> 5, 1 << (place & 31)]
    if (((this.#bits[word] ?? 0) & bit) !== 0) return true
    if (this.#keys === MOST_KEYS) {
      this.#bits.fill(0)
      this.#keys = 0
    }
    this.#bits[word] = (this.#bits[word] ?? 0) | bit
    this.#keys += 1
    return false
  }
}

/** FNV-1a, with its upper bits mixed into the lower ones. Whoever finds keys that fall together has a few more kept. */
const hashOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash ^ hash >>> 15
}
