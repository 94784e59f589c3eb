import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { MemoryBudget } from "../base/MemoryBudget.ts"
import type { Credentials } from "../config/settings.ts"
import type { BatchReply } from "../rpc/batch.ts"
import type { Call, Dispatch } from "../rpc/Dispatch.ts"
import { JSON_TYPE } from "../rpc/envelope.ts"
import type { LongText } from "../rpc/json/LongText.ts"
import type { Phase } from "../rpc/Lifecycle.ts"
import { settled } from "../rpc/settled.ts"
import { admission, type Authorization } from "./auth.ts"
import { type BrowserRule, isForeignCall, isForeignHost } from "./browser.ts"
import { type Exchange, send, sendJson, sendRefusal } from "./Exchange.ts"
import { FastLane } from "./FastLane.ts"
import { type Health, healthAnswer, type HealthPath } from "./health.ts"
import { HttpConnections } from "./HttpConnections.ts"
import { misread } from "./misread.ts"
import { OpenCalls } from "./OpenCalls.ts"
import { type PageAnswer, type PageHandler, type PageRequest, pageRequest, type Pages } from "./Pages.ts"
import { type Guesses, Penalties } from "./Penalties.ts"
import type { PlainHead } from "./plainRequest.ts"
import { RateLimiter } from "./RateLimiter.ts"
import {
  BAD_VERB,
  BUSY,
  FAILED,
  FOREIGN,
  FOREIGN_HOST,
  type HttpRefusal,
  NO_ROOM,
  NOT_FOUND,
  NOT_GET,
  NOT_IMPLEMENTED,
  NOT_POST,
  PLAIN_TEXT,
  STOPPING,
  TOO_LARGE,
  tooMany,
  UNAUTHORIZED
} from "./refusals.ts"
import { BodyReader } from "./requestBody.ts"
import { KNOWN_VERBS, route } from "./route.ts"
import { Session } from "./Session.ts"

export interface HttpServiceConfig {
  readonly dispatch: typeof Dispatch.Service
  readonly health: typeof Health.Service
  readonly pages: typeof Pages.Service
  readonly phase: () => Phase
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  readonly credentials: Credentials | undefined
  /** The name or address of the listener. */
  readonly ownName: string
  readonly connections: number
  readonly rateLimit: number
  readonly maxRequestSize: number
  /** The budget of memory that callers can make the node hold. */
  readonly budget: MemoryBudget
  readonly concurrentRequests: number
  /** Milliseconds between two requests, and without progress of an answer, after which a connection is closed. */
  readonly idleTimeout: number
  /** Milliseconds by which the answer to wrong credentials is delayed. */
  readonly penalty: number
  readonly fastLane: boolean
  readonly onRefused: ((status: number) => void) | undefined
}

const nothing = (): void => {}

/**
 * Serves HTTP requests: checks them in the order of the reference node (reference/rpc.md 1.1), reads their bodies, and
 * passes them to the dispatcher.
 */
export class HttpService {
  readonly #config: HttpServiceConfig
  readonly #admit: (header: string | undefined) => Authorization
  readonly #rates: RateLimiter
  readonly #bodies: BodyReader
  readonly #sessions = new WeakMap<object, Session>()
  readonly #connections: HttpConnections<Session>
  readonly #browsers: BrowserRule
  readonly #open: OpenCalls
  readonly #penalties: Penalties

  constructor(config: HttpServiceConfig) {
    this.#config = config
    this.#admit = admission(config.credentials)
    this.#rates = new RateLimiter(config.rateLimit)
    this.#bodies = new BodyReader(config.maxRequestSize)
    this.#open = new OpenCalls(config.run)
    this.#connections = new HttpConnections(config.connections)
    const log = (guesses: Guesses): void => void config.run(Effect.logWarning("RPC credentials refused", guesses))
    this.#penalties = new Penalties(config.connections, config.penalty, log)
    this.#browsers = { ownName: config.ownName, open: config.credentials === undefined }
  }

