import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { Socket } from "node:net"
import type { Bytes } from "../../protocol/bytes.ts"
import type { DnsClient, DnsReply } from "../Responder.ts"
import { HEADER_BYTES } from "../wire/codes.ts"
import { framed, MessageFrames } from "../wire/MessageFrames.ts"
import type { ClientConnection, ClientConnections } from "./ClientConnections.ts"
import { dropped, type Serving } from "./serving.ts"

interface StreamParts {
  /** Already secured for TLS. */
  readonly socket: Socket
  readonly client: DnsClient
  readonly serving: Serving
  readonly open: ClientConnections
}

/**
 * One connection over TCP or TLS (RFC 7766): several questions at once, each answered when its answer is ready. It
 * reads on only while there is room for more work and the client takes its answers.
 */
export class StreamConnection implements ClientConnection {
  readonly #parts: StreamParts
  readonly #frames = new MessageFrames()
  readonly #fibers = new Set<Fiber.RuntimeFiber<void>>()
  /** Whoever waits until the client has taken what was written. */
  readonly #waiting = new Set<() => void>()
  #inFlight = 0
  #isFull = false
  #hasEnded = false
  #isPumping = false

  constructor(parts: StreamParts) {
    this.#parts = parts
    const { socket } = parts
    socket.on("data", (chunk: Buffer) => {
      this.#frames.push(chunk)
      this.#pump()
    })
    socket.on("drain", () => {
      this.#isFull = false
      this.#used()
      this.#wake()
      this.#pump()
    })
    // A client may close its side once it has asked.
    socket.on("end", () => {
      this.#hasEnded = true
      this.#endIfDone()
    })
    socket.on("error", () => {})
    socket.on("close", () => this.#gone())
  }

  readonly isWorking = (): boolean => this.#inFlight > 0 && !this.#isFull

  readonly destroy = (): void => void this.#parts.socket.destroy()

  #used(): void {
    this.#parts.open.use(this)
  }

  /** Takes messages while there is room. */
  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    const { limits } = this.#parts.serving
    const { socket } = this.#parts
    while (this.#inFlight < limits.inFlight && !this.#isFull && !socket.destroyed) {
      const message = this.#frames.next()
      if (message === undefined) break
      this.#take(message)
    }
    this.#isPumping = false
    if (this.#inFlight >= limits.inFlight || this.#isFull) socket.pause()
    else socket.resume()
    this.#endIfDone()
  }

  #take(query: Bytes): void {
    this.#used()
    const { client, serving } = this.#parts
    if (query.length < HEADER_BYTES) return this.#refuse("short")
    const hit = serving.atOnce(query, client)
    if (hit !== undefined) return this.#write(hit)
    this.#inFlight += 1
    const fiber = serving.answer(query, client, this.#reply)
    if (fiber === undefined) {
      this.#inFlight -= 1
      return this.destroy()
    }
    this.#fibers.add(fiber)
    fiber.addObserver(() => {
      this.#fibers.delete(fiber)
      this.#inFlight -= 1
      this.#used()
      this.#pump()
    })
  }

  readonly #reply = (reply: DnsReply): Effect.Effect<void> => {
    switch (reply._tag) {
      case "Message":
        return Effect.sync(() => this.#write(reply.bytes))
      case "Transfer":
        return Stream.runForEach(
          reply.messages,
          (message) => Effect.zipRight(Effect.sync(() => this.#write(message)), this.#taken)
        )
      case "Drop":
        return Effect.sync(() => this.#refuse("other"))
    }
  }

  #refuse(reason: "other" | "short"): void {
    dropped(reason)
    this.destroy()
  }

  #write(message: Bytes): void {
    if (this.#parts.socket.writable && !this.#parts.socket.write(framed(message))) this.#isFull = true
  }

  /** Until the client has taken what was written. */
  readonly #taken: Effect.Effect<void> = Effect.async((resume) => {
    if (!this.#isFull) return resume(Effect.void)
    const wake = (): void => resume(Effect.void)
    this.#waiting.add(wake)
    return Effect.sync(() => this.#waiting.delete(wake))
  })

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
    this.#waiting.clear()
  }

  #endIfDone(): void {
    if (this.#hasEnded && this.#inFlight === 0) this.#parts.socket.end()
  }

  #gone(): void {
    this.#parts.open.remove(this)
    for (const fiber of [...this.#fibers]) Effect.runFork(Fiber.interruptFork(fiber))
  }
}
