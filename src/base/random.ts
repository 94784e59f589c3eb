/** From 0 up to, but not including, 1. */
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

/** Words drawn from the system at once: single calls would be ten times slower. */
const POOL_WORDS = 512

/** Unpredictable for peers, which influence the content of the address book. */
export const secureRandom = (): Random => {
  const pool = new Uint32Array(POOL_WORDS)
  let at = POOL_WORDS
  return () => {
    if (at >= POOL_WORDS) {
      crypto.getRandomValues(pool)
      at = 0
    }
    const high = (pool[at++] ?? 0) >>> 5
    const low = (pool[at++] ?? 0) >>> 6
    return (high * 0x4000000 + low) / 0x20000000000000
  }
}

export const randomBytes = (random: Random, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, () => below(random, 256))
