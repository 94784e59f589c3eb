import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { PlaceShare } from "../base/FairPlaces.ts"
import type { MemoryBudget } from "../base/MemoryBudget.ts"
import { CallerMemory } from "../rpc/CallerMemory.ts"
import type { Demand } from "../rpc/method/methodTable.ts"
import { type ClientAddress, clientAddress } from "./clientAddress.ts"
import type { GateSession } from "./gate.ts"
import type { HttpConnection } from "./HttpConnections.ts"
import type { AdmittedUser } from "./Pages.ts"
import { notPermitted, type Permitted } from "./permissions.ts"
import type { RateLimiter } from "./RateLimiter.ts"

/** Requests that may wait on one connection behind the current one. One chunk can hold hundreds. */
const MAX_WAITING = 1_000

/** Requests of one connection in a row, before other connections have their turn. */
const MAX_IN_ROW = 32

/** Most uncounted unsent bytes to a client when its next request is taken. */
const MAX_UNSENT = 32_768

/** The user of a connection without checked credentials. A user of RPC has no colon in its name. */
const ANYONE = ":anyone"

/** The user of pages with sessions of their own. */
export const VISITOR = ":visitor"

/** Bytes that a waiting request takes: its head, and Node's objects for it and its answer. */
const WAITING_BYTES = 4_096

/** What an operator may do, and no other user. */
const STOP: Demand = { method: "stop", rights: ["admin"] }

export interface SessionLimits {
  /** Milliseconds without progress after which a client that does not read is disconnected. */
  readonly stallTimeout: number
  readonly budget: MemoryBudget
  readonly rates: RateLimiter
  /** Whether the listener answers callers at an address. */
  readonly isAllowed: (address: string) => boolean
}

/**
 * One client connection. It serves requests one after the other: pipelined requests are carried out in the order in
 * which they were sent, and a client that does not read its answers gets no more of them.
 */
export class Session implements HttpConnection, GateSession {
  readonly client: ClientAddress
  /**
   * The user and the address that its places count for. Connections without a request are a share of their own, so that
   * an address that opens many of them keeps those with requests.
   */
  share: PlaceShare
  /** The same for its calls, of which connections of one address take turns. */
  callShare: PlaceShare
  readonly isAllowed: boolean
  /** The counted memory held for it. */
  readonly memory: CallerMemory
  #credentials: string | undefined
  #permitted: Permitted
  #heard = false
  /** Whether a call of it is running that takes longer than a turn. */
  working = false
  /** Whether it is in the fast lane, unknown to Node's server. */
  inLane = true
  /** The response of the newest request with a parsed head. */
  newest: ServerResponse | undefined
  /** The response of the current or last request. */
  #current: ServerResponse | undefined
  /** The response before it, which may still be on its way. */
  #previous: ServerResponse | undefined
  /** Whether it sent something that is not HTTP: the rest is not read. */
  isMisread = false
  readonly #socket: Socket
  readonly #stallTimeout: number
  readonly #rates: RateLimiter
  readonly #waiting: Array<() => void> = []
  #busy = false
  /** Number of requests served without a pause. */
  #inRow = 0
  #onGone: (() => void) | undefined

  constructor(socket: Socket, { budget, isAllowed, rates, stallTimeout }: SessionLimits) {
    this.client = clientAddress(socket.remoteAddress, socket.remotePort)
    this.share = [ANYONE, this.client.key, "silent"]
    this.callShare = [...this.share, this.client.text]
    this.isAllowed = isAllowed(this.client.address)
    this.memory = new CallerMemory(budget, `caller ${this.client.text}`, () => this.end())
    this.#socket = socket
    this.#stallTimeout = stallTimeout
    this.#rates = rates
    socket.once("close", () => {
      this.#waiting.length = 0
      this.memory.close()
      this.#onGone?.()
    })
  }

  get key(): string {
    return this.client.key
  }

  get credentials(): string | undefined {
    return this.#credentials
  }

  get permitted(): Permitted {
    return this.#permitted
  }

  /** Records a request. */
  hear(): void {
    if (this.#heard) return
    this.#heard = true
    this.#become(ANYONE)
  }

  #become(user: string): void {
    this.share = [user, this.client.key, "heard"]
    this.callShare = [...this.share, this.client.text]
  }

  /** Remembers the user of checked credentials, for this request and the next ones. */
  admit(authorization: string, { permitted, user }: AdmittedUser): void {
    this.#credentials = authorization
    this.#permitted = permitted
    this.#heard = true
    this.#become(user)
  }

  /** Whether its user may do everything, or at least stop the node. */
  get isOperator(): boolean {
    return this.#credentials !== undefined && notPermitted(this.#permitted, [STOP]) === undefined
  }

  get delay(): number | undefined {
    return this.#rates.wait(this.client, performance.now())
  }

  /** Counts a request with so many calls. Returns the seconds to wait, and counts nothing, beyond the rate limit. */
  count(calls: number): number | undefined {
    return this.#rates.take(this.client, { count: calls, now: performance.now() })
  }

  /** Whether its client has not read all that was written. */
  get isUnread(): boolean {
    return this.#socket.writableLength > 0
  }

  end(): void {
    this.#socket.destroy()
  }

  /** Closes it once its answers are written. */
  close(): void {
    this.#socket.destroySoon()
  }

  /** Whether the body of the current request is incomplete. */
  get isReading(): boolean {
    return this.#busy && this.#current?.req.complete === false
  }

  /** Serves a request, now or in its turn. Disconnects a client that sends far too many. */
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

  /** Whether the body of the current or the newest request is incomplete. */
  get isCut(): boolean {
    return this.isReading || this.newest?.req.complete === false
  }

  /** Calls `end` after the answers to all complete requests. A request with a broken-off body gets no answer. */
  conclude(end: () => void): void {
    if (this.isReading) return behind(this.#previous, end)
    // The request with the broken-off body is dropped from the queue.
    if (this.isCut) this.#waiting.pop()
    const last = (): void => behind(this.#current, end)
    if (this.#busy) this.#waiting.push(last)
    else {
      this.#busy = true
      last()
    }
  }

  /**
   * Ends a request whose response was ended; takes the next one when the client has read most of the answer. After the
   * `last` answer of a connection no request is carried out: it could not be answered.
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

  /** Lets the current answer go on: the client has read what was written. */
  drained(): void {
    if (this.#current?.writableNeedDrain === true) this.#current.emit("drain")
  }

  /** Closes the connection if its client does not read for a while. */
  awaitReader(response: ServerResponse): void {
    response.setTimeout(this.#stallTimeout, () => this.#socket.destroy())
  }

  /** Sets what to do if the client disconnects before `leave`. */
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
    // Deferred: answers that are ready at once would nest.
    else queueMicrotask(begin)
  }
}

/** Continues after a response is written: Node delays each until the one before it is written. */
const behind = (response: ServerResponse | undefined, then: () => void): void => {
  if (response === undefined || response.writableFinished) setImmediate(then)
  else response.once("finish", then)
}
