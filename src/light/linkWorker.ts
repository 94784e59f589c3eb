import { parentPort } from "node:worker_threads"
import { isSigned, type LinkCheck } from "./signatures.ts"

/** The main program of a worker thread: answers each list of checks with a byte for each, 1 for a valid signature. */

parentPort?.on("message", (checks: ReadonlyArray<LinkCheck>) => {
  parentPort?.postMessage(Uint8Array.from(checks, (check) => isSigned(check) ? 1 : 0))
})
