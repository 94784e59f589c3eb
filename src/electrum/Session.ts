import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { isUtf8 } from "node:buffer"
import {
  electrumBytesIn,
  electrumBytesOut,
  type ElectrumEnd,
  electrumEnded,
  electrumRequests
} from "../metrics/electrumMetrics.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { ScriptKey } from "../protocol/keys.ts"
import { orNothing } from "../protocol/orNothing.ts"
import { encodeJson } from "../rpc/json/encodeJson.ts"
import { hasMethod, type MethodsByName } from "./methods/all.ts"
import type { ElectrumCaller } from "./methods/method.ts"
import { tooLargeAnswer } from "./methods/nameMethods.ts"
import { versionNotFirst, versionSentTwice } from "./methods/serverMethods.ts"
import { COST, type CostMeter, delayAt, isExcessive } from "./protocol/CostMeter.ts"
import { CODE, ElectrumError, internalError } from "./protocol/ElectrumError.ts"
import {
  type ElectrumRequest,
  errorReply,
  notUtf8,
  readElectrum,
  type ReadMessage,
  type ReadRequest,
  resultReply
} from "./protocol/envelope.ts"
import { ANSWER_BYTES, type ServedLimits } from "./protocol/limits.ts"
import { bindArguments } from "./protocol/parameters.ts"
import type { ProtocolVersion } from "./protocol/versions.ts"
import type { StatusReader, Subscriptions } from "./Subscriptions.ts"

/** The connection below a session. */
export interface SessionLink {
  /** Calls `sent` when the client has taken the message. */
  readonly send: (message: string, sent: () => void) => void
  /** Whether answers have to wait for the client. The link is `ready` when they need no more. */
  readonly isFull: () => boolean
  /** Closes behind what was sent. */
  readonly close: () => void
  /** Closes at once. */
  readonly destroy: () => void
  /** Called when the session can take the next message. */
  readonly ready: () => void
}

/** What all sessions share. */
export interface SessionWorld {
  readonly methods: MethodsByName
  readonly subscriptions: Subscriptions
  readonly limits: ServedLimits
  /** Milliseconds. */
  readonly now: () => number
  /** Memory for so many more subscriptions, or less of it for a negative number. */
  readonly hold: (subscriptions: number) => boolean
  /** Memory for so many bytes of an answer that waits for its client, or less of it for a negative number. */
  readonly keep: (bytes: number) => boolean
  readonly run: (work: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
}

const MINUTE = 60_000

/** Bytes of an answer that the memory of its session covers. */
const SMALL_ANSWER = 8_192

/** In `CostMeter`'s units: an answer to a request that the server did not make. */
const STRAY_ANSWER = 0.1

/** By how much broadcasts above the limit cost more. */
const BROADCAST_FACTOR = 10

/** Characters of a reply that a batch has room for at all times: that of a broadcast must not get lost. */
const SMALL = 1_000

const excessive = (): ElectrumError =>
  new ElectrumError({ code: CODE.excessiveUse, message: "excessive resource usage", closes: true })

const tooManySubscriptions = (): ElectrumError =>
  new ElectrumError({ code: CODE.badRequest, message: "too many subscriptions" })

const NO_VERSION: ProtocolVersion = []

/** One client: its version, subscriptions and costs. It answers one message at a time, in their order. */
export class ServedClient implements StatusReader {
  readonly #world: SessionWorld
  readonly #link: SessionLink
  readonly #meter: CostMeter
  readonly #followed = new Set<ScriptKey>()
  readonly #caller: ElectrumCaller
  #version = NO_VERSION
  #followsHeaders = false
  #running: Fiber.RuntimeFiber<void> | undefined
  #isBusy = false
  #isClosed = false
  /** Closes behind the answer that is being made. */
  #closes = false
  /** Closes behind the last answer. */
  #isEnding = false
  /** Of the last message. */
  #usedAt: number
  #minute = { since: 0, broadcasts: 0 }
  /** Bytes of notifications that the client has not taken. */
  #untold = 0
  /** Bytes of answers that the client has not taken, as far as memory was asked for. */
  #kept = 0

  constructor(world: SessionWorld, link: SessionLink, meter: CostMeter) {
    this.#world = world
    this.#link = link
    this.#meter = meter
    this.#usedAt = world.now()
    meter.join(world.now())
    this.#caller = this.#callerOf()
  }

  /** Whether a message is being answered, or the client has not taken answers. The next one has to wait. */
  get isBusy(): boolean {
    return this.#isBusy || this.#link.isFull()
  }

  get followsHeaders(): boolean {
    return this.#followsHeaders && !this.#isClosed
  }

  get usedAt(): number {
    return this.#usedAt
  }

