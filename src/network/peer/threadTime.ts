import process from "node:process"

/** What the system counts of this process. Times are microseconds. */
export interface Usage {
  readonly userCPUTime: number
  readonly systemCPUTime: number
  /** How often a thread had to make room for another program. */
  readonly involuntaryContextSwitches: number
}

/** Milliseconds between two looks up to which the clock is right about how long the thread ran. */
const SHORT = 4

/**
 * Measures how long this thread works, in milliseconds from any beginning, by two clocks: on a machine with other work the
 * thread may wait for a processor in the midst of a message, and that is nothing that the message's sender did. So where
 * the thread had to make room, the time of the processor counts; else the time that passed, reading from a disk included.
 * What the thread does not run between two looks must not be made anything of.
 *
 * @param now milliseconds of a clock that does not go back.
 */
export const threadTime = (now: () => number, usage: () => Usage): () => number => {
  const processor = ({ systemCPUTime, userCPUTime }: Usage): number => (userCPUTime + systemCPUTime) / 1000
  let last = now()
  let known = usage()
  /** What was counted since the system was asked last. */
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

/** The time of the thread that runs this. */
export const ownTime = (): () => number => threadTime(() => performance.now(), () => process.resourceUsage())
