import type { Height } from "../../protocol/keys.ts"

/** The number of headers in a median (consensus). */
const SPAN = 11

/** Median of the times of the header at a height and up to ten before (consensus); 0 below genesis. */
export const medianTimeAt = (times: Uint32Array, height: Height): number => {
  const last = times.slice(Math.max(0, height - SPAN + 1), height + 1).sort()
  return last[last.length >> 1] ?? 0
}
