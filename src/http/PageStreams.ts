import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { EvictingPlaces } from "../base/EvictingPlaces.ts"
import { afterDelay, cancelTimer } from "../base/turns.ts"
import type { Exchange } from "./Exchange.ts"
import type { PageStream } from "./Pages.ts"

export interface PageStreamsConfig {
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  /** Milliseconds after which a reader that reads nothing is disconnected. */
  readonly stallTimeout: number
  /** At a time. Another one ends a reader (`EvictingPlaces`), which can resume later. */
  readonly maxReaders: number
}

export interface StreamHead {
  readonly status: number
  readonly headers: ReadonlyArray<string>
  /** Whether the reader may still read: nothing is written after the end of their session. */
  readonly isCurrent?: (() => boolean) | undefined
}

interface Reader {
  readonly fiber: Fiber.RuntimeFiber<void>
  isEvicted: boolean
}

const interrupt = ({ fiber }: Reader): void => fiber.unsafeInterruptAsFork(fiber.id())

export class PageStreams {
  readonly #config: PageStreamsConfig
  readonly #open: EvictingPlaces<Reader>

  constructor(config: PageStreamsConfig) {
    this.#config = config
    this.#open = new EvictingPlaces(config.maxReaders, (reader) => {
      reader.isEvicted = true
      interrupt(reader)
    })
  }

  /** Writes until the document or the session ends, the caller is gone or stalls, or the node stops. Then disconnects. */
  begin(exchange: Exchange, { headers, isCurrent, status }: StreamHead, stream: PageStream): void {
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
        stream.write((text) =>
          Effect.suspend(() => isCurrent?.() === false ? Effect.interrupt : this.#write(exchange, text))
        ),
        (cause) =>
          Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError("a document ended unexpectedly", cause)
      )
    )
    const reader: Reader = { fiber, isEvicted: false }
    session.working = true
    session.whenGone(() => interrupt(reader))
    fiber.addObserver(() => {
      this.#open.leave(reader)
      session.working = false
      response.end()
      // A stalled reader would hold its connection and memory until the timeout.
      if (reader.isEvicted && session.isUnread) session.end()
      session.leave(response, true)
    })
    this.#open.enter(reader, session.share)
  }

  /** Waits until the caller has read most of the text. */
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
      const stalled = afterDelay(this.#config.stallTimeout, () => session.end())
      const settle = (): void => {
        cancelTimer(stalled)
        response.off("drain", go)
        response.off("close", gone)
        // A closed connection counts nothing any more.
        answers.give(unread)
      }
      const go = (): void => {
        settle()
        resume(Effect.void)
      }
      const gone = (): void => {
        settle()
        resume(Effect.interrupt)
      }
      response.once("drain", go)
      response.once("close", gone)
      return Effect.sync(settle)
    })
  }

  readonly end: Effect.Effect<void> = Effect.sync(() => {
    for (const reader of this.#open) interrupt(reader)
  })
}
