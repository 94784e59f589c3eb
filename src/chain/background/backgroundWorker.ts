import { parentPort } from "node:worker_threads"
import { LAST, setThreadPriority } from "../../base/threadPriority.ts"
import { answerer, type Ask } from "./backgroundMessage.ts"

/** The main program of the background validation thread. */

setThreadPriority(LAST)

const answer = answerer()

parentPort?.on("message", (ask: Ask) => parentPort?.postMessage(answer(ask)))
