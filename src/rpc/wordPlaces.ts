import { randomInt } from "node:crypto"

/** Words of the seed phrase to ask for. Three cannot be guessed (`FEWEST_WORDS` of the wallet). */
export const ASKED_WORDS = 3

/** Distinct, ascending, from 1 on. */
export const drawnPlaces = (count: number): ReadonlyArray<number> => {
  const places = new Set<number>()
  while (places.size < Math.min(ASKED_WORDS, count)) places.add(randomInt(count) + 1)
  return [...places].toSorted((a, b) => a - b)
}
