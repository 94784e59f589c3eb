import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { PlaceShare } from "../base/FairPlaces.ts"
import { orNothing } from "../protocol/orNothing.ts"
import type { BatchReply } from "../rpc/batch.ts"
import type { Call, Caller } from "../rpc/Dispatch.ts"
import type { LongText } from "../rpc/json/LongText.ts"
import { settled } from "../rpc/settled.ts"
import { admission, isOpen } from "./auth.ts"
import { allowedCallers } from "./clientAddress.ts"
import { type Exchange, headOf, send, sendBody, sendJson, sendRefusal } from "./Exchange.ts"
import { FastLane } from "./FastLane.ts"
import { gate, type GateListener, type PageVerdict, type RequestHead } from "./gate.ts"
import { healthAnswer, type HealthQuestion, type HealthReport } from "./health.ts"
import { HttpConnections } from "./HttpConnections.ts"
import type { HttpServiceConfig } from "./httpServiceConfig.ts"
import { laneEnd } from "./laneEnd.ts"
import { misread } from "./misread.ts"
import { claim, claimPlain, type OpenCall, OpenCalls } from "./OpenCalls.ts"
import { isStream, type PageAnswer } from "./Pages.ts"
import { PageStreams } from "./PageStreams.ts"
import { type Guesses, Penalties } from "./Penalties.ts"
import { permissions, type Permitted } from "./permissions.ts"
import type { PlainHead } from "./plainRequest.ts"
import { RateLimiter } from "./RateLimiter.ts"
import {
  BUSY,
  FAILED,
  type HttpRefusal,
  NO_ROOM,
  STOPPING,
  TOO_LARGE,
  UNAUTHORIZED,
  UNAUTHORIZED_PAGE
} from "./refusals.ts"
import { BodyReader } from "./requestBody.ts"
import { Session, VISITOR } from "./Session.ts"
import { Visits } from "./Visits.ts"

interface LaneClient {
  readonly session: Session
  readonly lane: FastLane
}

const nothing = (): void => {}

const callerOf = ({ callShare, client, memory, permitted, user }: Session, wallet: string | undefined): Caller => ({
  wallet,
  peer: client.text,
  remote: !client.loopback,
  share: callShare,
  user,
  rights: permitted?.rights,
  memory: memory.answers
})

/**
 * Passes HTTP requests through the gate and their bodies to the dispatcher. The lanes read and write differently. A
 * request without an immediate answer is refused or waits in Node's server, which also gets it from the fast lane.
 */
export class HttpService {
  readonly #config: HttpServiceConfig
  readonly #admit: (authorization: string) => string | undefined
  readonly #permittedTo: (user: string) => Permitted
  readonly #isAllowed: (address: string) => boolean
  readonly #rates: RateLimiter
  readonly #bodies: BodyReader
  readonly #sessions = new WeakMap<object, Session>()
  readonly #connections: HttpConnections<Session>
  readonly #open: OpenCalls
  readonly #streams: PageStreams
  readonly #penalties: Penalties
  readonly #visits: Visits
  readonly #listener: GateListener

