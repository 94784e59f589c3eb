import { boundHeap } from "../base/boundHeap.ts"
import { onStarted } from "../programs/svcd/startedSignal.ts"
import { type Kept, runCached } from "./cachedStart.ts"

/** Milliseconds until the node has given its first answers, so that their code has run. */
const ANSWERED = 2_000

/**
 * Runs svcd with compiled code of an earlier start. The code is kept soon after the start, because V8 drops unused
 * functions and a node runs for weeks. Kept code requires the same V8 flags, so the bounds come first.
 */
export const runSvcd = (kept: Kept): unknown => {
  boundHeap()
  return runCached(kept, (keep) => onStarted(() => void setTimeout(keep, ANSWERED).unref()))
}
