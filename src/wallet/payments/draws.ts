import { byEffectiveValue, type Candidate } from "./Candidate.ts"

/** Ways to find inputs where change is no matter. Each returns `undefined` where it comes to nothing. */

/** What is looked for. Smallest units and weight units. */
export interface Draw {
  readonly candidates: ReadonlyArray<Candidate>
  /** What effective values have to come to at least. */
  readonly target: number
  readonly maxWeight: number
}

/** A list in random order. `random` gives numbers from 0 to below 1. */
export const shuffled = <A>(items: ReadonlyArray<A>, random: () => number): Array<A> => {
  const result = [...items]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.min(i, Math.floor(random() * (i + 1)))
    const [a, b] = [result[i], result[j]]
    if (a === undefined || b === undefined) continue
    result[i] = b
    result[j] = a
  }
  return result
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
  takeUntil(shuffled(draw.candidates, random), draw)

/** Takes the coins that bring most: few inputs, and a solution wherever sums alone decide. */
export const largestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined =>
  takeUntil([...draw.candidates].sort(byEffectiveValue), draw)

/** Takes the coins that bring most for their weight, where the weight is what stands in the way. */
export const densestFirst = (draw: Draw): ReadonlyArray<Candidate> | undefined =>
  takeUntil(
    [...draw.candidates].sort((a, b) => b.effective / b.weight - a.effective / a.weight || byEffectiveValue(a, b)),
    draw
  )
