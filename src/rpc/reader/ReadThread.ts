import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Worker } from "node:worker_threads"
import { monotonic } from "../../base/clock.ts"
import { endWorker } from "../../base/endWorker.ts"
import { Threads } from "../../base/threads.ts"
import { afterDelay, cancelTimer, type Timer } from "../../base/turns.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { RpcError } from "../method/RpcError.ts"
import {
  type FromReader,
  type Job,
  type JobResult,
  type JobResults,
  type ToReader,
  unpackScripts
} from "./readMessage.ts"

/** The caller does the job in its own thread. */
export class NotRead extends Data.TaggedError("NotRead")<{ readonly reason: string }> {}

export interface JobHelp {
  readonly owns?: ((script: Bytes) => boolean) | undefined
  /** Called with the last key that a search has read. Returns whether to continue. */
  readonly reached?: (key: Bytes) => boolean
}

export interface BegunJob<A> {
  readonly found: Effect.Effect<A, RpcError | NotRead>
}

/**
 * A thread for long answers. It reads names and coins from their files, gets the bytes of blocks, and encodes lists and
 * blocks as JSON. The first job starts it, and it ends when idle. Without a thread, jobs fail with `NotRead`.
 *
 *   method ── job ─▶ ReadThread ─▶ readWorker.ts ─▶ runJob.ts ── a connection for each job ─▶ names.db, chainstate.db
 *   method ◀── pieces ──┘
 */
export class ReadThread extends Context.Tag("svcd/ReadThread")<ReadThread, {
  /** Waits until the thread has fixed its state, that of the last commit. Closing the scope drops the job. */
  readonly begin: <J extends Job>(
    job: J,
    help?: JobHelp
  ) => Effect.Effect<BegunJob<JobResults[J["type"]]>, RpcError | NotRead, Scope.Scope>
  /** For jobs. */
  readonly namesFile: string
  /** Reads the state after the last commit, or a later one. */
  readonly read: <J extends Job>(
    job: J,
    help?: JobHelp
  ) => Effect.Effect<JobResults[J["type"]], RpcError | NotRead>
}>() {}

const program = new URL("./readWorker.js", import.meta.url)

const LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 }

/** Milliseconds without a job after which the thread ends, to free memory. */
const IDLE = 30_000

/** Milliseconds after the loss of a thread during which jobs are refused. */
const PAUSE = 10_000

/** More than the dispatcher's heavy calls, because not every call with a job counts as heavy. */
const MOST_JOBS = 32

export interface ReadThreadOptions {
  readonly namesFile: string
  /** Milliseconds, as `IDLE` and `PAUSE`. */
  readonly idle?: number
  readonly pause?: number
}

interface Waiting {
  readonly help: JobHelp
  readonly begun: Deferred.Deferred<void, NotRead | RpcError>
  readonly found: Deferred.Deferred<JobResult, NotRead | RpcError>
}

class Reader {
  readonly #launch: () => Worker
  readonly #idle: number
  readonly #pause: number
  readonly #jobs = new Map<number, Waiting>()
  #worker: Worker | undefined
  #next = 0
  #lostAt = -Infinity
  #idleTimer: Timer | undefined
  /** Resolves when the ended threads are gone. */
  #gone = Promise.resolve()
  #closed = false

  constructor(launch: () => Worker, { idle = IDLE, pause = PAUSE }: ReadThreadOptions) {
    this.#launch = launch
    this.#idle = idle
    this.#pause = pause
  }

