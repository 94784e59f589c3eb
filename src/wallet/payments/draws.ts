import { shuffled } from "../../base/random.ts"
import { byEffectiveValue, type Candidate } from "./Candidate.ts"

/** Coin selection for transactions with change. Each function returns `undefined` if it finds no solution. */

/** The parameters of a selection. Smallest units and weight units. */
export interface Draw {
  readonly candidates: ReadonlyArray<Candidate>
  /** The minimum sum of effective values. */
  readonly target: number
  readonly maxWeight: number
}

/** Takes coins in their order until the target is reached. */
const takeUntil = (coins: ReadonlyArray<Candidate>, { maxWeight, target }: Draw): Array<Candidate> | undefined => {
  const taken: Array<Candidate> = []
  let sum = 0
  let weight = 0
  for (const coin of coins) {
    if (coin.effective <= 0) continue
    taken.push(coin)
    sum += coin.effective
    weight += coin.weight
    if (weight > maxWeight) return undefined
    if (sum >= target) return taken
  }
  return undefined
}

/** Selects coins at random: change has all sizes, and the selection reveals nothing about other coins. */
export const singleRandomDraw = (draw: Draw, random: () => number): ReadonlyArray<Candidate> | undefined =>
  takeUntil(shuffled(random, draw.candidates), draw)

/** Selects the coins with the highest effective values: few inputs, and a solution whenever only the sum matters. */
export const largestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined =>
  takeUntil([...draw.candidates].sort(byEffectiveValue), draw)

/** Selects the coins with the highest effective value per weight, for when the weight is the limit. */
export const densestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined =>
  takeUntil(
    [...draw.candidates].sort((a, b) => b.effective / b.weight - a.effective / a.weight || byEffectiveValue(a, b)),
    draw
  )
