import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import type { ScriptCheck } from "../../consensus/view.ts"
import { verifyChecks } from "./verifyChecks.ts"
import { type FromWorker, packChecks, type ScriptFailure, type ToWorker } from "./verifyMessage.ts"

/**
 * Checks scripts on all cores. `begin` opens a batch, `add` fills it while blocks are connected, `finish` ends it: then
 * this thread takes chunks too, from the end of the batch, until no work is left. There is one batch at a time.
 */
export interface VerifyPool {
  readonly begin: () => VerifyBatch
  /** The number of living worker threads. A worker that ended by itself does not count. */
  readonly threads: number
}

export interface VerifyBatch {
  /** Adds the checks of a block, which is counted within the batch. Returns at once; the workers start at once. */
  readonly add: (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number) => void
  /** Waits for all checks and returns the failure in the earliest block. Dies if a worker ended before it answered. */
  readonly finish: Effect.Effect<ScriptFailure | undefined>
}

/** Inputs per chunk: about five milliseconds of work. */
const CHUNK_INPUTS = 48

/** Chunks per batch. This thread checks the rest. */
const MAX_CHUNKS = 4096

/** The number of inputs in a batch below which messages to workers cost more than they save. */
const WORTH_SHARING = 24

/** Milliseconds of work on this thread between two turns of the event loop: about a chunk. */
const SLICE_MS = 5

interface Work {
  readonly block: number
  readonly flags: number
  readonly checks: ReadonlyArray<ScriptCheck>
}

const earlier = (a: ScriptFailure | undefined, b: ScriptFailure | undefined): ScriptFailure | undefined =>
  a === undefined || (b !== undefined && b.block < a.block) ? b : a

const inputsOf = (checks: ReadonlyArray<ScriptCheck>): number =>
  checks.reduce((sum, { coins }) => sum + coins.length, 0)

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

/**
 * A worker thread. Its first message starts it: a node that only answers requests needs no threads and starts faster. A
 * thread that ends while it starts would leak what it has open.
 */
class Hand {
  private worker: Worker | undefined
  private readonly lose: (lost: Error) => void
  private lost: Error | undefined
  private waiting: { readonly resolve: (reply: FromWorker) => void; readonly reject: (lost: Error) => void } | undefined

  /** `onLost` is called once with the reason why the worker ended, unless `end` ended it. */
  constructor(onLost: (lost: Error) => void) {
    this.lose = (lost) => {
      if (this.lost !== undefined) return
      this.lost = lost
      this.waiting?.reject(lost)
      onLost(lost)
    }
  }

  private start(): Worker {
    const worker = new Worker(program)
    worker.on("message", (reply: FromWorker) => this.waiting?.resolve(reply))
    worker.on("messageerror", this.lose)
    worker.on("error", this.lose)
    worker.on("exit", (code) => this.lose(new Error(`a verify worker ended with exit code ${code}`)))
    // The pool alone does not keep the process alive.
    worker.unref()
    return worker
  }

  get alive(): boolean {
    return this.lost === undefined
  }

  post(message: ToWorker, transfer?: ArrayBufferLike): void {
    this.worker ??= this.start()
    this.worker.postMessage(message, transfer instanceof ArrayBuffer ? [transfer] : [])
  }

  /** Ends the batch and returns the worker's result. Rejects if the worker has ended, or ends before it answers. */
  answer(): Promise<FromWorker> {
    return new Promise<FromWorker>((resolve, reject) => {
      if (this.lost !== undefined) return reject(this.lost)
      this.waiting = { resolve, reject }
      this.post({ type: "end" })
      // Keeps the process alive while a fiber waits for the answer.
      this.worker?.ref()
    }).finally(() => {
      this.waiting = undefined
      this.worker?.unref()
    })
  }

  async end(): Promise<void> {
    this.lost ??= new Error("the verify pool is closed")
    this.waiting?.reject(this.lost)
    await this.worker?.terminate()
  }
}

class Batch implements VerifyBatch {
  private readonly hands: ReadonlyArray<Hand>
  private workers: ReadonlyArray<Hand> = []
  private readonly claims = new Int32Array(new SharedArrayBuffer(4 * MAX_CHUNKS))
  private readonly shared: Array<Work> = []
  private readonly own: Array<Work> = []
  private waiting = 0
  private began = false
  private failure: ScriptFailure | undefined

  constructor(hands: ReadonlyArray<Hand>) {
    this.hands = hands
  }

  readonly add = (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number): void => {
    if (checks.length === 0) return
    if (this.hands.length === 0) { for (const chunk of cut(checks)) this.own.push({ block, checks: chunk, flags }) }
    else this.own.push({ block, checks, flags })
    this.waiting += inputsOf(checks)
    if (this.hands.length > 0 && this.waiting >= WORTH_SHARING) this.share()
  }

  private share(): void {
    if (!this.began) {
      this.began = true
      this.workers = this.hands.filter(({ alive }) => alive)
      for (const worker of this.workers) worker.post({ type: "begin", claims: this.claims })
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
        worker.post({ type: "chunk", index, flags, block, checks: packed }, packed.buffer)
      }
    }
    this.waiting = 0
  }

  private readonly check = ({ block, checks, flags }: Work): void => {
    if (this.failure !== undefined && this.failure.block <= block) return
    this.failure = earlier(this.failure, verifyChecks(checks, { block, flags }))
  }

  /** The next work for this thread. The workers start at the other end. */
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
    const more = Effect.repeat(Effect.zipLeft(Effect.sync(this.slice), turnOfEventLoop), { while: (left) => left })
    // A small batch is done in one slice, without a turn of the event loop.
    const help = Effect.flatMap(Effect.sync(this.slice), (left) => left ? more : Effect.void)
    if (this.workers.length === 0) return Effect.map(help, () => this.failure)
    // Waits for all workers in any case: no answer may be left for the next batch.
    const replies = Promise.allSettled(this.workers.map((worker) => worker.answer()))
    return help.pipe(
      Effect.ensuring(Effect.promise(() => replies)),
      Effect.zipRight(Effect.promise(() => replies)),
      Effect.flatMap((settled) => {
        let first = this.failure
        for (const reply of settled) {
          if (reply.status === "rejected") return Effect.die(reply.reason)
          first = earlier(first, reply.value.failure)
        }
        return Effect.succeed(first)
      })
    )
  })
}

/** The worker's program, compiled beside this file. If the sources run directly, there is none, and no worker. */
const program = new URL("./verifyWorker.js", import.meta.url)

/** Opens a pool of `threads` workers, each started on demand; with 0, this thread checks everything. */
export const make = (threads: number): Effect.Effect<VerifyPool, never, Scope.Scope> =>
  Effect.gen(function*() {
    const log = Runtime.runFork(yield* Effect.runtime())
    const hands = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const count = existsSync(fileURLToPath(program)) ? threads : 0
        return Array.from({ length: count }, () =>
          new Hand((lost) =>
            void log(Effect.logError("script verification worker exited", { reason: lost.message }))
          ))
      }),
      (hands) => Effect.promise(() => Promise.all(hands.map((hand) => hand.end())))
    )
    return {
      begin: () => new Batch(hands),
      get threads() {
        return hands.filter(({ alive }) => alive).length
      }
    }
  })
