import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { isMainThread, MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads"
import { type BeforeCopy, copyBeside, type CopyResult } from "./logCopy.ts"

/** What a thread gets. */
export interface CopyOrder {
  readonly before: BeforeCopy
  /** One number: how far the thread is, see `Stage`. */
  readonly stage: Int32Array
  /** Gets the result. */
  readonly port: MessagePort
}

/** How far a thread is. It never does an order that was withdrawn before it began. */
const Stage = { ordered: 0, begun: 1, ended: 2, withdrawn: 3 }

/** Does an order in this thread. */
export const runOrder = ({ before, port, stage }: CopyOrder): void => {
  if (Atomics.compareExchange(stage, 0, Stage.ordered, Stage.begun) === Stage.ordered) {
    try {
      port.postMessage(copyBeside(before))
    } finally {
      Atomics.store(stage, 0, Stage.ended)
      Atomics.notify(stage, 0)
    }
  }
  port.close()
}

/** Starts a thread for an order, and calls `ended` once the thread has ended. */
export type LaunchCopy = (order: CopyOrder, ended: () => void) => void

/** The thread's program, compiled beside this file. If the sources run directly, there is none. */
const program = new URL("./copyWorker.js", import.meta.url)

/** With a limit of their own, as the old generation of the caller may have a narrow one. */
const LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 }

/** Launches a thread with a program that calls `runOrder`. */
export const launchWith = (program: URL): LaunchCopy => (order, ended) => {
  const worker = new Worker(program, { workerData: order, transferList: [order.port], resourceLimits: LIMITS })
  // A copy alone does not keep the process alive: an end of the process does no harm to it.
  worker.unref()
  // An `exit` follows, and the order was not done.
  worker.on("error", () => {})
  worker.on("exit", ended)
}

/** `undefined` where there is no compiled program, and in a thread: only the event loop must not wait for the disk. */
export const launchCopy: LaunchCopy | undefined = isMainThread && existsSync(fileURLToPath(program))
  ? launchWith(program)
  : undefined

/** Milliseconds that the caller waits for a thread that has begun. */
const PATIENCE = 60_000

/** A copy in another thread. */
export class CopyThread {
  private readonly stage = new Int32Array(new SharedArrayBuffer(4))
  private readonly port: MessagePort

  /** Throws if the system refuses a thread. */
  constructor(before: BeforeCopy, { ended, launch }: { readonly launch: LaunchCopy; readonly ended: () => void }) {
    const { port1, port2 } = new MessageChannel()
    this.port = port1
    port1.unref()
    try {
      launch({ before, stage: this.stage, port: port2 }, () => {
        // A thread that was lost does not say that it ended.
        Atomics.compareExchange(this.stage, 0, Stage.begun, Stage.ended)
        ended()
      })
    } catch (cause) {
      port1.close()
      throw cause
    }
  }

  /**
   * Ends the copy and returns its result, `undefined` if the thread was lost in the middle. Blocks while it copies. A copy that
   * has not begun is withdrawn. Throws if the disk does not answer.
   */
  end(): CopyResult | undefined {
    if (Atomics.compareExchange(this.stage, 0, Stage.ordered, Stage.withdrawn) === Stage.ordered) {
      this.port.close()
      return { type: "failed" }
    }
    if (Atomics.wait(this.stage, 0, Stage.begun, PATIENCE) === "timed-out") {
      this.port.close()
      throw Object.assign(new Error("the copy of its write-ahead log does not end"), { code: "ETIMEDOUT" })
    }
    const received = receiveMessageOnPort(this.port)
    this.port.close()
    if (received === undefined) return undefined
    const result: CopyResult = received.message
    return result
  }
}