  /** Answers a message. Not while the session is busy. */
  readonly take = (message: Bytes): void => {
    if (this.#isClosed || this.#isEnding) return
    const { now, run } = this.#world
    this.#usedAt = now()
    electrumBytesIn.increase(message.length)
    this.#charge(message.length * COST.perByte)
    const text = isUtf8(message)
      ? Buffer.from(message.buffer, message.byteOffset, message.length).toString()
      : undefined
    const read = text === undefined ? notUtf8() : readElectrum(text)
    // What throws here throws in the fiber again, where it is logged.
    const known = read._tag === "Single" ? orNothing(() => this.#replyAtOnce(read.request)) : undefined
    if (known !== undefined) return this.#finish(known)
    this.#isBusy = true
    const running = run(this.#answer(read))
    this.#running = running
    running.addObserver(() => {
      this.#isBusy = false
      this.#running = undefined
      if (!this.#isClosed) this.#link.ready()
    })
  }

  readonly drop = (key: ScriptKey): void => void this.#leave(key)

  readonly notify = (message: string): void => {
    if (this.#untold > this.#world.limits.unread) return this.end("unread")
    this.#untold += message.length
    this.#send(message, () => {
      this.#untold -= message.length
    })
  }

  /** Ends the session for a reason. */
  readonly end = (reason: ElectrumEnd): void => {
    if (this.#isClosed) return
    electrumEnded.of(reason).increase()
    this.#link.destroy()
  }

  /** The connection is closed. */
  readonly gone = (): void => {
    if (this.#isClosed) return
    this.#isClosed = true
    const { hold, keep, now, run, subscriptions } = this.#world
    for (const key of this.#followed) subscriptions.remove(key, this)
    hold(-this.#followed.size)
    keep(-this.#kept)
    this.#kept = 0
    this.#followed.clear()
    this.#meter.leave(now())
    if (this.#running !== undefined) run(Effect.asVoid(Fiber.interruptFork(this.#running)))
  }

  #charge(cost: number): void {
    this.#meter.add({ cost, now: this.#world.now() })
  }

  readonly #withinLimits: Effect.Effect<void, ElectrumError> = Effect.suspend(() => {
    if (!isExcessive(this.#meter.at(this.#world.now()))) return Effect.void
    electrumEnded.of("cost").increase()
    return excessive()
  })

  #callerOf(): ElectrumCaller {
    return {
      version: () => this.#version,
      charge: (cost) => this.#charge(cost),
      withinLimits: this.#withinLimits,
      speaks: (version) => {
        this.#version = version
      },
      followHeaders: () => {
        this.#followsHeaders = true
      },
      follow: (key) => this.#follow(key),
      answered: (key, status) => this.#world.subscriptions.answered(key, status),
      leave: (key) => this.#leave(key),
      broadcasts: (count) => this.#countBroadcasts(count)
    }
  }

  #follow(key: ScriptKey): Effect.Effect<boolean, ElectrumError> {
    const { hold, limits, subscriptions } = this.#world
    if (this.#followed.has(key)) return Exit.succeed(false)
    const isFull = this.#followed.size >= limits.subscriptions || subscriptions.count >= limits.allSubscriptions
    if (isFull || this.#isClosed || !hold(1)) return tooManySubscriptions()
    this.#followed.add(key)
    subscriptions.add(key, this)
    return Exit.succeed(true)
  }

  #leave(key: ScriptKey): boolean {
    if (!this.#followed.delete(key)) return false
    this.#world.subscriptions.remove(key, this)
    this.#world.hold(-1)
    return true
  }

  #countBroadcasts(count: number): number {
    const now = this.#world.now()
    if (now - this.#minute.since > MINUTE) this.#minute = { since: now, broadcasts: 0 }
    this.#minute.broadcasts += count
    return this.#minute.broadcasts > this.#world.limits.broadcasts ? BROADCAST_FACTOR : 1
  }

  #answer(message: ReadMessage): Effect.Effect<void> {
    const work = Effect.suspend(() => {
      switch (message._tag) {
        case "Answer":
          return Effect.sync(() => this.#charge(STRAY_ANSWER))
        case "Single":
          return Effect.map(this.#reply(message.request), (reply) => this.#finish(reply))
        case "Batch":
          return Effect.map(this.#replyAll(message.requests), (reply) => this.#finish(reply))
      }
    })
    return Effect.matchEffect(this.#withinLimits, {
      onFailure: (error) => Effect.sync(() => this.#refuse(message, error)),
      onSuccess: () => this.#delayed(work)
    })
  }

  /** Work that waits as the cost says. */
  #delayed<A>(work: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      const delay = delayAt(this.#meter.at(this.#world.now()))
      return delay === 0 ? work : Effect.delay(work, delay)
    })
  }

  /** Ends the session for its costs, whatever the message. */
  #refuse(message: ReadMessage, error: ElectrumError): void {
    const request = message._tag === "Single" ? message.request : { isLegacy: false, id: null }
    this.#finish(this.#failed({ ...request, error }, error))
  }

  /** A request that ends the session ends its batch. Those behind a full answer are refused and have no effect. */
  #replyAll(requests: ReadonlyArray<ReadRequest>): Effect.Effect<string> {
    return Effect.gen(this, function*() {
      const replies: Array<string> = []
      let room = ANSWER_BYTES
      for (const request of requests) {
        if (this.#closes) break
        const reply = room > 0
          ? yield* this.#delayed(this.#reply(request))
          : this.#failed(request, tooLargeAnswer())
        if (reply === "") continue
        room -= reply.length + 2
        replies.push(reply.length > SMALL && room < 0 ? errorReply(request, tooLargeAnswer()) : reply)
      }
      return replies.length === 0 ? "" : `[${replies.join(",")}]`
    })
  }

  /** Empty for a notification. */
  #reply(request: ReadRequest): Effect.Effect<string> {
    if ("error" in request) {
      if (this.#version === NO_VERSION) return Effect.sync(() => this.#failed(request, closing(request.error)))
      return Effect.sync(() => this.#failed(request, request.error))
    }
    return this.#call(request).pipe(
      Effect.catchAllDefect((defect) =>
        Effect.zipRight(
          Effect.logError("Electrum request failed: internal error", { method: request.method, defect }),
          internalError()
        )
      ),
      Effect.match({
        onFailure: (error) => this.#failed(request, error),
        onSuccess: (result) => this.#replied(request, result)
      })
    )
  }

  /** The reply without a fiber if memory has the answer and the client need not wait for it; else `undefined`. */
  #replyAtOnce(request: ReadRequest): string | undefined {
    if ("error" in request || this.#version === NO_VERSION) return undefined
    const method = this.#world.methods.get(request.method)
    if (method?.atOnce === undefined || !hasMethod(this.#version, method)) return undefined
    if (delayAt(this.#meter.at(this.#world.now())) > 0) return undefined
    const given = bindArguments(method.signature, request)
    const answer = Either.isRight(given) ? method.atOnce(given.right, this.#caller) : undefined
    if (answer === undefined) return undefined
    electrumRequests.of(method.group).increase()
    return this.#replied(request, encodeJson(answer))
  }

  #replied(request: ElectrumRequest, result: string): string {
    if (request.id === undefined) return ""
    return result.length > ANSWER_BYTES ? this.#failed(request, tooLargeAnswer()) : resultReply(request, result)
  }

  /** The result as JSON text. */
  #call(request: ElectrumRequest): Effect.Effect<string, ElectrumError> {
    return Effect.zipRight(this.#withinLimits, Effect.suspend(() => this.#callWithin(request)))
  }

  #callWithin(request: ElectrumRequest): Effect.Effect<string, ElectrumError> {
    const method = this.#world.methods.get(request.method)
    const isVersion = request.method === "server.version"
    if (!isVersion && this.#version === NO_VERSION) return versionNotFirst()
    if (method === undefined || !(isVersion || hasMethod(this.#version, method))) {
      electrumRequests.of("unknown").increase()
      return new ElectrumError({ code: CODE.unknownMethod, message: `unknown method "${request.method}"` })
    }
    electrumRequests.of(method.group).increase()
    const given = bindArguments(method.signature, request)
    if (Either.isLeft(given)) return given.left
    if (isVersion && this.#version !== NO_VERSION) return versionSentTwice()
    return Effect.map(method.call(given.right, this.#caller), encodeJson)
  }

  #failed(request: ReadRequest, error: ElectrumError): string {
    this.#charge(COST.error + (error.cost ?? 0))
    if (error.closes === true) this.#closes = true
    return request.id === undefined ? "" : errorReply(request, error)
  }

  #finish(reply: string): void {
    this.#send(reply)
    if (!this.#closes) return
    this.#isEnding = true
    this.#link.close()
  }

  #send(message: string, sent: () => void = () => {}): void {
    if (message === "" || this.#isClosed || this.#isEnding) return
    const kept = message.length > SMALL_ANSWER ? message.length : 0
    if (kept > 0 && !this.#world.keep(kept)) return this.end("memory")
    this.#kept += kept
    electrumBytesOut.increase(message.length)
    this.#charge(message.length * COST.perByte)
    this.#link.send(message, () => {
      // The memory of a closed session is given back as a whole.
      if (this.#isClosed) return
      this.#kept -= kept
      if (kept > 0) this.#world.keep(-kept)
      sent()
    })
  }
}

/** A client whose first message is not JSON speaks another protocol. */
const closing = (error: ElectrumError): ElectrumError => {
  electrumEnded.of("misread").increase()
  return new ElectrumError({ code: error.code, message: error.message, closes: true })
}
