import { workerData } from "node:worker_threads"
import { type CopyOrder, runOrder } from "./CopyThread.ts"

/** The main program of a thread that copies one log, and ends. */

const order: CopyOrder = workerData
runOrder(order)
