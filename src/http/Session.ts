import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { MemoryBudget } from "../base/MemoryBudget.ts"
import { CallerMemory } from "../rpc/CallerMemory.ts"
import { type ClientAddress, clientAddress } from "./clientAddress.ts"
import type { HttpConnection } from "./HttpConnections.ts"

/** Requests that may wait on one connection behind the one that is served. A chunk off the wire can hold hundreds. */
const MAX_WAITING = 1_000

/** Requests of one connection after which others have their turn. */
const MAX_IN_ROW = 32

/** Bytes that may be on their way to a client, uncounted, when its next request is taken. */
const MAX_UNSENT = 32_768

/** What a request that waits takes, in bytes: its head, and Node's objects for it and its answer. */
const WAITING_BYTES = 4_096

/**
 * One client connection. Its requests are served one after the other: what a client sends without waiting happens
 * in the order in which it was sent, and a client that does not read its answers gets no more of them.
 */
export class Session implements HttpConnection {
  readonly client: ClientAddress
  /** What is held for it, as far as that counts. */
  readonly memory: CallerMemory
  /** The `Authorization` header that the connection was admitted with. */
  credentials: string | undefined
  /** Whether a call of it is being carried out that takes longer than a turn. */
  working = false
  /** Whether it is in the fast lane, where Node's server does not know of it. */
  inLane = true
  /** The answer to the request of which the head was read last. */
  newest: ServerResponse | undefined
  /** The answer to the request that is served, or was served last. */
  #current: ServerResponse | undefined
  /** The one before it, which may still be on its way. */
  #previous: ServerResponse | undefined
  /** Whether something came that is no HTTP: nothing behind it is read. */
  isMisread = false
  readonly #socket: Socket
  readonly #stallTimeout: number
  readonly #waiting: Array<() => void> = []
  #busy = false
  /** How many were taken without a pause. */
  #inRow = 0
  #onGone: (() => void) | undefined

  /** `stallTimeout`: milliseconds without progress after which a client that does not read is let go. */
  constructor(socket: Socket, stallTimeout: number, budget: MemoryBudget) {
    this.client = clientAddress(socket.remoteAddress, socket.remotePort)
    this.memory = new CallerMemory(budget, `caller ${this.client.text}`, () => this.end())
    this.#socket = socket
    this.#stallTimeout = stallTimeout
    socket.once("close", () => {
      this.#waiting.length = 0
      this.memory.close()
      this.#onGone?.()
    })
  }

  get key(): string {
    return this.client.key
  }

  idle(): boolean {
    return !this.working
  }

  end(): void {
    this.#socket.destroy()
  }

  /** Ends it once what it was answered is written. */
  close(): void {
    this.#socket.destroySoon()
  }

  /** Whether the body of the request that is served is on its way. */
  get isReading(): boolean {
    return this.#busy && this.#current?.req.complete === false
  }

  /** Begins to serve a request, now or when it is its turn. Lets a client go that sends far too many. */
  enter(response: ServerResponse, begin: () => void): void {
    this.newest = response
    const serve = (): void => {
      this.#previous = this.#current
      this.#current = response
      begin()
    }
    if (!this.#busy) {
      this.#busy = true
      serve()
    } else if (this.#waiting.length < MAX_WAITING && this.memory.take("rpc_bodies", WAITING_BYTES)) {
      this.#waiting.push(() => {
        this.memory.give("rpc_bodies", WAITING_BYTES)
        serve()
      })
    } else this.#socket.destroy()
  }

  /** Whether a body is on its way, of the request that is served or of the newest. */
  get isCut(): boolean {
    return this.isReading || this.newest?.req.complete === false
  }

  /** Ends the connection behind the answers to the requests that came whole: one whose body broke off gets none. */
  conclude(end: () => void): void {
    if (this.isReading) return behind(this.#previous, end)
    // It waits for its turn in vain.
    if (this.isCut) this.#waiting.pop()
    const last = (): void => behind(this.#current, end)
    if (this.#busy) this.#waiting.push(last)
    else {
      this.#busy = true
      last()
    }
  }

  /**
   * Ends to serve a request whose response was ended; takes the next when the client has taken most of it. After the
   * `last` answer of a connection nothing is carried out that nobody would get an answer to.
   */
  leave(response: ServerResponse, last: boolean): void {
    this.#onGone = undefined
    if (last) this.#waiting.length = 0
    const unsent = this.#socket.writableLength
    if (unsent <= MAX_UNSENT) return this.#next()
    if (!this.memory.answers.take(unsent)) return void this.#socket.destroy()
    this.awaitReader(response)
    response.once("close", () => {
      this.memory.answers.give(unsent)
      this.#next()
    })
  }

  /** Ends the connection where its client does not read for a while. */
  awaitReader(response: ServerResponse): void {
    response.setTimeout(this.#stallTimeout, () => this.#socket.destroy())
  }

  /** What to do if the client goes away before `leave`. */
  whenGone(then: () => void): void {
    if (this.#socket.destroyed) then()
    else this.#onGone = then
  }

  #next(): void {
    const begin = this.#socket.destroyed ? undefined : this.#waiting.shift()
    if (begin === undefined) {
      this.#busy = false
      this.#inRow = 0
    } else if (++this.#inRow % MAX_IN_ROW === 0) setImmediate(begin)
    // Not here and now: answers that are ready at once would nest.
    else queueMicrotask(begin)
  }
}

/** Goes on when an answer was written: Node keeps each until the one before it was, and then may end the connection. */
const behind = (response: ServerResponse | undefined, then: () => void): void => {
  if (response === undefined || response.writableFinished) setImmediate(then)
  else response.once("finish", then)
}
