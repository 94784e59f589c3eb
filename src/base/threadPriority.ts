import { getPriority, setPriority } from "node:os"

/** For threads behind all other work of the machine. */
export const LAST = 19

/** For threads that work for the event loop, between it and `LAST`. */
export const BEHIND_EVENT_LOOP = 10

/** Raises this thread's niceness to at least this, if the system has one per thread and permits it. */
export const setThreadPriority = (niceness: number): void => {
  // On Linux 0 is the calling thread. Elsewhere it would be the whole process.
  if (process.platform !== "linux") return
  try {
    if (getPriority(0) < niceness) setPriority(0, niceness)
  } catch {
    // Without permission, the thread keeps its priority.
  }
}
