import { byEffectiveValue, type Candidate } from "./Candidate.ts"

/** A search without change. Smallest units and weight units. */
export interface ChangelessSearch {
  /** Only candidates with an effective value above zero are used. */
  readonly candidates: ReadonlyArray<Candidate>
  /** The minimum sum of effective values. */
  readonly target: number
  /** The allowed excess: the cost of a change output. */
  readonly tolerance: number
  readonly maxWeight: number
}

/** Maximum number of steps; then the best result so far counts. */
const MAX_STEPS = 100_000

/** Whether two candidates are interchangeable. */
const areTwins = (a: Candidate | undefined, b: Candidate | undefined): boolean =>
  a !== undefined && b !== undefined && a.effective === b.effective && a.waste === b.waste && a.weight === b.weight

/** For each index: the sum of the effective values from there on. */
const sumsOfRest = (coins: ReadonlyArray<Candidate>): ReadonlyArray<number> => {
  const rest = new Array<number>(coins.length + 1).fill(0)
  for (let i = coins.length - 1; i >= 0; i--) rest[i] = (rest[i + 1] ?? 0) + (coins[i]?.effective ?? 0)
  return rest
}

/**
 * Finds inputs that pay a target closely enough to need no change, with the least waste: the fees above the long-term
 * fees, and the excess. `undefined` if there are none, or the search finds none within its maximum number of steps.
 *
 * A depth-first search over the coins, the largest first: each coin is included, then excluded. It backtracks if the
 * remaining coins cannot reach the target, if the sum or the weight is too large, and if the waste can only grow and
 * exceeds the best one. A coin that is interchangeable with a coin just excluded is also excluded, because that branch
 * was searched. (M. Erhardt, "An Evaluation of Coin Selection Strategies", 2016.)
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
