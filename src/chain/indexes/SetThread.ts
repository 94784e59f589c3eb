import type { Worker } from "node:worker_threads"
import type { LaunchOf } from "../../base/threads.ts"
import { type SettledBlocks, settler, type ToSetThread } from "./setChanges.ts"

const program = new URL("./setWorker.js", import.meta.url)

interface Waiting {
  readonly resolve: (settled: SettledBlocks) => void
  readonly reject: (lost: Error) => void
}

/** A thread that applies batches to a set, in order, started by the first one. Without it, this thread does so at once. */
export class SetThread {
  #worker: Worker | undefined
  readonly #waiting: Array<Waiting> = []
  readonly #own = settler()
  readonly #launch: (() => Worker) | undefined

  constructor(launchOf: LaunchOf) {
    this.#launch = launchOf({ program })
  }

  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /** Rejects if the thread ends before it answers. */
  settle(batch: ToSetThread): Promise<SettledBlocks> {
    return new Promise((resolve, reject) => {
      if (this.#launch === undefined) return resolve(this.#own(batch))
      const worker = this.#worker ??= this.#start(this.#launch)
      this.#waiting.push({ resolve, reject })
      // Keeps the process alive until the answer.
      worker.ref()
      // A copy: see `Hand.post` of `VerifyPool`.
      worker.postMessage(batch)
    })
  }

  #start(launch: () => Worker): Worker {
    const worker = launch()
    const lose = (lost: Error): void => {
      // The end of an earlier thread may be reported after the next one started.
      if (this.#worker !== worker) return
      this.#worker = undefined
      void worker.terminate()
      for (const { reject } of this.#waiting.splice(0)) reject(lost)
    }
    worker.on("message", (settled: SettledBlocks) => {
      this.#waiting.shift()?.resolve(settled)
      if (this.#waiting.length === 0) worker.unref()
    })
    worker.on("messageerror", lose)
    worker.on("error", lose)
    worker.on("exit", (code) => lose(new Error(`the thread of the coin statistics ended with exit code ${code}`)))
    return worker
  }

  /** Ends the thread and rejects pending batches. A later batch, with its `start`, starts another. */
  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("the thread of the coin statistics is closed"))
    worker?.removeAllListeners("exit")
    await worker?.terminate()
  }
}
