import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { parentPort } from "node:worker_threads"
import { CLOSE } from "../../base/endWorker.ts"
import { type FromReader, packScripts, type ToReader } from "./readMessage.ts"
import { type Asker, runJob } from "./runJob.ts"

/** Jobs take turns of one page each. A block is one page. */

interface Running {
  fiber: Fiber.RuntimeFiber<void> | undefined
  owned: Deferred.Deferred<ReadonlyArray<boolean>> | undefined
  stopped: boolean
}

const running = new Map<number, Running>()

const tell = (message: FromReader, transfer: ReadonlyArray<ArrayBuffer> = []): void =>
  parentPort?.postMessage(message, [...transfer])

const askerOf = (id: number, job: Running): Asker => ({
  begun: Effect.sync(() => tell({ type: "begun", id })),
  owns: (scripts) =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<ReadonlyArray<boolean>>()
      job.owned = answer
      tell({ type: "owns", id, scripts: packScripts(scripts) })
      return yield* Deferred.await(answer)
    }),
  reached: (key) => tell({ type: "reached", id, key }),
  isStopped: () => job.stopped
})

const read = ({ id, job }: ToReader & { readonly type: "read" }): void => {
  const entry: Running = { fiber: undefined, owned: undefined, stopped: false }
  running.set(id, entry)
  const answered = Effect.map(Effect.exit(runJob(job, askerOf(id, entry))), (exit) => {
    running.delete(id)
    if (Exit.isSuccess(exit)) {
      const { value: reading } = exit
      return tell(
        { type: "found", id, reading },
        "pieces" in reading ? reading.pieces.map(({ buffer }) => buffer) : []
      )
    }
    const [failure] = Cause.failures(exit.cause)
    if (failure?._tag === "RpcError") {
      const { code, message, reason } = failure
      return tell({ type: "refused", id, error: { code, message, reason } })
    }
    tell({ type: "failed", id, reason: failure?.message ?? Cause.pretty(exit.cause) })
  })
  entry.fiber = Effect.runFork(answered)
}

/** Ends all jobs, so that their connections close, then the thread. */
const close = Effect.suspend(() =>
  Effect.forEach(running.values(), ({ fiber }) => fiber === undefined ? Effect.void : Fiber.interrupt(fiber), {
    discard: true
  })
).pipe(Effect.zipRight(Effect.sync(() => parentPort?.close())))

parentPort?.on("message", (message: ToReader | typeof CLOSE) => {
  if (message === CLOSE) return void Effect.runFork(close)
  const job = running.get(message.id)
  switch (message.type) {
    case "read":
      return read(message)
    case "owned":
      if (job?.owned !== undefined) Deferred.unsafeDone(job.owned, Exit.succeed(message.owned))
      return
    case "stop":
      if (job !== undefined) job.stopped = true
      return
    case "cancel":
      running.delete(message.id)
      if (job?.fiber !== undefined) Effect.runFork(Fiber.interrupt(job.fiber))
  }
})
