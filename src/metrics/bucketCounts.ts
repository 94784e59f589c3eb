import type * as MetricKey from "effect/MetricKey"

/** Effect's histograms (3.22) count in 32 bits, which wrap to 0. */
const WRAP = 2 ** 32

interface Seen {
  /** 32-bit counts at the last read. */
  readonly last: Array<number>
  /** Sum of the wraps. */
  readonly wrapped: Array<number>
}

/** The key is the registry's own, so that both are freed together. */
const seen = new WeakMap<MetricKey.MetricKey.Untyped, Seen>()

/** Counts without the 32-bit limit, reached in five days at ten thousand calls per second. Read before each wrap. */
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
