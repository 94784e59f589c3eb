import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Credentials } from "../config/settings.ts"
import { type Admission, admission } from "./auth.ts"
import type { Call, Dispatch } from "./Dispatch.ts"
import { type Health, healthAnswer, type HealthPath } from "./health.ts"
import type { Phase } from "./Lifecycle.ts"
import { RateLimiter } from "./RateLimiter.ts"
import { BodyReader } from "./requestBody.ts"
import { route } from "./route.ts"
import { Session } from "./Session.ts"
import { settled } from "./settled.ts"

export interface HttpServiceConfig {
  readonly dispatch: typeof Dispatch.Service
  readonly health: typeof Health.Service
  readonly phase: () => Phase
  readonly run: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  readonly credentials: Credentials | undefined
  readonly rateLimit: number
  readonly maxRequestSize: number
  /** Bytes of all bodies in memory. */
  readonly maxBodies: number
  readonly concurrentRequests: number
  readonly stallTimeout: number
  readonly onRefused: ((status: number) => void) | undefined
}

/** A request that was turned away by HTTP alone. The text is not JSON: indexers take JSON as final (rpc.md 1.11). */
interface Refusal {
  readonly status: number
  readonly text: string
  readonly headers?: ReadonlyArray<string>
  /** Whether the connection ends with it. */
  readonly close?: boolean
}

const STOPPING: Refusal = { status: 503, text: "Shutting down", close: true }
const TOO_LARGE: Refusal = { status: 413, text: "Request body too large", close: true }
const NOT_IMPLEMENTED: Refusal = { status: 501, text: "" }
const BAD_VERB: Refusal = { status: 405, text: "" }
const NOT_POST: Refusal = { status: 405, text: "JSONRPC server handles only POST requests", headers: ["Allow", "POST"] }
const NOT_GET: Refusal = { status: 405, text: "", headers: ["Allow", "GET, HEAD"] }
const NOT_FOUND: Refusal = { status: 404, text: "" }
const BUSY: Refusal = { status: 503, text: "Work queue depth exceeded" }
const NO_ROOM: Refusal = { ...BUSY, close: true }
const UNAUTHORIZED: Refusal = { status: 401, text: "", headers: ["WWW-Authenticate", "Basic realm=\"jsonrpc\""] }
const FAILED: Refusal = { status: 500, text: "Internal error" }
const tooMany = (seconds: number): Refusal => ({
  status: 429,
  text: "Too many requests",
  headers: ["Retry-After", String(seconds)]
})

/** How long wrong credentials are not answered, in milliseconds (rpc.md 1.4). */
const PENALTY = 250

/** Wrong credentials that serve their time at once: so nobody tries more than 64 passwords a second. */
const MAX_PENALTIES = 16

/** How long a client may go on sending a body that was refused, in milliseconds, so that it can read the answer. */
const LINGER = 500

/** One request on its way to its answer. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly session: Session
  readonly expectsContinue: boolean
}

/**
 * Serves HTTP requests: checks them in the order in which the reference node does (rpc.md 1.1), reads their bodies,
 * and has the dispatcher answer them.
 */
export class HttpService {
  readonly #config: HttpServiceConfig
  readonly #admit: (header: string | undefined) => Admission
  readonly #rates: RateLimiter
  readonly #bodies: BodyReader
  readonly #sessions = new WeakMap<object, Session>()
  /** Calls that have not ended in the turn that they began in. */
  readonly #open = new Set<Fiber.RuntimeFiber<unknown>>()
  /** Requests whose credentials cannot be judged yet, at most one a connection. */
  readonly #suspects = new Set<() => void>()
  #penalties = 0
  #whenDrained: (() => void) | undefined

  constructor(config: HttpServiceConfig) {
    this.#config = config
    this.#admit = admission(config.credentials)
    this.#rates = new RateLimiter(config.rateLimit)
    this.#bodies = new BodyReader(config.maxRequestSize, config.maxBodies)
  }

