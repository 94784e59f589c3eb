import { byEffectiveValue, type Candidate } from "./Candidate.ts"

/** Smallest units and weight units. */
export interface ChangelessSearch {
  /** Only those with an effective value above zero are used. */
  readonly candidates: ReadonlyArray<Candidate>
  /** Minimum sum of effective values. */
  readonly target: number
  /** Allowed excess: the cost of a change output. */
  readonly tolerance: number
  readonly maxWeight: number
}

/** Then the best result so far counts. */
const MAX_STEPS = 100_000

const areTwins = (a: Candidate | undefined, b: Candidate | undefined): boolean =>
  a !== undefined && b !== undefined && a.effective === b.effective && a.waste === b.waste && a.weight === b.weight

/** The sum of effective values from each index on. */
const sumsOfRest = (coins: ReadonlyArray<Candidate>): ReadonlyArray<number> => {
  const rest = new Array<number>(coins.length + 1).fill(0)
  for (let i = coins.length - 1; i >= 0; i--) rest[i] = (rest[i + 1] ?? 0) + (coins[i]?.effective ?? 0)
  return rest
}

/**
 * Finds inputs that need no change, with the least waste: fees above the long-term fees, plus the excess. `undefined`
 * if none is found within `MAX_STEPS`. A depth-first search, largest coin first, that includes and then excludes each
 * coin. It backtracks if the rest cannot reach the target, the sum or weight is too large, or the waste must exceed the
 * best. Twins of an excluded coin are excluded as well. (M. Erhardt, "An Evaluation of Coin Selection Strategies",
 * 2016.)
 */
export const branchAndBound = (search: ChangelessSearch): ReadonlyArray<Candidate> | undefined => {
  const { maxWeight, target, tolerance } = search
  const coins = search.candidates.filter(({ effective }) => effective > 0).sort(byEffectiveValue)
  const rest = sumsOfRest(coins)
  const wasteGrows = coins.every(({ waste }) => waste >= 0)
  const taken: Array<number> = []
  let next = 0
  let sum = 0
  let waste = 0
  let weight = 0
  let best: ReadonlyArray<number> | undefined
  let leastWaste = Infinity

  for (let step = 0; step < MAX_STEPS; step++) {
    const reachable = sum + (rest[next] ?? 0) >= target
    const tooMuch = sum > target + tolerance || weight > maxWeight || (wasteGrows && waste > leastWaste)
    const coin = coins[next]
    if (reachable && !tooMuch && sum < target && coin !== undefined) {
      taken.push(next++)
      sum += coin.effective
      waste += coin.waste
      weight += coin.weight
      continue
    }
    if (!tooMuch && sum >= target && taken.length > 0 && waste + sum - target < leastWaste) {
      leastWaste = waste + sum - target
      best = [...taken]
    }
    const last = taken.pop()
    const left = last === undefined ? undefined : coins[last]
    if (last === undefined || left === undefined) break
    sum -= left.effective
    waste -= left.waste
    weight -= left.weight
    next = last + 1
    while (areTwins(coins[next], left)) next++
  }
  return best?.flatMap((i) => coins[i] ?? [])
}
