import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import type { Exchange } from "./Exchange.ts"
import type { PageStream } from "./Pages.ts"

/** Documents that are written for as long as their callers read them. */

export interface PageStreamsConfig {
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  /** Milliseconds after which a reader that reads nothing is disconnected. */
  readonly stallTimeout: number
  /** Readers at the same time. A further one ends another (`EvictingPlaces`), which can resume where it was. */
  readonly maxReaders: number
}

export interface StreamHead {
  readonly status: number
  readonly headers: ReadonlyArray<string>
}

export class PageStreams {
  readonly #config: PageStreamsConfig
  readonly #open: EvictingPlaces<Fiber.RuntimeFiber<void>>

  constructor(config: PageStreamsConfig) {
    this.#config = config
    this.#open = new EvictingPlaces(config.maxReaders, (fiber) => fiber.unsafeInterruptAsFork(fiber.id()))
  }

  /** Writes a document until it ends, the caller is gone or reads nothing, or the node stops. Closes the connection. */
  begin(exchange: Exchange, { headers, status }: StreamHead, stream: PageStream): void {
    const { request, response, session } = exchange
    if (response.destroyed) return session.leave(response, true)
    response.writeHead(status, [...headers, "Connection", "close"])
    if (request.method === "HEAD") {
      response.end()
      return session.leave(response, true)
    }
    response.flushHeaders()
    const fiber = this.#config.run(
      Effect.catchAllCause(
        stream.write((text) => this.#write(exchange, text)),
        (cause) => Effect.logError("a document ended unexpectedly", cause)
      )
    )
    session.working = true
    session.whenGone(() => fiber.unsafeInterruptAsFork(fiber.id()))
    fiber.addObserver(() => {
      this.#open.leave(fiber)
      session.working = false
      response.end()
      session.leave(response, true)
    })
    this.#open.enter(fiber, session.share)
  }

  /** Writes some text, and waits until the caller has read most of what it has not read. */
  #write({ response, session }: Exchange, text: string | Uint8Array): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (response.destroyed) return resume(Effect.interrupt)
      if (response.write(text)) return resume(Effect.void)
      const { answers } = session.memory
      const unread = response.writableLength
      if (!answers.take(unread)) {
        session.end()
        return resume(Effect.interrupt)
      }
      const stalled = setTimeout(() => session.end(), this.#config.stallTimeout)
      const go = (): void => {
        clearTimeout(stalled)
        response.off("drain", go)
        response.off("close", gone)
        answers.give(unread)
        resume(Effect.void)
      }
      const gone = (): void => {
        clearTimeout(stalled)
        response.off("drain", go)
        resume(Effect.interrupt)
      }
      response.once("drain", go)
      response.once("close", gone)
    })
  }

  /** Ends all documents, when the node stops. */
  readonly end: Effect.Effect<void> = Effect.sync(() => {
    for (const fiber of this.#open) fiber.unsafeInterruptAsFork(fiber.id())
  })
}
