import { boundHeap } from "../base/boundHeap.ts"
import { onStarted } from "../programs/svcd/startedSignal.ts"
import { type Kept, runCached } from "./cachedStart.ts"

/** Milliseconds from the start of the node until its first answers were given, and their code has run too. */
const ANSWERED = 2_000

/**
 * Runs svcd, with compiled code of an earlier start. The code is kept soon after the start: V8 drops the code of functions that do not
 * run any more, and a node ends after weeks. Kept code counts only under the same flags of V8, so the bounds come first.
 */
export const runSvcd = (kept: Kept): unknown => {
  boundHeap()
  return runCached(kept, (keep) => onStarted(() => void setTimeout(keep, ANSWERED).unref()))
}
