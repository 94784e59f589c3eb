import { monotonic } from "../../base/clock.ts"
import { resourceUsage, type Usage } from "../../base/consumption.ts"

/** Milliseconds between measurements up to which the wall clock is accurate. */
const SHORT = 4

/**
 * Measures how long this thread works, in milliseconds from any start. On a busy machine the thread may wait for a
 * processor, which the peer did not cause. So the processor time counts if the thread was preempted, otherwise the
 * elapsed time, including disk reads and idle time: callers must not use spans in which the thread was idle.
 *
 * @param now monotonic milliseconds.
 */
export const threadTime = (now: () => number, usage: () => Usage): () => number => {
  const processor = ({ systemCPUTime, userCPUTime }: Usage): number => (userCPUTime + systemCPUTime) / 1000
  let last = now()
  let known = usage()
  /** Time counted since the last call of `usage`. */
  let counted = 0
  let total = 0
  return () => {
    const passed = now() - last
    last += passed
    let ran = passed
    if (passed > SHORT) {
      const used = usage()
      if (used.involuntaryContextSwitches > known.involuntaryContextSwitches) {
        ran = Math.min(passed, Math.max(0, processor(used) - processor(known) - counted))
      }
      known = used
      counted = 0
    } else counted += ran
    total += ran
    return total
  }
}

export const ownTime = (): () => number => threadTime(monotonic, resourceUsage)
