import { secureRandom } from "../base/entropy.ts"
import { below } from "../base/random.ts"

/** Words of the seed phrase to ask for. Three cannot be guessed (`FEWEST_WORDS` of the wallet). */
export const ASKED_WORDS = 3

/** Distinct, ascending, from 1 on. */
export const drawnPlaces = (count: number): ReadonlyArray<number> => {
  const random = secureRandom()
  const places = new Set<number>()
  while (places.size < Math.min(ASKED_WORDS, count)) places.add(below(random, count) + 1)
  return [...places].toSorted((a, b) => a - b)
}
