import { parentPort } from "node:worker_threads"
import { settler, type ToSetThread } from "./setChanges.ts"

/** The main program of the coin statistics thread, which answers batches in order. */

const settle = settler()

parentPort?.on("message", (batch: ToSetThread) => {
  const settled = settle(batch)
  parentPort?.postMessage(settled, [settled.digests.buffer, settled.numbers.buffer])
})
