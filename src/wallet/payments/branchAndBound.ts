import { byEffectiveValue, type Candidate } from "./Candidate.ts"

/** What is looked for. Smallest units and weight units. */
export interface ChangelessSearch {
  /** Only those with an effective value above zero are looked at. */
  readonly candidates: ReadonlyArray<Candidate>
  /** What effective values have to come to at least. */
  readonly target: number
  /** By how much they may be above it: what change would cost. */
  readonly tolerance: number
  readonly maxWeight: number
}

/** Steps after which the best that was found counts. */
const MAX_STEPS = 100_000

/** Whether leaving out one and taking the other makes no difference. */
const areTwins = (a: Candidate | undefined, b: Candidate | undefined): boolean =>
  a !== undefined && b !== undefined && a.effective === b.effective && a.waste === b.waste && a.weight === b.weight

/** For each place: what everything from there on is worth. */
const sumsOfRest = (coins: ReadonlyArray<Candidate>): ReadonlyArray<number> => {
  const rest = new Array<number>(coins.length + 1).fill(0)
  for (let i = coins.length - 1; i >= 0; i--) rest[i] = (rest[i + 1] ?? 0) + (coins[i]?.effective ?? 0)
  return rest
}

/**
 * Finds the inputs that pay a target so closely that no change is needed, with the least waste: what they cost now more
 * than later, and what they bring too much. `undefined` where there are none, or none was found in the steps that the
 * search may take.
 *
 * A depth-first search over the coins, the greatest first: each is taken, then left out. It turns back where what is
 * left cannot reach the target, where it is overshot, where the weight is too much, and where the waste can only grow
 * and is more than the best's. A coin that is like one just left out is left out too: the branch was searched.
 * (M. Erhardt, "An Evaluation of Coin Selection Strategies", 2016.)
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