  get refusal(): string | undefined {
    if (this.#jobs.size >= MOST_JOBS) return `${MOST_JOBS} other jobs are running`
    return monotonic() - this.#lostAt < this.#pause ? "the thread was lost a moment ago" : undefined
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Throws if the system refuses a thread, or memory for a copy of the job. */
  begin(job: Job, waiting: Waiting): number {
    const worker = this.#worker ??= this.#start()
    const id = this.#next++
    cancelTimer(this.#idleTimer)
    // Keeps the process alive until the answer.
    worker.ref()
    this.#jobs.set(id, waiting)
    try {
      this.#tell({ type: "read", id, job })
    } catch (cause) {
      this.#ended(id)
      throw cause
    }
    return id
  }

  drop(id: number): void {
    if (!this.#jobs.has(id)) return
    this.#tell({ type: "cancel", id })
    this.#ended(id)
  }

  /** Jobs fail like calls of a stopping node. Waits for a thread that is ending already. */
  close(): Promise<void> {
    this.#closed = true
    cancelTimer(this.#idleTimer)
    this.#failAll(RpcError.shuttingDown())
    return this.#end()
  }

  #tell(message: ToReader): void {
    this.#worker?.postMessage(message)
  }

  #start(): Worker {
    const worker = this.#launch()
    const lose = (reason: string): void => {
      // The node ended this thread itself.
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#lostAt = monotonic()
      this.#failAll(new NotRead({ reason }))
    }
    worker.on("message", (message: FromReader) => this.#take(message))
    worker.on("messageerror", (error) => lose(error.message))
    worker.on("error", (error) => lose(error.message))
    worker.on("exit", (code) => lose(`the thread ended with exit code ${code}`))
    return worker
  }

  #failAll(failure: NotRead | RpcError): void {
    for (const id of [...this.#jobs.keys()]) this.#fail(id, failure)
  }

  #fail(id: number, failure: NotRead | RpcError): void {
    const job = this.#jobs.get(id)
    if (job === undefined) return
    Deferred.unsafeDone(job.begun, Exit.fail(failure))
    Deferred.unsafeDone(job.found, Exit.fail(failure))
    this.#ended(id)
  }

  #ended(id: number): void {
    this.#jobs.delete(id)
    if (this.#jobs.size > 0) return
    this.#worker?.unref()
    cancelTimer(this.#idleTimer)
    this.#idleTimer = afterDelay(this.#idle, () => void this.#end()).unref()
  }

  #end(): Promise<void> {
    const [worker, before] = [this.#worker, this.#gone]
    this.#worker = undefined
    if (worker !== undefined) this.#gone = endWorker(worker).then(() => before)
    return this.#gone
  }

  #take(message: FromReader): void {
    const { id } = message
    const job = this.#jobs.get(id)
    // The job was dropped.
    if (job === undefined) return
    switch (message.type) {
      case "begun":
        return Deferred.unsafeDone(job.begun, Exit.void)
      case "owns": {
        const { owns = () => false } = job.help
        return this.#tell({ type: "owned", id, owned: unpackScripts(message.scripts).map(owns) })
      }
      case "reached":
        if (job.help.reached?.(message.key) === false) this.#tell({ type: "stop", id })
        return
      case "found":
        Deferred.unsafeDone(job.found, Exit.succeed(message.reading))
        return this.#ended(id)
      case "refused":
        return this.#fail(id, new RpcError(message.error))
      case "failed":
        return this.#fail(id, new NotRead({ reason: message.reason }))
    }
  }
}

/** Logs why the thread failed. The event loop then reads the file, finds any damage and repairs it. */
const noted = <A, R>(work: Effect.Effect<A, RpcError | NotRead, R>): Effect.Effect<A, RpcError | NotRead, R> =>
  Effect.tapErrorTag(work, "NotRead", ({ reason }) =>
    Effect.annotateLogs(
      Effect.logWarning("the read thread did not do a job: the event loop does it", { reason }),
      "subsystem",
      "rpc"
    ))

const service = (reader: Reader, { namesFile }: ReadThreadOptions): Context.Tag.Service<ReadThread> => {
  const begin = <J extends Job>(
    job: J,
    help: JobHelp = {}
  ): Effect.Effect<BegunJob<JobResults[J["type"]]>, NotRead | RpcError, Scope.Scope> =>
    Effect.gen(function*() {
      if (reader.isClosed) return yield* RpcError.shuttingDown()
      const { refusal } = reader
      if (refusal !== undefined) return yield* new NotRead({ reason: refusal })
      const begun = yield* Deferred.make<void, NotRead | RpcError>()
      const found = yield* Deferred.make<JobResult, NotRead | RpcError>()
      yield* Effect.acquireRelease(
        Effect.try({
          try: () => reader.begin(job, { help, begun, found }),
          catch: (cause) => new NotRead({ reason: String(cause) })
        }),
        (id) => Effect.sync(() => reader.drop(id))
      )
      yield* noted(Deferred.await(begun))
      // The thread answers a job with the result of its type.
      return { found: noted(Deferred.await(found) as Effect.Effect<JobResults[J["type"]], NotRead | RpcError>) }
    })
  return {
    namesFile,
    begin,
    read: (job, help) => Effect.scoped(Effect.flatMap(begin(job, help), ({ found }) => found))
  }
}

export const layerAbsent: Layer.Layer<ReadThread> = Layer.succeed(ReadThread, {
  namesFile: "",
  begin: () => new NotRead({ reason: "there is no read thread" }),
  read: () => new NotRead({ reason: "there is no read thread" })
})

export const layer = (options: ReadThreadOptions): Layer.Layer<ReadThread> =>
  Layer.unwrapEffect(Effect.map(Threads, (launchOf) => {
    const launch = launchOf({ program, limits: LIMITS })
    if (launch === undefined) return layerAbsent
    return Layer.scoped(
      ReadThread,
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => new Reader(launch, options)),
          (reader) => Effect.promise(() => reader.close())
        ),
        (reader) => service(reader, options)
      )
    )
  }))
