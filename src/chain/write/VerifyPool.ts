import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { Worker } from "node:worker_threads"
import { endWorker } from "../../base/endWorker.ts"
import { withoutSpan } from "../../base/spans.ts"
import { Threads } from "../../base/threads.ts"
import { slice, turnOfEventLoop } from "../../base/turns.ts"
import type { ScriptCheck } from "../../consensus/view.ts"
import type { Steps } from "../../protocol/steps.ts"
import { verifyChecks } from "./verifyChecks.ts"
import { type ChunkPart, type FromWorker, packParts, type ScriptFailure, type ToWorker } from "./verifyMessage.ts"

/**
 * Checks scripts on all cores. `begin` opens a batch, `add` fills it while blocks are connected, and `finish` ends it:
 * this thread then also takes chunks, from the end of the batch. One batch at a time.
 */
export interface VerifyPool {
  readonly begin: () => VerifyBatch
  readonly threads: number
}

export interface VerifyBatch {
  /** Adds the checks of a block, counted within the batch. Returns at once; the workers start at once. */
  readonly add: (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number) => void
  /** Waits for all checks and returns the failure in the earliest block. Dies if a worker ended before it answered. */
  readonly finish: Effect.Effect<ScriptFailure | undefined>
}

/** Inputs per chunk: about five milliseconds of work. */
const CHUNK_INPUTS = 48

/** Chunks per batch. This thread checks the rest. */
const MAX_CHUNKS = 4096

/** Below this many inputs, messages to workers cost more than they save. */
const WORTH_SHARING = 24

/** An idle thread ends after this time to free its memory, as at the tip the next work comes in minutes. */
const IDLE = "15 seconds"

/** Checks are short-lived: with the usual young generation, a thread would take 25 MB more. */
const LIMITS = { maxYoungGenerationSizeMb: 6 }

const earlier = (a: ScriptFailure | undefined, b: ScriptFailure | undefined): ScriptFailure | undefined =>
  a === undefined || (b !== undefined && b.block < a.block) ? b : a

const inputsOf = (checks: ReadonlyArray<ScriptCheck>): number =>
  checks.reduce((sum, { coins }) => sum + coins.length, 0)

type Chunk = ReadonlyArray<ChunkPart>

/** Cuts checks into chunks of some inputs, combining small blocks. The last chunk may be smaller. */
const cut = function*(work: Chunk): Iterable<{ readonly chunk: Chunk; readonly inputs: number }> {
  let chunk: Array<ChunkPart> = []
  let inputs = 0
  for (const { block, checks, flags } of work) {
    let some: Array<ScriptCheck> = []
    for (const check of checks) {
      some.push(check)
      inputs += check.coins.length
      if (inputs < CHUNK_INPUTS) continue
      chunk.push({ block, checks: some, flags })
      yield { chunk, inputs }
      chunk = []
      some = []
      inputs = 0
    }
    if (some.length > 0) chunk.push({ block, checks: some, flags })
  }
  if (chunk.length > 0) yield { chunk, inputs }
}

/**
 * A worker thread, started by its first message, so that a node that only answers requests starts faster. A thread that
 * ends while it starts would leak what it has open.
 */
class Hand {
  private worker: Worker | undefined
  private readonly launch: () => Worker
  private readonly lose: (lost: Error) => void
  private lost: Error | undefined
  private waiting: { readonly resolve: (reply: FromWorker) => void; readonly reject: (lost: Error) => void } | undefined
  /** The end of the thread that rested last. */
  private resting: Promise<void> = Promise.resolve()
  /** Whether it got a message since the last call of `rest`. */
  private used = false
  /** Whether it has a batch. Only its thread knows the results of its chunks. */
  private hasBatch = false

  /** `onLost` is called once with the reason if the worker ends by itself. */
  constructor(launch: () => Worker, onLost: (lost: Error) => void) {
    this.launch = launch
    this.lose = (lost) => {
      if (this.lost !== undefined) return
      this.lost = lost
      this.waiting?.reject(lost)
      onLost(lost)
    }
  }

  private start(): Worker {
    const worker = this.launch()
    /** A resting thread may end, as another takes its place. */
    const lose = (lost: Error): void => {
      if (this.worker === worker) this.lose(lost)
    }
    worker.on("message", (reply: FromWorker) => this.waiting?.resolve(reply))
    worker.on("messageerror", lose)
    worker.on("error", lose)
    worker.on("exit", (code) => lose(new Error(`a verify worker ended with exit code ${code}`)))
    // The pool alone does not keep the process alive.
    worker.unref()
    return worker
  }

  get alive(): boolean {
    return this.lost === undefined
  }

