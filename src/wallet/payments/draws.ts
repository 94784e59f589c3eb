import { shuffled } from "../../base/random.ts"
import { byEffectiveValue, type Candidate } from "./Candidate.ts"

/** Ways to find inputs where change is no matter. Each returns `undefined` where it comes to nothing. */

/** What is looked for. Smallest units and weight units. */
export interface Draw {
  readonly candidates: ReadonlyArray<Candidate>
  /** What effective values have to come to at least. */
  readonly target: number
  readonly maxWeight: number
}

/** Takes coins as they come until the target is paid. */
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

/** Draws coins at random: leaves change of all sizes, and tells nothing about what else there is. */
export const singleRandomDraw = (draw: Draw, random: () => number): ReadonlyArray<Candidate> | undefined =>
  takeUntil(shuffled(random, draw.candidates), draw)

/** Takes the coins that bring most: few inputs, and a solution wherever sums alone decide. */
export const largestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined =>
  takeUntil([...draw.candidates].sort(byEffectiveValue), draw)

/** Takes the coins that bring most for their weight, where the weight is what stands in the way. */
export const densestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined =>
  takeUntil(
    [...draw.candidates].sort((a, b) => b.effective / b.weight - a.effective / a.weight || byEffectiveValue(a, b)),
    draw
  )
