import * as Effect from "effect/Effect"

/** From the widest to the narrowest: user, address, connection. Callers with the same share wait in one line. */
export type PlaceShare = ReadonlyArray<string>

export interface PlaceLimits {
  readonly total: number
  /** The maximum for one user. If it is below `total`, one user cannot take every place. */
  readonly each: number
}

interface Line {
  /** Places of callers in this line and in lines below. */
  held: number
  waiting: number
  readonly below: Map<string, Line>
  readonly queue: Set<() => void>
}

const emptyLine = (): Line => ({ held: 0, waiting: 0, below: new Map(), queue: new Set() })

/**
 * Limited places that callers take in turn. A free place goes to the user with the fewest, and among equals to the one
 * served longest ago; within a user, the same rule chooses the address, then the connection. So a caller waits for one
 * turn per other user, however many calls each user makes.
 */
export class FairPlaces {
  readonly #limits: PlaceLimits
  readonly #all = emptyLine()

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  get held(): number {
    return this.#all.held
  }

  get waiting(): number {
    return this.#all.waiting
  }

  /** Calls `begin` as soon as a place is free. Returns a function that gives the place back or stops waiting. */
  enter(share: PlaceShare, begin: () => void): () => void {
    const lines = this.#linesOf(share)
    const line = lines[lines.length - 1] ?? this.#all
    let state: "waits" | "has a place" | "left" = "waits"
    const take = (): void => {
      state = "has a place"
      for (const each of lines) {
        each.waiting -= 1
        each.held += 1
      }
      begin()
    }
    line.queue.add(take)
    for (const each of lines) each.waiting += 1
    this.#callNext()
    return () => {
      if (state === "left") return
      const had = state === "has a place"
      state = "left"
      line.queue.delete(take)
      for (const each of lines) {
        if (had) each.held -= 1
        else each.waiting -= 1
      }
      this.#forget(share)
      if (had) this.#callNext()
    }
  }

  /** An interrupted effect leaves its place or the line at once. */
  within(share: PlaceShare): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> {
    return (effect) =>
      Effect.suspend(() => {
        let leave = (): void => {}
        const placed = Effect.async<void>((resume) => {
          leave = this.enter(share, () => resume(Effect.void))
        })
        return Effect.ensuring(Effect.zipRight(placed, effect), Effect.sync(() => leave()))
      })
  }

  #linesOf(share: PlaceShare): ReadonlyArray<Line> {
    const lines = [this.#all]
    let line = this.#all
    for (const word of share) {
      const next = line.below.get(word) ?? emptyLine()
      line.below.set(word, next)
      lines.push(next)
      line = next
    }
    return lines
  }

  #forget(share: PlaceShare): void {
    let line = this.#all
    for (const word of share) {
      const next = line.below.get(word)
      if (next === undefined) return
      if (next.held + next.waiting === 0) return void line.below.delete(word)
      line = next
    }
  }

  #callNext(): void {
    while (this.#all.held < this.#limits.total) {
      const begin = this.#next()
      if (begin === undefined) return
      begin()
    }
  }

  /** Removes the next caller from its line; `undefined` if no waiting caller may have a place. */
  #next(): (() => void) | undefined {
    let line = this.#all
    let most = this.#limits.each
    for (;;) {
      const [first] = line.queue
      if (first !== undefined) {
        line.queue.delete(first)
        return first
      }
      const next = fewest(line, most)
      if (next === undefined) return undefined
      most = Number.POSITIVE_INFINITY
      line = next
    }
  }
}

const fewest = ({ below }: Line, most: number): Line | undefined => {
  let chosen: string | undefined
  let least = most
  for (const [word, { held, waiting }] of below) {
    if (waiting === 0 || held >= least) continue
    chosen = word
    least = held
  }
  const line = chosen === undefined ? undefined : below.get(chosen)
  if (chosen === undefined || line === undefined) return undefined
  below.delete(chosen)
  below.set(chosen, line)
  return line
}
