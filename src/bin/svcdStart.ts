import { boundHeap, withFlagsOfStart } from "../base/boundHeap.ts"
import { onStarted } from "../programs/svcd/startedSignal.ts"
import { type Kept, runCached } from "./cachedStart.ts"

/** Milliseconds after the start. The code for the node's first responses has run by then. */
const ANSWERED = 2_000

/**
 * Runs svcd with code compiled in an earlier start. The compiled code is stored soon after the start, because a node
 * runs for weeks and V8 drops unused functions. Stored code requires the same V8 flags, so the heap limits come first.
 */
export const runSvcd = (kept: Kept): unknown => {
  boundHeap()
  return runCached(kept, (keep) => onStarted(() => void setTimeout(() => withFlagsOfStart(keep), ANSWERED).unref()))
}