  /** Takes over a server's connections and requests. */
  attach(server: Server): void {
    server.on("connection", (socket) => {
      this.#sessions.set(socket, new Session(socket, this.#config.stallTimeout))
    })
    server.on("request", (request, response) => this.#take(request, response, false))
    server.on("checkContinue", (request, response) => this.#take(request, response, true))
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const timedOut = error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      // Text in the middle of an answer would only make two answers unreadable.
      if (!socket.writable || this.#sessions.get(socket)?.busy === true) return void socket.destroy()
      const [line, text] = timedOut ? ["408 Request Timeout", "Request timeout"] : ["400 Bad Request", "Bad request"]
      this.#config.onRefused?.(timedOut ? 408 : 400)
      socket.end(
        `HTTP/1.1 ${line}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length}\r\n` +
          `Connection: close\r\n\r\n${text}`,
        () => socket.destroy()
      )
    })
  }

  /** Waits for the calls that run, and ends them when the time is up. */
  drained(timeout: number): Effect.Effect<void> {
    return Effect.async((resume) => {
      if (this.#open.size === 0) return resume(Effect.void)
      const timer = setTimeout(() => {
        this.#whenDrained = undefined
        for (const fiber of this.#open) fiber.unsafeInterruptAsFork(fiber.id())
        resume(Effect.void)
      }, timeout)
      this.#whenDrained = () => {
        clearTimeout(timer)
        resume(Effect.void)
      }
    })
  }

  #take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const session = this.#sessions.get(request.socket)
    if (session === undefined) return void request.socket.destroy()
    session.enter(() => this.#serve({ request, response, session, expectsContinue }))
  }

  /** Checks what can be checked before the body is there. */
  #serve(exchange: Exchange): void {
    const { method: verb = "", headers, url = "" } = exchange.request
    if (this.#config.phase()._tag === "Stopping") return this.#refuse(exchange, STOPPING)
    if (this.#bodies.isTooLarge(headers["content-length"])) return this.#refuse(exchange, TOO_LARGE)
    if (verb === "OPTIONS" || verb === "PATCH") return this.#refuse(exchange, NOT_IMPLEMENTED)
    if (!KNOWN_VERBS.has(verb)) return this.#refuse(exchange, BAD_VERB)
    const target = route(url)
    if (target === undefined) return this.#refuse(exchange, NOT_FOUND)
    if (target._tag === "Health") {
      return verb === "GET" || verb === "HEAD" ? this.#report(exchange, target.path) : this.#refuse(exchange, NOT_GET)
    }
    if (this.#open.size >= this.#config.concurrentRequests) return this.#refuse(exchange, BUSY)
    if (verb !== "POST") return this.#refuse(exchange, NOT_POST)
    this.#authenticate(exchange, headers.authorization, () => this.#receive(exchange, target.wallet))
  }

  /**
   * Goes on with a request whose credentials are right. Wrong ones hold a slot for their time, whether or not the
   * client waits for the answer; while all slots are held nobody's are judged, or a guess could be tested by how soon
   * it is answered. What a connection was admitted with is not judged again.
   */
  #authenticate(exchange: Exchange, header: string | undefined, admitted: () => void): void {
    const { session } = exchange
    if (header !== undefined && header === session.credentials) return admitted()
    const judge = (): void => {
      switch (this.#admit(header)) {
        case "missing":
          return this.#refuse(exchange, UNAUTHORIZED)
        case "wrong":
          return this.#punish(exchange)
        case "admitted":
          session.credentials = header
          return admitted()
      }
    }
    if (header === undefined || this.#penalties < MAX_PENALTIES) return judge()
    this.#suspects.add(judge)
    session.whenGone(() => this.#suspects.delete(judge))
  }

  /** Answers wrong credentials, late; then judges who waited for that. */
  #punish(exchange: Exchange): void {
    this.#config.run(Effect.logWarning("RPC credentials refused", { peer: exchange.session.client.text }))
    this.#penalties += 1
    setTimeout(() => {
      this.#penalties -= 1
      this.#refuse(exchange, UNAUTHORIZED)
      for (const judge of this.#suspects) {
        if (this.#penalties >= MAX_PENALTIES) break
        this.#suspects.delete(judge)
        judge()
      }
    }, PENALTY)
  }

  /** Reads the body of an admitted request. */
  #receive(exchange: Exchange, wallet: string | undefined): void {
    const { expectsContinue, request, response, session } = exchange
    const seconds = this.#rates.wait(session.client, performance.now())
    if (seconds !== undefined) return this.#refuse(exchange, tooMany(seconds))
    if (expectsContinue) response.writeContinue()
    this.#bodies.read(request, (body) => {
      switch (body._tag) {
        case "TooLarge":
          return this.#refuse(exchange, TOO_LARGE)
        case "NoRoom":
          return this.#refuse(exchange, NO_ROOM)
        case "Complete":
          return this.#guarded(exchange, () => this.#call(exchange, wallet, this.#config.dispatch.read(body.bytes)))
      }
    })
  }

  /** Answers what nobody expects to be thrown, such as a reply that is too long for a string. */
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

  /** Has a call answered. */
  #call(exchange: Exchange, wallet: string | undefined, call: Call): void {
    const { client } = exchange.session
    const seconds = this.#rates.take(client, Math.max(1, call.count), performance.now())
    if (seconds !== undefined) return this.#refuse(exchange, tooMany(seconds))
    if (this.#open.size >= this.#config.concurrentRequests) return this.#refuse(exchange, BUSY)
    const caller = { wallet, peer: client.text, remote: !client.loopback }
    this.#runToEnd(exchange, call.answer(caller), call.waits, ({ body, status }) => {
      if (body === "") this.#send(exchange, { status, headers: [], body, encoding: "latin1", close: false })
      else this.#sendJson(exchange, status, body)
    })
  }

