import type * as MetricKey from "effect/MetricKey"

/** Effect's histograms (3.22) keep the count of a bucket in 32 bits, which wraps to 0. */
const WRAP = 2 ** 32

interface Seen {
  /** The 32-bit count of each bucket at the last read. */
  readonly last: Array<number>
  /** The sum of its wraps. */
  readonly wrapped: Array<number>
}

/** By the registry's own key of the series, so that both are freed together. */
const seen = new WeakMap<MetricKey.MetricKey.Untyped, Seen>()

/**
 * The cumulative counts of a series' buckets without the 32-bit limit, which ten thousand calls per second reach in
 * five days, as a counter must not fall. Correct as long as reads are more frequent than wraps.
 */
export const unwrapped = (key: MetricKey.MetricKey.Untyped, cumulative: ReadonlyArray<number>): Array<number> => {
  const known: Seen = seen.get(key) ?? { last: [], wrapped: [] }
  seen.set(key, known)
  let below = 0
  let total = 0
  return cumulative.map((count, i) => {
    const own = count - below
    below = count
    if (own < (known.last[i] ?? 0)) known.wrapped[i] = (known.wrapped[i] ?? 0) + WRAP
    known.last[i] = own
    total += own + (known.wrapped[i] ?? 0)
    return total
  })
}
