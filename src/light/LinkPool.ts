import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Worker } from "node:worker_threads"
import { endWorker } from "../base/endWorker.ts"
import { Threads } from "../base/threads.ts"
import { turnOfEventLoop } from "../base/turns.ts"
import { isSigned, type LinkCheck } from "../consensus/nameLink.ts"

/** Checks the signatures of the window in worker threads, to keep the answering thread free. One call at a time. */
export interface LinkPool {
  readonly verify: (checks: ReadonlyArray<LinkCheck>) => Effect.Effect<ReadonlyArray<boolean>>
  /** Ends the idle threads to free their memory. The next call starts them again. */
  readonly rest: Effect.Effect<void>
}

/** Checks per turn of the event loop without threads: about five milliseconds of work. */
const CHECKS_A_TURN = 64

/** Below this many checks, the message to a thread costs more than it saves. */
const WORTH_SHARING = 24

/** Checks are short-lived: with the usual young generation, a thread would take 30 MB more. */
const LIMITS = { maxYoungGenerationSizeMb: 6 }

const program = new URL("./linkWorker.js", import.meta.url)

const here = (checks: ReadonlyArray<LinkCheck>): Effect.Effect<ReadonlyArray<boolean>> =>
  Effect.gen(function*() {
    const verdicts: Array<boolean> = []
    for (const [i, check] of checks.entries()) {
      if (i % CHECKS_A_TURN === CHECKS_A_TURN - 1) yield* turnOfEventLoop
      verdicts.push(isSigned(check))
    }
    return verdicts
  })

/** Sends checks to a worker. Rejects if the worker ends before it answers. */
const ask = (worker: Worker, checks: ReadonlyArray<LinkCheck>): Promise<ReadonlyArray<boolean>> =>
  new Promise<ReadonlyArray<boolean>>((resolve, reject) => {
    const lost = (reason: unknown): void => reject(new Error(`a worker for signatures ended: ${String(reason)}`))
    const answered = (valid: Uint8Array): void => {
      worker.off("error", lost).off("exit", lost).off("messageerror", lost)
      resolve(Array.from(valid, (one) => one === 1))
    }
    worker.once("message", answered).once("error", lost).once("exit", lost).once("messageerror", lost)
    worker.postMessage(checks)
  })

const parts = <A>(list: ReadonlyArray<A>, count: number): ReadonlyArray<ReadonlyArray<A>> => {
  const size = Math.ceil(list.length / count)
  return Array.from({ length: count }, (_, i) => list.slice(i * size, (i + 1) * size))
}

/** Opens a pool of `threads` workers, started by the first call. With 0, or without `Threads`, this thread checks all. */
export const make = (threads: number): Effect.Effect<LinkPool, never, Scope.Scope> =>
  Effect.gen(function*() {
    const launch = (yield* Threads)({ program, limits: LIMITS })
    const count = launch === undefined ? 0 : threads
    let workers: ReadonlyArray<Worker> = []
    /** Starts missing workers. Throws if the system refuses one. */
    const start = (): void => {
      while (launch !== undefined && workers.length < count) {
        const worker = launch()
        // A thread that ends between two calls is not an error; the next call starts another.
        worker.on("error", () => {})
        worker.once("exit", () => {
          workers = workers.filter((other) => other !== worker)
        })
        // The pool alone does not keep the process alive.
        worker.unref()
        workers = [...workers, worker]
      }
    }
    const end = Effect.suspend(() => {
      const ending = workers
      workers = []
      return Effect.promise(() => Promise.all(ending.map(endWorker)))
    }).pipe(Effect.asVoid)
    /** Whether a thread was lost. Until the pool rests, the main thread then checks everything. */
    let isLost = false
    const rest = Effect.zipRight(
      end,
      Effect.sync(() => {
        isLost = false
      })
    )
    yield* Effect.addFinalizer(() => rest)

    const shared = (checks: ReadonlyArray<LinkCheck>): Effect.Effect<ReadonlyArray<boolean>> =>
      Effect.tryPromise(() => {
        start()
        const shares = parts(checks, workers.length)
        return Promise.all(workers.map((worker, i) => ask(worker, shares[i] ?? [])))
      }).pipe(
        Effect.map((verdicts) => verdicts.flat()),
        Effect.catchAll((lost) => {
          isLost = true
          const reason = String(lost.cause)
          return Effect.logWarning("no worker thread for signatures: the main thread checks them", { reason }).pipe(
            Effect.zipRight(end),
            Effect.zipRight(here(checks))
          )
        })
      )

    return {
      verify: (checks) =>
        Effect.suspend(() => count === 0 || isLost || checks.length < WORTH_SHARING ? here(checks) : shared(checks)),
      rest
    }
  })
