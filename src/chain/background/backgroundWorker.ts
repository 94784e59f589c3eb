import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { answerer, type Ask } from "./backgroundMessage.ts"

/** The main program of the thread that validates the blocks below a snapshot. */

/** The niceness of the thread: all other work of the machine comes first. */
const LOWEST = 19

// On Linux 0 is the calling thread. Elsewhere it would be the whole process.
if (process.platform === "linux") {
  try {
    setPriority(0, LOWEST)
  } catch {
    // Not permitted here: the thread then has the priority of the others.
  }
}

const answer = answerer()

parentPort?.on("message", (ask: Ask) => parentPort?.postMessage(answer(ask)))
