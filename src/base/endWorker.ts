import type { Worker } from "node:worker_threads"

/** The message after which the program of a thread closes its port, and so ends. */
export const CLOSE = "close"

/** Milliseconds after which a thread that does not end by itself is stopped. */
const PATIENCE = 10_000

/**
 * Ends a thread that calls native code. It ends itself, between two messages: an exception of native code in a thread that
 * is being stopped ends the whole process.
 */
export const endWorker = (worker: Worker): Promise<void> =>
  new Promise((resolve) => {
    // It has ended already.
    if (worker.threadId === -1) return resolve()
    const late = setTimeout(() => void worker.terminate(), PATIENCE)
    worker.once("exit", () => {
      clearTimeout(late)
      resolve()
    })
    worker.ref()
    worker.postMessage(CLOSE)
  })
