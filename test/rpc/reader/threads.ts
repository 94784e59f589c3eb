import { Effect, Logger } from "effect"
import { Worker } from "node:worker_threads"
import { inject } from "vitest"
import type { ScanJob } from "../../../src/rpc/reader/readMessage.ts"
import { bundledSource } from "../../support/bundle.ts"

export const PROGRAM = new URL("../../../src/rpc/reader/readWorker.ts", import.meta.url)

export const thread = (): Worker => new Worker(bundledSource(inject("sharedDirectory"), PROGRAM))

/** Runs a test, and returns what it logged: a job that the thread did not do is a warning. */
export const logged = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const log = Logger.make(({ message }) => void lines.push(String(message)))
    return Effect.as(Effect.provide(work, Logger.replace(Logger.defaultLogger, log)), lines)
  })

export const SCAN: ScanJob = {
  type: "scan",
  file: "names.db",
  list: { start: new Uint8Array(), count: 1, prefix: undefined, regexp: undefined, minConf: 1, maxConf: undefined },
  shown: {
    network: "regtest",
    nameEncoding: "ascii",
    valueEncoding: "ascii",
    withOwner: false,
    proof: undefined,
    room: 1_000
  }
}
