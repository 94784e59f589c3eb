import { getPriority, setPriority } from "node:os"

/** The niceness of threads whose work all other work of the machine comes before. */
export const LAST = 19

/** The niceness of threads that work for the event loop: it comes before them, and they before `LAST`. */
export const BEHIND_EVENT_LOOP = 10

/** Gives this thread at least a niceness, where the system has one for each thread and permits it. */
export const setThreadPriority = (niceness: number): void => {
  // On Linux 0 is the calling thread. Elsewhere it would be the whole process.
  if (process.platform !== "linux") return
  try {
    if (getPriority(0) < niceness) setPriority(0, niceness)
  } catch {
    // Not permitted here: the thread has the priority of the others.
  }
}
