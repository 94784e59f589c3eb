import { parentPort } from "node:worker_threads"
import { CLOSE } from "../../base/endWorker.ts"
import { BEHIND_EVENT_LOOP, setThreadPriority } from "../../base/threadPriority.ts"
import { verifyChecks } from "./verifyChecks.ts"
import { type FromWorker, type ScriptFailure, type ToWorker, unpackParts } from "./verifyMessage.ts"

/** The main program of a verify worker, which checks each chunk that no other thread has claimed. */

setThreadPriority(BEHIND_EVENT_LOOP)

let claims: Int32Array = new Int32Array(0)
let failure: ScriptFailure | undefined

const onMessage = (message: ToWorker | typeof CLOSE): void => {
  if (message === CLOSE) return parentPort?.close()
  switch (message.type) {
    case "begin":
      claims = message.claims
      failure = undefined
      return
    case "chunk":
      if (Atomics.compareExchange(claims, message.index, 0, 1) !== 0) return
      for (const part of unpackParts(message.parts)) {
        // Only the failure in the earliest block counts.
        if (failure !== undefined && failure.block <= part.block) return
        failure = verifyChecks(part.checks, part) ?? failure
      }
      return
    case "end": {
      const answer: FromWorker = { failure }
      parentPort?.postMessage(answer)
    }
  }
}

parentPort?.on("message", onMessage)
