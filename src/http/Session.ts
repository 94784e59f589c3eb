import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { monotonic } from "../base/clock.ts"
import type { PlaceShare } from "../base/FairPlaces.ts"
import type { MemoryBudget } from "../base/MemoryBudget.ts"
import { nextTurn } from "../base/turns.ts"
import { CallerMemory } from "../rpc/CallerMemory.ts"
import type { Demand } from "../rpc/method/methodTable.ts"
import type { AdmittedUser } from "../rpc/method/permission.ts"
import { type ClientAddress, clientAddress } from "./clientAddress.ts"
import type { GateSession } from "./gate.ts"
import type { HttpConnection } from "./HttpConnections.ts"
import { notPermitted, type Permitted } from "./permissions.ts"
import type { RateLimiter } from "./RateLimiter.ts"

/** Requests waiting on one connection. One chunk can hold hundreds. */
const MAX_WAITING = 1_000

/** Requests of one connection in a row, before others have their turn. */
const MAX_IN_ROW = 32

/** Uncounted unsent bytes to a client at which its next request waits. */
const MAX_UNSENT = 32_768

/** The user before credentials are checked. Names of RPC users have no colon. */
const ANYONE = ":anyone"

/** The user of pages with their own sessions. */
export const VISITOR = ":visitor"

/** Bytes of a waiting request: its head, and Node's objects for it and its answer. */
const WAITING_BYTES = 4_096

/** Only operators may do this. */
const STOP: Demand = { method: "stop", rights: ["admin"] }

export interface SessionLimits {
  /** Milliseconds without progress after which a client that does not read is disconnected. */
  readonly stallTimeout: number
  readonly budget: MemoryBudget
  readonly rates: RateLimiter
  /** Whether callers at the address are answered. */
  readonly isAllowed: (address: string) => boolean
}

/** One client connection. Pipelined requests run in order, and a client that does not read gets no more answers. */
export class Session implements HttpConnection, GateSession {
  readonly client: ClientAddress
  /**
   * User and address that its places count for. Connections without a request have their own share, so that an address
   * that opens many of them keeps those with requests.
   */
  share: PlaceShare
  /** For its calls. Connections of one address take turns. */
  callShare: PlaceShare
  readonly isAllowed: boolean
  readonly memory: CallerMemory
  #credentials: string | undefined
  #user: AdmittedUser | undefined
  #heard = false
  /** Whether a call that takes longer than a turn is running. */
  working = false
  /** Whether it is unknown to Node's server. */
  inLane = true
  /** The response to the newest request with a parsed head. */
  newest: ServerResponse | undefined
  /** The response to the current or last request. */
  #current: ServerResponse | undefined
  /** The one before, which may still be in transit. */
  #previous: ServerResponse | undefined
  /** After something other than HTTP, nothing more is read. */
  isMisread = false
  readonly #socket: Socket
  readonly #stallTimeout: number
  readonly #rates: RateLimiter
  readonly #waiting: Array<() => void> = []
  #busy = false
  /** Requests served without a pause. */
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

  /** Since its credentials were admitted. */
  get user(): AdmittedUser | undefined {
    return this.#user
  }

  get permitted(): Permitted {
    return this.#user?.permitted
  }

  hear(): void {
    if (this.#heard) return
    this.#heard = true
    this.#become(ANYONE)
  }

  #become(user: string): void {
    this.share = [user, this.client.key, "heard"]
    this.callShare = [...this.share, this.client.text]
  }

  /** Remembers the user for this and later requests. */
  admit(authorization: string, admitted: AdmittedUser): void {
    this.#credentials = authorization
    this.#user = admitted
    this.#heard = true
    this.#become(admitted.user)
  }

  /** Whether its user may do everything, or at least stop the node. */
  get isOperator(): boolean {
    return this.#credentials !== undefined && notPermitted(this.permitted, [STOP]) === undefined
  }

  get delay(): number | undefined {
    return this.#rates.wait(this.client, monotonic())
  }

  /** Counts a request with so many calls. Beyond the rate limit, counts nothing and returns the seconds to wait. */
  count(calls: number): number | undefined {
    return this.#rates.take(this.client, { count: calls, now: monotonic() })
  }

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

  /** Whether the current request's body is incomplete. */
  get isReading(): boolean {
    return this.#busy && this.#current?.req.complete === false
  }

  /** Serves a request, now or in turn. Disconnects a client that sends far too many. */
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

  /** Whether the body of the current or newest request is incomplete. */
  get isCut(): boolean {
    return this.isReading || this.newest?.req.complete === false
  }

  /** Calls `end` after the answers to all complete requests. A request with a broken-off body gets none. */
  conclude(end: () => void): void {
    if (this.isReading) return behind(this.#previous, end)
    // Drops the request with the broken-off body.
    if (this.isCut) this.#waiting.pop()
    const last = (): void => behind(this.#current, end)
    if (this.#busy) this.#waiting.push(last)
    else {
      this.#busy = true
      last()
    }
  }

  /** Takes the next request once most of the answer is read; none after the `last` answer of a connection. */
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

  /** The client has read what was written, so the answer continues. */
  drained(): void {
    if (this.#current?.writableNeedDrain === true) this.#current.emit("drain")
  }

  /** Closes the connection if its client does not read for a while. */
  awaitReader(response: ServerResponse): void {
    response.setTimeout(this.#stallTimeout, () => this.#socket.destroy())
  }

  /** For a client that disconnects before `leave`. */
  whenGone(then: () => void): void {
    if (this.#socket.destroyed) then()
    else this.#onGone = then
  }

  #next(): void {
    const begin = this.#socket.destroyed ? undefined : this.#waiting.shift()
    if (begin === undefined) {
      this.#busy = false
      this.#inRow = 0
    } else if (++this.#inRow % MAX_IN_ROW === 0) nextTurn(begin)
    // Deferred, as immediate answers would nest.
    else queueMicrotask(begin)
  }
}

/** Node delays each response until the one before it is written. */
const behind = (response: ServerResponse | undefined, then: () => void): void => {
  if (response === undefined || response.writableFinished) nextTurn(then)
  else response.once("finish", then)
}
