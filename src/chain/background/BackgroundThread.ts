import * as Effect from "effect/Effect"
import type { Worker } from "node:worker_threads"
import type { LaunchOf } from "../../base/threads.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { type Answer, answerer, type Ask, failureOf } from "./backgroundMessage.ts"

const program = new URL("./backgroundWorker.js", import.meta.url)

type AnswerTo<Type extends Ask["type"]> = Extract<Answer, { readonly type: Type }>

const answers = <Type extends Ask["type"]>(answer: Answer, type: Type): answer is AnswerTo<Type> => answer.type === type

interface Waiting {
  readonly resolve: (answer: Answer) => void
  readonly reject: (lost: Error) => void
}

/**
 * The thread with the background chain state, which keeps rules, scripts and commits off the event loop. Without it,
 * the calling thread does the work.
 */
export class BackgroundThread {
  readonly #file: string
  readonly #own = answerer()
  readonly #launch: (() => Worker) | undefined
  #worker: Worker | undefined
  #waiting: Waiting | undefined
  #lost: Error | undefined

  /** `file` is the database, for errors. */
  constructor(file: string, launchOf: LaunchOf) {
    this.#file = file
    this.#launch = launchOf({ program })
  }

  /** Sends a message and waits for its answer. One at a time. Fails if the thread ends before it answers. */
  ask<Type extends Ask["type"]>(ask: Ask & { readonly type: Type }): Effect.Effect<AnswerTo<Type>, StorageFailure> {
    return Effect.tryPromise({
      try: () => this.#send(ask),
      catch: (cause) => new StorageUnavailable({ file: this.#file, doing: "validating in", reason: String(cause) })
    }).pipe(
      Effect.flatMap((answer) => {
        if (answer.type === "failed") return Effect.fail(failureOf(answer.failure))
        return answers(answer, ask.type)
          ? Effect.succeed(answer)
          : Effect.dieMessage(`the thread answered ${ask.type} with ${answer.type}`)
      })
    )
  }

  #send(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#launch === undefined) return resolve(this.#own(ask))
      if (this.#lost !== undefined) return reject(this.#lost)
      const worker = this.#worker ??= this.#start(this.#launch)
      this.#waiting = { resolve, reject }
      // Keeps the process alive until the answer.
      worker.ref()
      worker.postMessage(ask)
    })
  }

  #start(launch: () => Worker): Worker {
    const worker = launch()
    const lose = (lost: Error): void => {
      this.#lost ??= lost
      this.#waiting?.reject(lost)
      this.#waiting = undefined
      void worker.terminate()
    }
    worker.on("message", (answer: Answer) => {
      this.#waiting?.resolve(answer)
      this.#waiting = undefined
      worker.unref()
    })
    worker.on("messageerror", lose)
    worker.on("error", lose)
    worker.on("exit", (code) => lose(new Error(`the thread ended with exit code ${code}`)))
    worker.unref()
    return worker
  }

  /** Closes the database and ends the thread. No answer may be pending. */
  readonly end: Effect.Effect<void> = Effect.suspend(() =>
    this.#lost === undefined ? Effect.ignore(this.ask({ type: "close" })) : Effect.void
  ).pipe(
    Effect.zipRight(Effect.promise(async () => {
      this.#lost ??= new Error("the thread is closed")
      await this.#worker?.terminate()
    }))
  )
}