  /**
   * Copies the bytes of a message: once a buffer is detached, V8 checks for it at each access to a typed array of the
   * thread.
   */
  post(message: ToWorker): void {
    this.worker ??= this.start()
    this.used = true
    if (message.type === "begin") this.hasBatch = true
    this.worker.postMessage(message)
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
      this.hasBatch = false
      this.worker?.unref()
    })
  }

  /** Ends a thread that has had no batch since the last call. The next message starts another one. */
  async rest(): Promise<void> {
    const { used, worker } = this
    this.used = false
    if (worker === undefined || used || this.hasBatch) return
    this.worker = undefined
    await (this.resting = endWorker(worker))
  }

  async end(): Promise<void> {
    this.lost ??= new Error("the verify pool is closed")
    this.waiting?.reject(this.lost)
    if (this.worker !== undefined) await endWorker(this.worker)
    await this.resting
  }
}

class Batch implements VerifyBatch {
  private readonly hands: ReadonlyArray<Hand>
  private workers: ReadonlyArray<Hand> = []
  private readonly claims = new Int32Array(new SharedArrayBuffer(4 * MAX_CHUNKS))
  private readonly shared: Array<Chunk> = []
  private readonly own: Array<ChunkPart> = []
  private waiting = 0
  private began = false
  private failure: ScriptFailure | undefined

  constructor(hands: ReadonlyArray<Hand>) {
    this.hands = hands
  }

  readonly add = (block: number, checks: ReadonlyArray<ScriptCheck>, flags: number): void => {
    if (checks.length === 0) return
    const work = { block, checks, flags }
    if (this.hands.length === 0) {
      for (const { chunk } of cut([work])) this.own.push(...chunk)
      return
    }
    this.own.push(work)
    this.waiting += inputsOf(checks)
    if (this.waiting >= (this.began ? CHUNK_INPUTS : WORTH_SHARING)) this.share()
  }

  private share(): void {
    const first = !this.began
    if (first) {
      this.began = true
      this.workers = this.hands.filter(({ alive }) => alive)
      for (const worker of this.workers) worker.post({ type: "begin", claims: this.claims })
    }
    this.waiting = 0
    for (const { chunk, inputs } of cut(this.own.splice(0))) {
      const index = this.shared.length
      const worker = this.workers[index % this.workers.length]
      const isFull = inputs >= CHUNK_INPUTS || first
      if (!isFull) this.waiting = inputs
      if (!isFull || index >= MAX_CHUNKS || worker === undefined) {
        this.own.push(...chunk)
        continue
      }
      this.shared.push(chunk)
      worker.post({ type: "chunk", index, parts: packParts(chunk) })
    }
  }

  /** The next work for this thread. The workers start at the other end. */
  private take(): Chunk | undefined {
    const mine = this.own.shift()
    if (mine !== undefined) return [mine]
    for (let work = this.shared.pop(); work !== undefined; work = this.shared.pop()) {
      if (Atomics.compareExchange(this.claims, this.shared.length, 0, 1) === 0) return work
    }
    return undefined
  }

  /** The work of this thread. One step per transaction, as a chunk may take several slices. */
  private *checks(): Steps<void> {
    for (let work = this.take(); work !== undefined; work = this.take()) {
      for (const { block, checks, flags } of work) {
        for (const check of checks) {
          if (this.failure !== undefined && this.failure.block <= block) break
          this.failure = earlier(this.failure, verifyChecks([check], { block, flags }))
          yield
        }
      }
    }
  }

  private readonly steps = this.checks()

  private readonly slice = (): boolean => slice(() => this.steps.next().done !== true)

  readonly finish: Effect.Effect<ScriptFailure | undefined> = Effect.suspend(() => {
    const more = Effect.repeat(Effect.zipLeft(Effect.sync(this.slice), turnOfEventLoop), { while: (left) => left })
    // A small batch is done in one slice, without yielding to the event loop.
    const help = Effect.flatMap(Effect.sync(this.slice), (left) => left ? more : Effect.void)
    if (this.workers.length === 0) return Effect.map(help, () => this.failure)
    // Waits for all workers in any case, so that no answer is left for the next batch.
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

const program = new URL("./verifyWorker.js", import.meta.url)

/** Opens a pool of `threads` workers, each started on demand. With 0, or without `Threads`, this thread checks everything. */
export const make = (threads: number): Effect.Effect<VerifyPool, never, Scope.Scope> =>
  Effect.gen(function*() {
    const log = Runtime.runFork(yield* Effect.runtime())
    const launch = (yield* Threads)({ program, limits: LIMITS })
    const hands = yield* Effect.acquireRelease(
      Effect.sync(() => {
        if (launch === undefined) return []
        return Array.from({ length: threads }, () =>
          new Hand(launch, (lost) =>
            void log(Effect.logError("script verification worker exited", { reason: lost.message }))))
      }),
      (hands) =>
        Effect.promise(() =>
          Promise.all(hands.map((hand) => hand.end()))
        )
    )
    if (hands.length > 0) {
      const rest = Effect.promise(() => Promise.all(hands.map((hand) => hand.rest())))
      yield* Effect.forkScoped(withoutSpan(Effect.forever(Effect.delay(rest, IDLE))))
    }
    return {
      begin: () => new Batch(hands),
      get threads() {
        return hands.filter(({ alive }) => alive).length
      }
    }
  })