  attach(server: Server): void {
    const whole = server.listeners("connection")
    server.removeAllListeners("connection")
    const handOver = (socket: Socket): void => {
      const session = this.#sessions.get(socket)
      if (session !== undefined) session.inLane = false
      for (const listener of whole) listener.call(server, socket)
    }
    server.on("connection", (socket) => this.#meet(socket, handOver))
    server.on("request", (request, response) => this.#take(request, response, false))
    server.on("checkContinue", (request, response) => this.#take(request, response, true))
    const { onRefused } = this.#config
    server.on("clientError", (error, socket) => misread(error, socket, this.#sessions.get(socket), onRefused))
    // Without a listener Node closes the connection, and with it loses the answers to earlier requests.
    server.on("connect", (_, socket) => misread(undefined, socket, this.#sessions.get(socket), onRefused))
  }

  /** Accepts a new connection, first in the fast lane. */
  #meet(socket: Socket, handOver: (socket: Socket) => void): void {
    const { budget, fastLane, idleTimeout } = this.#config
    const session = new Session(socket, idleTimeout, budget)
    if (!this.#connections.add(session)) return void socket.destroy()
    socket.once("close", () => this.#connections.remove(session))
    this.#sessions.set(socket, session)
    if (!fastLane) return handOver(socket)
    const lane: FastLane = new FastLane(socket, {
      idleTimeout,
      handOver,
      memory: session.memory.answers,
      take: (head, body) => this.#takePlain(session, lane, head, body)
    })
  }

  /** Closes idle connections of the fast lane; Node's server closes its own. */
  closeIdle(): void {
    for (const session of this.#connections) if (session.inLane && !session.working) session.close()
  }

  closeAll(): void {
    for (const session of this.#connections) session.end()
  }

  /** Waits for the running calls, and interrupts them after a time. */
  drained(timeout: number): Effect.Effect<void> {
    return this.#open.drained(timeout)
  }

  #take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const session = this.#sessions.get(request.socket)
    if (session === undefined) return void request.socket.destroy()
    this.#connections.used(session)
    session.enter(response, () => this.#serve({ request, response, session, expectsContinue }))
  }

  /** Checks what needs no body. */
  #serve(exchange: Exchange): void {
    const { method: verb = "", headers, url = "" } = exchange.request
    if (this.#config.phase()._tag === "Stopping") return this.#refuse(exchange, STOPPING)
    if (this.#bodies.isTooLarge(headers["content-length"])) return this.#refuse(exchange, TOO_LARGE)
    if (verb === "OPTIONS" || verb === "PATCH") return this.#refuse(exchange, NOT_IMPLEMENTED)
    if (!KNOWN_VERBS.has(verb)) return this.#refuse(exchange, BAD_VERB)
    if (verb === "GET" || verb === "HEAD") {
      const asked = pageRequest(url, headers.accept)
      const page = this.#config.pages.handlers().find((each) => each.serves(asked))
      if (page !== undefined) return this.#show(exchange, page, asked)
    }
    const target = route(url)
    if (target === undefined) return this.#refuse(exchange, NOT_FOUND)
    if (target._tag === "Health") {
      return verb === "GET" || verb === "HEAD" ? this.#report(exchange, target.path) : this.#refuse(exchange, NOT_GET)
    }
    if (this.#open.size >= this.#config.concurrentRequests) return this.#refuse(exchange, BUSY)
    if (verb !== "POST") return this.#refuse(exchange, NOT_POST)
    if (isForeignHost(headers.host, this.#browsers)) return this.#refuse(exchange, FOREIGN_HOST)
    if (isForeignCall(headers)) return this.#refuse(exchange, FOREIGN)
    this.#authenticate(exchange, headers.authorization, () => this.#receive(exchange, target.wallet))
  }

  /** Continues a request with the right credentials. Credentials that admitted a connection are not checked again. */
  #authenticate(exchange: Exchange, header: string | undefined, admitted: () => void): void {
    const { session } = exchange
    if (header !== undefined && header === session.credentials) return admitted()
    const judge = (): void => {
      switch (this.#admit(header)) {
        case "missing":
          return this.#refuse(exchange, UNAUTHORIZED)
        case "wrong":
          return this.#penalties.serve(session, () => this.#refuse(exchange, UNAUTHORIZED))
        case "admitted":
          session.credentials = header
          this.#penalties.admitted(session.key)
          return admitted()
      }
    }
    if (header === undefined || this.#config.credentials === undefined) return judge()
    const takeBack = this.#penalties.await(session.key, judge)
    if (takeBack !== undefined) session.whenGone(takeBack)
  }

  #receive(exchange: Exchange, wallet: string | undefined): void {
    const { expectsContinue, request, response, session } = exchange
    const seconds = this.#rates.wait(session.client, performance.now())
    if (seconds !== undefined) return this.#refuse(exchange, tooMany(seconds))
    if (expectsContinue) response.writeContinue()
    this.#bodies.read(request, session.memory, (body) => {
      switch (body._tag) {
        case "TooLarge":
          return this.#refuse(exchange, TOO_LARGE)
        case "NoRoom":
          return this.#refuse(exchange, NO_ROOM)
        case "Complete":
          return this.#guarded(exchange, () => {
            const read = this.#config.dispatch.readLong(body.bytes)
            this.#runToEnd(exchange, read, true, (call) => this.#call(exchange, wallet, call), body.release)
          })
      }
    })
  }

  /** Answers an unexpected exception, such as a reply that is too long for a string. */
  #guarded(exchange: Exchange, work: () => void): void {
    try {
      work()
    } catch (defect) {
      this.#fail(exchange, Cause.die(defect))
    }
  }

  #fail(exchange: Exchange, cause: Cause.Cause<never>): void {
    this.#config.run(Effect.logError("RPC request failed unexpectedly", cause))
    this.#refuse(exchange, FAILED)
  }

  #call(exchange: Exchange, wallet: string | undefined, call: Call): void {
    const { client, memory } = exchange.session
    const seconds = this.#rates.take(client, Math.max(1, call.count), performance.now())
    if (seconds !== undefined) return this.#refuse(exchange, tooMany(seconds))
    if (this.#open.size >= this.#config.concurrentRequests) return this.#refuse(exchange, BUSY)
    const release = memory.hold(call.weight)
    if (release === undefined) return this.#refuse(exchange, NO_ROOM)
    const caller = { wallet, peer: client.text, remote: !client.loopback, memory: memory.answers }
    this.#runToEnd(exchange, call.answer(caller), call.waits, ({ body, status }) => {
      if (body !== "") return this.#sendJson(exchange, status, body)
      send(exchange, { status, headers: [], body, encoding: "latin1", last: this.#isStopping() })
    }, release)
  }

  #show(exchange: Exchange, page: PageHandler, asked: PageRequest): void {
    const { host, authorization } = exchange.request.headers
    if (this.#open.size >= this.#config.concurrentRequests) return this.#refuse(exchange, BUSY)
    const show = (): void => {
      const seconds = this.#rates.take(exchange.session.client, 1, performance.now())
      if (seconds !== undefined) return this.#refuse(exchange, tooMany(seconds))
      this.#runToEnd(exchange, page.answer(asked), true, (answer) => this.#sendPage(exchange, answer))
    }
    if (!page.authenticated) return show()
    if (isForeignHost(host, this.#browsers)) return this.#refuse(exchange, FOREIGN_HOST)
    this.#authenticate(exchange, authorization, show)
  }

  #sendPage(exchange: Exchange, { body, headers, status }: PageAnswer): void {
    const fields = [...Object.entries(headers).flat(), "Content-Length", String(Buffer.byteLength(body))]
    send(exchange, { status, headers: fields, body, encoding: "utf8", last: this.#isStopping() })
  }

  /**
   * Takes a request in the fast lane, with the checks of `#serve`. A request that is, or may have to be, refused goes
   * to Node's server instead, as do calls that end when their client disconnects.
   */
  #takePlain(session: Session, lane: FastLane, head: PlainHead, body: Uint8Array): boolean {
    const { concurrentRequests, maxRequestSize, phase } = this.#config
    if (phase()._tag === "Stopping" || head.length > maxRequestSize || this.#open.size >= concurrentRequests) {
      return false
    }
    const target = route(head.target)
    if (target === undefined || target._tag !== "Rpc" || !this.#isAdmitted(session, head.authorization)) return false
    if (isForeignHost(head.host, this.#browsers)) return false
    const { client } = session
    if (this.#rates.wait(client, performance.now()) !== undefined) return false
    const call = this.#read(body)
    if (
      call === undefined || call.waits ||
      this.#rates.take(client, Math.max(1, call.count), performance.now()) !== undefined
    ) return false
    const release = session.memory.hold(call.weight)
    if (release === undefined) return false
    this.#connections.used(session)
    this.#answerPlain(session, lane, call, target.wallet, release)
    return true
  }

  /** Parses a body; `undefined` after an unexpected exception, which Node's server then reports. */
  #read(body: Uint8Array): Call | undefined {
    try {
      return this.#config.dispatch.read(body)
    } catch {
      return undefined
    }
  }

  /** Whether a connection is admitted. Checks credentials only once, and only while no penalty is running. */
  #isAdmitted(session: Session, header: string | undefined): boolean {
    if (this.#config.credentials === undefined) return true
    if (header === undefined) return false
    if (header === session.credentials) return true
    if (this.#penalties.any || this.#admit(header) !== "admitted") return false
    session.credentials = header
    this.#penalties.admitted(session.key)
    return true
  }

  #answerPlain(
    session: Session,
    lane: FastLane,
    call: Call,
    wallet: string | undefined,
    release: () => void
  ): void {
    const { client, memory } = session
    const refuse = ({ close = false, status, text }: HttpRefusal): void => {
      this.#config.onRefused?.(status)
      lane.answer(status, PLAIN_TEXT, text, close)
    }
    const fail = (cause: Cause.Cause<never>): void => {
      this.#config.run(Effect.logError("RPC request failed unexpectedly", cause))
      refuse(FAILED)
    }
    const end = (exit: Exit.Exit<BatchReply>): void => {
      release()
      if (exit._tag === "Failure") return Exit.isInterrupted(exit) ? refuse(STOPPING) : fail(exit.cause)
      const { body, status } = exit.value
      const last = this.#config.phase()._tag === "Stopping"
      try {
        if (typeof body !== "string") lane.answerLong(status, JSON_TYPE, body, last)
        else lane.answer(status, JSON_TYPE, body === "" ? "" : `${body}\n`, last)
      } catch (defect) {
        fail(Cause.die(defect))
      }
    }
    try {
      const effect = call.answer({ wallet, peer: client.text, remote: !client.loopback, memory: memory.answers })
      const known = settled(effect)
      if (known !== undefined) return end(known)
      this.#open.run(effect, session, end)
    } catch (defect) {
      fail(Cause.die(defect))
    }
  }

  #report(exchange: Exchange, path: HealthPath): void {
    this.#runToEnd(exchange, this.#config.health.report, true, (report) => {
      const { body, status } = healthAnswer(path, report)
      this.#sendJson(exchange, status, body)
    })
  }

  /** Runs an effect and answers with its result: in the same turn if it did not have to wait. */
  #runToEnd<A>(
    exchange: Exchange,
    effect: Effect.Effect<A>,
    waits: boolean,
    answer: (value: A) => void,
    release: () => void = nothing
  ): void {
    const end = (exit: Exit.Exit<A>): void => {
      release()
      if (exit._tag === "Success") return this.#guarded(exchange, () => answer(exit.value))
      if (Exit.isInterrupted(exit)) return this.#refuse(exchange, STOPPING)
      this.#fail(exchange, exit.cause)
    }
    const known = settled(effect)
    if (known !== undefined) return end(known)
    const fiber = this.#open.run(effect, exchange.session, end)
    if (waits && fiber !== undefined) exchange.session.whenGone(() => fiber.unsafeInterruptAsFork(fiber.id()))
  }

  #refuse(exchange: Exchange, refusal: HttpRefusal): void {
    this.#config.onRefused?.(refusal.status)
    sendRefusal(exchange, refusal, this.#isStopping())
  }

  #sendJson(exchange: Exchange, status: number, body: string | LongText): void {
    sendJson(exchange, { status, body, last: this.#isStopping() }, (refused) => this.#config.onRefused?.(refused))
  }

  /** A stopping node closes the connection with every answer: that of `stop` is the first. */
  #isStopping(): boolean {
    return this.#config.phase()._tag === "Stopping"
  }
}
