import { randomInt } from "node:crypto"

/** Words of a recovery phrase that an owner is asked for: three cannot be guessed (`FEWEST_WORDS` of the wallet). */
export const ASKED_WORDS = 3

/** Places of words in a phrase of `count` words, from 1 on: different ones, in their order. */
export const drawnPlaces = (count: number): ReadonlyArray<number> => {
  const places = new Set<number>()
  while (places.size < Math.min(ASKED_WORDS, count)) places.add(randomInt(count) + 1)
  return [...places].toSorted((a, b) => a - b)
}
