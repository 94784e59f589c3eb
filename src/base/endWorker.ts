import type { Worker } from "node:worker_threads"
import { afterDelay, cancelTimer } from "./turns.ts"

export const CLOSE = "close"

/** Milliseconds. */
const PATIENCE = 10_000

/** Asks a thread with native code to end by itself: a native exception in a stopped thread ends the process. */
export const endWorker = (worker: Worker): Promise<void> =>
  new Promise((resolve) => {
    if (worker.threadId === -1) return resolve()
    const late = afterDelay(PATIENCE, () => void worker.terminate())
    worker.once("exit", () => {
      cancelTimer(late)
      resolve()
    })
    worker.ref()
    worker.postMessage(CLOSE)
  })
