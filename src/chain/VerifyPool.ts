import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import type { ScriptCheck } from "../consensus/view.ts"
import { verifyChecks } from "./verifyChecks.ts"
import { type FromWorker, packChecks, type ScriptFailure, type ToWorker } from "./verifyMessage.ts"

/**
 * Checks scripts on all cores. A batch is opened with `begin`, filled with `add` while blocks are connected, and ends
 * with `finish`: from then on this thread checks too, from the far end of the batch, until nobody is left with work.
 * There is one batch at a time.
 */
export interface VerifyPool {
  readonly begin: () => VerifyBatch
  /** How many threads check beside this one. */
  readonly threads: number
}

export interface VerifyBatch {
  /** Adds the checks of a block, counted within the batch. Returns at once; workers begin at once. */
  readonly add: (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number) => void
  /** Waits for all checks and returns the failure in the earliest block. */
  readonly finish: Effect.Effect<ScriptFailure | undefined>
}

/** Inputs a chunk: some five milliseconds of work. */
const CHUNK_INPUTS = 48

/** Chunks a batch can hold; what comes beyond is checked by this thread. */
const MAX_CHUNKS = 4096

/** Below so many inputs in a batch a message to a worker costs more than it brings. */
const WORTH_SHARING = 24

/** Milliseconds that this thread checks before it lets others have a turn. */
const SLICE_MS = 40

interface Work {
  readonly block: number
  readonly flags: number
  readonly checks: ReadonlyArray<ScriptCheck>
}

const earlier = (a: ScriptFailure | undefined, b: ScriptFailure | undefined): ScriptFailure | undefined =>
  a === undefined || (b !== undefined && b.block < a.block) ? b : a

const inputsOf = (checks: ReadonlyArray<ScriptCheck>): number =>
  checks.reduce((sum, { coins }) => sum + coins.length, 0)

/** Lets sockets and timers have a turn: `Effect.yieldNow` would only let other fibers have one. */
export const turnOfEventLoop: Effect.Effect<void> = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

/** Cuts the checks of a block into chunks. */
const cut = function*(checks: ReadonlyArray<ScriptCheck>): Iterable<ReadonlyArray<ScriptCheck>> {
  let chunk: Array<ScriptCheck> = []
  let inputs = 0
  for (const check of checks) {
    chunk.push(check)
    inputs += check.coins.length
    if (inputs < CHUNK_INPUTS) continue
    yield chunk
    chunk = []
    inputs = 0
  }
  if (chunk.length > 0) yield chunk
}

class Batch implements VerifyBatch {
  private readonly workers: ReadonlyArray<Worker>
  private readonly claims = new Int32Array(new SharedArrayBuffer(4 * MAX_CHUNKS))
  private readonly shared: Array<Work> = []
  private readonly own: Array<Work> = []
  private waiting = 0
  private began = false
  private failure: ScriptFailure | undefined

  constructor(workers: ReadonlyArray<Worker>) {
    this.workers = workers
  }

  readonly add = (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number): void => {
    if (checks.length === 0) return
    this.own.push({ block, checks, flags })
    this.waiting += inputsOf(checks)
    if (this.workers.length > 0 && this.waiting >= WORTH_SHARING) this.share()
  }

  /** Hands what is waiting to the workers, in turns. */
  private share(): void {
    if (!this.began) {
      this.began = true
      for (const worker of this.workers) post(worker, { type: "begin", claims: this.claims })
    }
    for (const { block, checks, flags } of this.own.splice(0)) {
      for (const chunk of cut(checks)) {
        const index = this.shared.length
        const worker = this.workers[index % this.workers.length]
        if (index >= MAX_CHUNKS || worker === undefined) {
          this.own.push({ block, checks: chunk, flags })
          continue
        }
        const packed = packChecks(chunk)
        this.shared.push({ block, checks: chunk, flags })
        post(worker, { type: "chunk", index, flags, block, checks: packed }, packed.buffer)
      }
    }
    this.waiting = 0
  }

  private readonly check = ({ block, checks, flags }: Work): void => {
    if (this.failure !== undefined && this.failure.block <= block) return
    this.failure = earlier(this.failure, verifyChecks(checks, flags, block))
  }

  /** The next piece of work for this thread; the workers begin at the other end. */
  private take(): Work | undefined {
    const mine = this.own.shift()
    if (mine !== undefined) return mine
    for (let work = this.shared.pop(); work !== undefined; work = this.shared.pop()) {
      if (Atomics.compareExchange(this.claims, this.shared.length, 0, 1) === 0) return work
    }
    return undefined
  }

  private readonly slice = (): boolean => {
    for (const end = performance.now() + SLICE_MS; performance.now() < end;) {
      const work = this.take()
      if (work === undefined) return false
      this.check(work)
    }
    return true
  }

  readonly finish: Effect.Effect<ScriptFailure | undefined> = Effect.suspend(() => {
    const answers = this.began ? this.workers.map(answer) : []
    const help = Effect.repeat(Effect.zipLeft(Effect.sync(this.slice), turnOfEventLoop), { while: (more) => more })
    const wait = Effect.forEach(answers, (pending) => Effect.promise(() => pending))
    // A batch with little in it is done in one slice, without a turn of the event loop.
    return (this.slice() ? help : Effect.void).pipe(
      Effect.zipRight(wait),
      Effect.map((found) => found.reduce((first, { failure }) => earlier(first, failure), this.failure))
    )
  })
}

const post = (worker: Worker, message: ToWorker, transfer?: ArrayBufferLike): void =>
  worker.postMessage(message, transfer instanceof ArrayBuffer ? [transfer] : [])

const answer = (worker: Worker): Promise<FromWorker> => {
  const reply = new Promise<FromWorker>((resolve, reject) => {
    worker.once("message", resolve)
    worker.once("error", reject)
  })
  post(worker, { type: "end" })
  return reply
}

/** The worker's program: compiled beside this file. Where sources run as they are, there is none, and no worker. */
const program = new URL("./verifyWorker.js", import.meta.url)

/** Opens a pool of `threads` workers beside this thread; 0 checks everything here. */
export const make = (threads: number): Effect.Effect<VerifyPool, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const count = existsSync(fileURLToPath(program)) ? threads : 0
      return Array.from({ length: count }, () => {
        const worker = new Worker(program)
        worker.setMaxListeners(0)
        // A pool alone does not keep the process alive.
        worker.unref()
        return worker
      })
    }),
    (workers) => Effect.promise(() => Promise.all(workers.map((worker) => worker.terminate())))
  ).pipe(Effect.map((workers) => ({ begin: () => new Batch(workers), threads: workers.length })))
