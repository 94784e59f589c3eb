import type { PlaceShare } from "./FairPlaces.ts"

/** Holders whose shares begin with the same words. */
interface Line<H> {
  /** Includes the holders of lines below. */
  held: number
  /** The least recently used line first. */
  readonly below: Map<string, Line<H>>
  newest: string | undefined
  readonly holders: Set<H>
}

const emptyLine = <H>(): Line<H> => ({ held: 0, below: new Map(), newest: undefined, holders: new Set() })

/** Puts a line behind the others: among equals, the least recently used one loses a place. */
const moveLast = <H>(line: Line<H>, word: string, next: Line<H>): void => {
  if (line.newest === word) return
  line.below.delete(word)
  line.below.set(word, next)
  line.newest = word
}

/**
 * Limited places that always admit a newcomer. Beyond the limit, the user with the most places loses one: the least
 * recently used place of the address with the most. `FairPlaces` is for callers that can wait.
 */
export class EvictingPlaces<H> implements Iterable<H> {
  readonly #total: number
  readonly #evict: (holder: H) => void
  readonly #all = emptyLine<H>()
  readonly #shares = new Map<H, PlaceShare>()
  #newest: H | undefined

  constructor(total: number, evict: (holder: H) => void) {
    this.#total = total
    this.#evict = evict
  }

  get size(): number {
    return this.#all.held
  }

  [Symbol.iterator](): Iterator<H> {
    return this.#shares.keys()
  }

  has(holder: H): boolean {
    return this.#shares.has(holder)
  }

  enter(holder: H, share: PlaceShare): void {
    this.leave(holder)
    this.#shares.set(holder, share)
    let line = this.#all
    line.held += 1
    for (const word of share) {
      const next = line.below.get(word) ?? emptyLine<H>()
      moveLast(line, word, next)
      next.held += 1
      line = next
    }
    line.holders.add(holder)
    this.#newest = holder
    if (this.#all.held <= this.#total) return
    const victim = oldestOfMost(this.#all)
    if (victim === undefined) return
    this.leave(victim)
    this.#evict(victim)
  }

  /** Marks a holder as used, with a share that may have changed. No-op for a holder without a place. */
  use(holder: H, share: PlaceShare): void {
    const before = this.#shares.get(holder)
    if (before === undefined) return
    if (before !== share) return this.enter(holder, share)
    if (holder === this.#newest) return
    // Each request comes here, so nothing is counted or rebuilt.
    let line = this.#all
    for (const word of share) {
      const next = line.below.get(word)
      if (next === undefined) return
      moveLast(line, word, next)
      line = next
    }
    line.holders.delete(holder)
    line.holders.add(holder)
    this.#newest = holder
  }

  leave(holder: H): void {
    const share = this.#shares.get(holder)
    if (share === undefined) return
    this.#shares.delete(holder)
    if (this.#newest === holder) this.#newest = undefined
    let line = this.#all
    line.held -= 1
    for (const word of share) {
      const next = line.below.get(word)
      if (next === undefined) return
      next.held -= 1
      if (next.held === 0) {
        if (line.newest === word) line.newest = undefined
        return void line.below.delete(word)
      }
      line = next
    }
    line.holders.delete(holder)
  }
}

/** The least recently used holder of the line with the most, at each level. */
const oldestOfMost = <H>(all: Line<H>): H | undefined => {
  let line = all
  for (;;) {
    const [oldest] = line.holders
    if (oldest !== undefined) return oldest
    let most: Line<H> | undefined
    for (const next of line.below.values()) if (most === undefined || next.held > most.held) most = next
    if (most === undefined) return undefined
    line = most
  }
}