  constructor(config: HttpServiceConfig) {
    const { connections, dispatch, maxRequestSize, ownName, pages, phase, run, users } = config
    this.#config = config
    this.#admit = admission(users)
    this.#permittedTo = permissions(config.permissions)
    this.#isAllowed = allowedCallers(config.allowed)
    this.#rates = new RateLimiter(config.rateLimit)
    this.#bodies = new BodyReader(maxRequestSize)
    this.#streams = new PageStreams({ run, stallTimeout: config.idleTimeout, maxReaders: config.readers })
    this.#open = new OpenCalls({ run, most: config.concurrentRequests })
    this.#connections = new HttpConnections(connections)
    const log = (guesses: Guesses): void => void run(Effect.logWarning("RPC credentials refused", guesses))
    this.#penalties = new Penalties({ places: connections, time: config.penalty, log })
    this.#visits = new Visits({ admit: this.#admit, permittedTo: this.#permittedTo, penalties: this.#penalties })
    this.#listener = {
      maxRequestSize,
      ownName,
      open: isOpen(users),
      get stopping() {
        return phase()._tag === "Stopping"
      },
      get pages() {
        return pages.handlers()
      },
      demandOf: dispatch.demandOf
    }
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
    server.on("clientError", (error, socket) => misread(socket, this.#sessions.get(socket), { error, onRefused }))
    // Without a listener Node closes the connection and loses the answers to earlier requests.
    server.on("connect", (_, socket) => {
      const session = this.#sessions.get(socket)
      // Node's server detaches from the socket, so an answer would wait for its reader forever.
      if (session !== undefined) socket.on("drain", () => session.drained())
      misread(socket, session, { onRefused })
    })
  }

  /** New connections start in the fast lane. */
  #meet(socket: Socket, handOver: (socket: Socket) => void): void {
    const { budget, fastLane, idleTimeout } = this.#config
    const session = new Session(socket, {
      stallTimeout: idleTimeout,
      budget,
      rates: this.#rates,
      isAllowed: this.#isAllowed
    })
    this.#connections.add(session)
    socket.once("close", () => this.#connections.remove(session))
    this.#sessions.set(socket, session)
    if (!fastLane) return handOver(socket)
    const lane: FastLane = new FastLane(socket, {
      idleTimeout,
      handOver,
      memory: session.memory.answers,
      take: (head, body) => this.#takePlain({ session, lane }, head, body)
    })
  }

  /** Node's server closes its own. */
  closeIdle(): void {
    for (const session of this.#connections) if (session.inLane && !session.working) session.close()
  }

  closeAll(): void {
    for (const session of this.#connections) session.end()
  }

  /** Interrupts the running calls after a time. */
  drained(timeout: number): Effect.Effect<void> {
    return Effect.zipRight(this.#streams.end, this.#open.drained(timeout))
  }

  #take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const session = this.#sessions.get(request.socket)
    if (session === undefined) return void request.socket.destroy()
    session.hear()
    this.#connections.used(session)
    const exchange = { request, response, session, expectsContinue }
    session.enter(response, () => this.#serve(exchange, headOf(request)))
  }

  #serve(exchange: Exchange, head: RequestHead): void {
    const verdict = gate(head, exchange.session, this.#listener)
    switch (verdict._tag) {
      case "Rpc":
        return this.#receive(exchange, verdict.wallet)
      case "Health":
        return this.#report(exchange, verdict.question)
      case "Page":
        return this.#show(exchange, verdict)
      case "Refuse":
        return this.#refuse(exchange, verdict.refusal)
      case "Wait":
        return this.#authenticate(exchange, head, verdict.authorization)
    }
  }

  /** Now or in turn. With right credentials, the request passes through the gate again. */
  #authenticate(exchange: Exchange, head: RequestHead, authorization: string): void {
    const { session } = exchange
    const takeBack = this.#penalties.await(session.key, () => {
      if (this.#isAdmitted(session, authorization)) return this.#serve(exchange, head)
      const refusal = head.verb === "GET" ? UNAUTHORIZED_PAGE : UNAUTHORIZED
      this.#penalties.serve(session, () => this.#refuse(exchange, refusal))
    })
    if (takeBack !== undefined) session.whenGone(takeBack)
  }

  /** Remembers right credentials. */
  #isAdmitted(session: Session, authorization: string): boolean {
    const user = this.#admit(authorization)
    if (user === undefined) return false
    session.admit(authorization, { user, permitted: this.#permittedTo(user) })
    this.#penalties.admitted(session.key)
    return true
  }

  #receive(exchange: Exchange, wallet: string | undefined): void {
    const { expectsContinue, request, response, session } = exchange
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
            const answer = (call: Call): void => this.#call(exchange, wallet, call)
            this.#runToEnd(exchange, read, { mayEnd: true, answer, release: body.release })
          })
      }
    })
  }

  /** Answers an unexpected exception, such as a reply too long for a string. */
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
    const release = claim({ session: exchange.session, open: this.#open }, call)
    if (typeof release !== "function") return this.#refuse(exchange, release)
    const caller = callerOf(exchange.session, wallet)
    const answer = ({ body, status }: BatchReply): void => {
      if (body !== "") return this.#sendJson(exchange, status, body)
      send(exchange, { status, headers: [], body, encoding: "latin1", last: this.#listener.stopping })
    }
    this.#runToEnd(exchange, call.answer(caller), {
      mayEnd: call.mayEnd,
      abandon: call.abandon,
      answer,
      release
    })
  }

  #show(exchange: Exchange, { isCurrent, page, request: asked }: PageVerdict): void {
    // The gate has checked the rate limit in this turn.
    exchange.session.count(1)
    const answer = (made: PageAnswer): void => this.#sendPage(exchange, made, isCurrent)
    const { inTurn } = this.#config.dispatch
    if (!("visit" in page)) return this.#runToEnd(exchange, inTurn(page.answer(asked)), { mayEnd: true, answer })
    const share = [VISITOR, exchange.session.key]
    this.#visits.read(exchange, {
      visit: (visit, release) => {
        const mayEnd = visit.form === undefined
        if (mayEnd || this.#open.admits(share, false)) {
          return this.#runToEnd(exchange, inTurn(page.visit(asked, visit)), { mayEnd, answer, release, share })
        }
        release()
        this.#refuse(exchange, BUSY)
      },
      refuse: (refusal) => this.#refuse(exchange, refusal)
    })
  }

  #sendPage(
    exchange: Exchange,
    { body, cookies = [], headers, status }: PageAnswer,
    isCurrent: PageVerdict["isCurrent"]
  ): void {
    const fields = [...Object.entries(headers), ...cookies.map((cookie) => ["Set-Cookie", cookie])].flat()
    if (!isStream(body)) return sendBody(exchange, { status, headers: fields, body, last: this.#listener.stopping })
    this.#connections.remove(exchange.session)
    this.#streams.begin(exchange, { status, headers: fields, isCurrent }, body)
  }

  /** A request that is not answered or refused here goes to Node's server. */
  #takePlain(client: LaneClient, head: PlainHead, body: Uint8Array): boolean {
    const { session } = client
    let verdict = gate(head, session, this.#listener)
    if (verdict._tag === "Wait") {
      if (this.#penalties.any || !this.#isAdmitted(session, verdict.authorization)) return false
      verdict = gate(head, session, this.#listener)
    }
    if (verdict._tag !== "Rpc") return false
    const call = this.#read(body)
    if (call === undefined) return false
    const release = claimPlain({ session, open: this.#open }, call)
    if (release === undefined) return false
    session.hear()
    this.#connections.used(session)
    this.#answerPlain(client, call, { wallet: verdict.wallet, release })
    return true
  }

  /** `undefined` after an unexpected exception, which Node's server then reports. */
  #read(body: Uint8Array): Call | undefined {
    return orNothing(() => this.#config.dispatch.read(body))
  }

  #answerPlain(
    { lane, session }: LaneClient,
    call: Call,
    { release, wallet }: { readonly wallet: string | undefined; readonly release: () => void }
  ): void {
    const { onRefused, run } = this.#config
    const { end, fail } = laneEnd(lane, { onRefused, run, release, isStopping: () => this.#listener.stopping })
    try {
      const effect = call.answer(callerOf(session, wallet))
      const known = settled(effect)
      if (known !== undefined) return end(known)
      const { mayEnd } = call
      const fiber = this.#open.run(effect, this.#place(session, { mayEnd, share: session.share }), end)
      if (fiber === undefined) return
      session.whenGone(mayEnd ? () => fiber.unsafeInterruptAsFork(fiber.id()) : call.abandon)
    } catch (defect) {
      fail(Cause.die(defect))
    }
  }

  #report(exchange: Exchange, question: HealthQuestion): void {
    const answer = (report: HealthReport): void => {
      const { body, status } = healthAnswer(question, report)
      this.#sendJson(exchange, status, body)
    }
    this.#runToEnd(exchange, this.#config.health.report, { mayEnd: true, answer })
  }

  /** Answers in the same turn if the effect need not wait. */
  #runToEnd<A>(
    exchange: Exchange,
    effect: Effect.Effect<A>,
    { abandon, answer, mayEnd, release = nothing, share = exchange.session.share }: {
      /** Whether to interrupt the effect when the client disconnects. Otherwise `abandon` is called. */
      readonly mayEnd: boolean
      readonly abandon?: () => void
      readonly answer: (value: A) => void
      readonly release?: () => void
      readonly share?: PlaceShare
    }
  ): void {
    const end = (exit: Exit.Exit<A>): void => {
      release()
      if (exit._tag === "Success") return this.#guarded(exchange, () => answer(exit.value))
      if (Exit.isInterrupted(exit)) return this.#refuse(exchange, this.#listener.stopping ? STOPPING : BUSY)
      this.#fail(exchange, exit.cause)
    }
    const known = settled(effect)
    if (known !== undefined) return end(known)
    const fiber = this.#open.run(effect, this.#place(exchange.session, { mayEnd, share }), end)
    if (fiber === undefined) return
    // A visit that runs to its end may have its own handler.
    if (mayEnd) exchange.session.whenGone(() => fiber.unsafeInterruptAsFork(fiber.id()))
    else if (abandon !== undefined) exchange.session.whenGone(abandon)
  }

  #place(session: Session, place: Pick<OpenCall, "mayEnd" | "share">): OpenCall {
    const working = (works: boolean): void => {
      session.working = works
      this.#connections.working(session, works)
    }
    return { ...place, working }
  }

  #refuse(exchange: Exchange, refusal: HttpRefusal): void {
    this.#config.onRefused?.(refusal.status)
    sendRefusal(exchange, refusal, this.#listener.stopping)
  }

  #sendJson(exchange: Exchange, status: number, body: string | LongText): void {
    sendJson(exchange, { status, body, last: this.#listener.stopping }, (refused) => this.#config.onRefused?.(refused))
  }
}
