import type { Worker } from "node:worker_threads"

export const CLOSE = "close"

/** Milliseconds. */
const PATIENCE = 10_000

/** Asks a thread with native code to end by itself: a native exception in a stopped thread ends the process. */
export const endWorker = (worker: Worker): Promise<void> =>
  new Promise((resolve) => {
    if (worker.threadId === -1) return resolve()
    const late = setTimeout(() => void worker.terminate(), PATIENCE)
    worker.once("exit", () => {
      clearTimeout(late)
      resolve()
    })
    worker.ref()
    worker.postMessage(CLOSE)
  })
