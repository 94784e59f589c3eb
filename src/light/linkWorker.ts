import { parentPort } from "node:worker_threads"
import { CLOSE } from "../base/endWorker.ts"
import { isSigned, type LinkCheck } from "../consensus/nameLink.ts"

/** The main program of a worker thread. Answers each list of checks with a byte per check, 1 for a valid signature. */

parentPort?.on("message", (checks: ReadonlyArray<LinkCheck> | typeof CLOSE) => {
  if (checks === CLOSE) return parentPort?.close()
  parentPort?.postMessage(Uint8Array.from(checks, (check) => isSigned(check) ? 1 : 0))
})
