import type { Contender } from "./contender.ts"
import { FOREIGN_LIMIT, ForeignLoad, untilQuiet } from "./quiet.ts"

/** Measures a piece of work of a turn. */
export type Watch = <A>(piece: () => Promise<A>) => Promise<A>

export interface PairOptions {
  readonly first: Contender
  readonly second: Contender
  /** Pairs that are wanted. */
  readonly pairs: number
  /** Counts pairs although other programs ran meanwhile, and does not wait for them. */
  readonly busy: boolean
}

/** What is known of other programs of the machine. */
export interface Machine {
  /** Waits for a while until they do little. Returns whether they do. */
  readonly untilQuiet: () => Promise<boolean>
  /** Begins to count what they take; the result has the cores that they used on average. */
  readonly watch: () => { readonly cores: () => number }
}

const THIS_MACHINE: Machine = { untilQuiet, watch: () => new ForeignLoad() }

/** What was measured in turns. */
export interface Pairs<A> {
  readonly pairs: ReadonlyArray<readonly [first: A, second: A]>
  /** Pairs that do not count: other programs ran before them or meanwhile. */
  readonly leftOut: number
  /** Cores that other programs used on average in a piece of work of the pairs that count: the most. */
  readonly foreignCores: number
}

/**
 * Both do the same work in turns, so that a slow phase of the machine affects both; the one that begins changes. A pair counts if the
 * machine did little else in each piece of its work. Another one takes its place otherwise, up to twice as many as are wanted; fails
 * if fewer than half of them count then.
 */
export const inTurns = async <A>(
  { busy, first, pairs: wanted, second }: PairOptions,
  turn: (which: Contender, watch: Watch) => Promise<A>,
  machine = THIS_MACHINE
): Promise<Pairs<A>> => {
  const pairs: Array<readonly [A, A]> = []
  let foreignCores = 0
  let leftOut = 0
  /** Undefined where the machine did not become quiet. */
  const quietly = async (which: Contender): Promise<{ readonly figures: A; readonly foreign: number } | undefined> => {
    if (!busy && !await machine.untilQuiet()) return undefined
    let foreign = 0
    const figures = await turn(which, async (piece) => {
      const others = machine.watch()
      const result = await piece()
      foreign = Math.max(foreign, others.cores())
      return result
    })
    return { figures, foreign }
  }
  for (let n = 0; pairs.length < wanted && n < 2 * wanted; n++) {
    const [one, two] = n % 2 === 0 ? [first, second] : [second, first]
    const begun = await quietly(one)
    const ended = begun === undefined ? undefined : await quietly(two)
    if (begun === undefined || ended === undefined || !busy && Math.max(begun.foreign, ended.foreign) > FOREIGN_LIMIT) {
      leftOut++
      continue
    }
    foreignCores = Math.max(foreignCores, begun.foreign, ended.foreign)
    const [a, b] = n % 2 === 0 ? [begun.figures, ended.figures] : [ended.figures, begun.figures]
    pairs.push([a, b])
  }
  if (2 * pairs.length < wanted) {
    throw new Error(
      `${pairs.length} of ${
        pairs.length + leftOut
      } pairs ran without other programs' load, which is too few: let the machine rest, ` +
        "or give --busy to count all of them"
    )
  }
  return { pairs, leftOut, foreignCores }
}