  #report(exchange: Exchange, path: HealthPath): void {
    this.#runToEnd(exchange, this.#config.health.report, true, (report) => {
      const { body, status } = healthAnswer(path, report)
      this.#sendJson(exchange, status, body)
    })
  }

  /** Runs an effect and answers with what comes of it: at once if it did not have to wait for anything. */
  #runToEnd<A>(exchange: Exchange, effect: Effect.Effect<A>, waits: boolean, answer: (value: A) => void): void {
    const end = (exit: Exit.Exit<A>): void => {
      if (exit._tag === "Success") return this.#guarded(exchange, () => answer(exit.value))
      if (Exit.isInterrupted(exit)) return this.#refuse(exchange, STOPPING)
      this.#fail(exchange, exit.cause)
    }
    const known = settled(effect)
    if (known !== undefined) return end(known)
    const fiber = this.#config.run(effect)
    const exit = fiber.unsafePoll()
    if (exit !== null) return end(exit)

    this.#open.add(fiber)
    if (waits) exchange.session.whenGone(() => fiber.unsafeInterruptAsFork(fiber.id()))
    fiber.addObserver((exit) => {
      this.#open.delete(fiber)
      end(exit)
      if (this.#open.size === 0) this.#whenDrained?.()
    })
  }

  #refuse(exchange: Exchange, { close = false, headers = [], status, text }: Refusal): void {
    this.#config.onRefused?.(status)
    const { request, response, session } = exchange
    const body = ["Content-Type", "text/plain; charset=utf-8", "Content-Length", String(Buffer.byteLength(text))]
    if (!close || request.complete || response.destroyed) {
      return this.#send(exchange, { status, headers: [...headers, ...body], body: text, encoding: "latin1", close })
    }
    // Closing while the client still sends would reset the connection and take the answer with it.
    response.writeHead(status, [...headers, ...body, "Connection", "close"])
    response.write(text)
    const end = (): void => {
      clearTimeout(timer)
      if (response.writableEnded) return
      response.end()
      session.leave(response, true)
    }
    const timer = setTimeout(end, LINGER)
    request.once("close", end).once("end", end).resume()
  }

  #sendJson(exchange: Exchange, status: number, body: string): void {
    const length = Buffer.byteLength(body) + 1
    // Text of ASCII alone is the same in both encodings, and Node writes this one faster.
    const encoding = length === body.length + 1 ? "latin1" : "utf8"
    const headers = ["Content-Type", "application/json", "Content-Length", String(length)]
    this.#send(exchange, { status, headers, body: `${body}\n`, encoding, close: false })
  }

  #send({ response, session }: Exchange, { body, close, encoding, headers, status }: Answer): void {
    // A node that stops says so with every answer: `stop` itself is the first.
    const last = close || this.#config.phase()._tag === "Stopping"
    if (last) headers.push("Connection", "close")
    if (!response.destroyed) response.writeHead(status, headers).end(body, encoding)
    session.leave(response, last)
  }
}

interface Answer {
  readonly status: number
  readonly headers: Array<string>
  readonly body: string
  readonly encoding: BufferEncoding
  /** Whether the connection ends with it. */
  readonly close: boolean
}

/** The verbs that upstream knows; to others its answer is 405 before it looks at the path. */
const KNOWN_VERBS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT"])
