/** From 0 up to, but not including, 1. Its source is `secureRandom` (entropy.ts), or a test's. */
export type Random = () => number

/** A whole number from 0 up to, but not including, `count`. */
export const below = (random: Random, count: number): number => Math.floor(random() * count)

export const exponential = (random: Random, mean: number): number => -Math.log(1 - random()) * mean

export const shuffled = <A>(random: Random, list: ReadonlyArray<A>): Array<A> => {
  const copy = [...list]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = below(random, i + 1)
    const [a, b] = [copy[i], copy[j]]
    if (a === undefined || b === undefined) continue
    copy[i] = b
    copy[j] = a
  }
  return copy
}

export const bytesFrom = (random: Random, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, () => below(random, 256))
