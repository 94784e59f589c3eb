import * as Effect from "effect/Effect"

/** The caller that takes a place, from the outside in: user, address, connection. Callers with the same path wait in one line. */
export type PlaceShare = ReadonlyArray<string>

export interface PlaceLimits {
  /** Callers that have a place at one time. */
  readonly total: number
  /** Most places of callers with the same first word of the share. Below `total`, places are left for others. */
  readonly each: number
}

/** Callers with the same beginning of their shares. */
interface Line {
  /** Callers of this line and of those below it that have a place. */
  held: number
  /** Callers of this line and of those below it that wait. */
  waiting: number
  readonly below: Map<string, Line>
  readonly queue: Set<() => void>
}

const emptyLine = (): Line => ({ held: 0, waiting: 0, below: new Map(), queue: new Set() })

/**
 * A limited number of places that callers take in turn. A free place goes to the user that holds the fewest, and among
 * equals to the one whose turn is longest ago; within a user, the same rule chooses the address, and then the
 * connection. So a caller waits as many turns as there are other users, however many calls one of them makes.
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

  /**
   * Calls `begin` once there is a place, now or later. Returns the function that gives the place back; of a caller that
   * still waits, it leaves the line.
   */
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

  /** Runs an effect in a place. An interrupted one leaves its place or the line at once. */
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

  /** The lines of a share, from the outermost in. */
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

  /** Removes the lines of a share without a caller. */
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

  /** Takes the next caller out of its line; `undefined` if none may have a place. */
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

/** Chooses the line below that holds the fewest places, less than `most`, and puts it behind the others. */
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
