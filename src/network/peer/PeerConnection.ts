import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type { MemoryBudget } from "../../base/MemoryBudget.ts"
import { type PeerTime, peerTime } from "../../base/NodeClock.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { PeerId } from "../../protocol/keys.ts"
import type { PeerStream } from "../connect/Transport.ts"
import type { MessageRoute, MessageTable } from "../messageTable.ts"
import type { ConnectionType, Disconnection, Hello, Latency, Peer, PeerHandler, Permissions } from "../Peer.ts"
import type { Message, MessageCommand, MessageOf } from "../wire/message.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { chargedGroup } from "../wire/netGroup.ts"
import { Counters, type Totals } from "./Counters.ts"
import { FiberTime } from "./FiberTime.ts"
import { Handshake, type Introduction } from "./Handshake.ts"
import { Intake } from "./Intake.ts"
import { KeepAlive, Pongs } from "./KeepAlive.ts"
import { type OpenPeer, openPeer, type PeerLink } from "./OpenPeer.ts"
import { Outbox, type OutboxLimits, type Parcel } from "./Outbox.ts"
import type { Pace } from "./Pace.ts"
import { PeerMemory } from "./PeerMemory.ts"
import { PeerSocket } from "./PeerSocket.ts"
import { Reading, type TakenTime } from "./Reading.ts"
import { RecentTime, type Turns } from "./Turns.ts"

export interface ConnectionContext {
  readonly magic: Bytes
  readonly handlers: ReadonlyArray<PeerHandler>
  readonly messages: MessageTable
  readonly totals: Totals
  /** 64 random bits, never 0. */
  readonly nonce: () => bigint
  readonly outbox: OutboxLimits
  readonly pace: Pace
  readonly turns: Turns
  /** Measures the time of this thread, in milliseconds. */
  readonly meter: () => number
  readonly budget: MemoryBudget
  /** Milliseconds for the handshake, and before a peer can count as silent (reference/protocol.md 6.5). */
  readonly peerTimeout: number
  /** Runs when a misbehaving peer stays connected. */
  readonly pardoned: (facts: ConnectionFacts, offence: Disconnection) => void
}

export interface ConnectionFacts {
  readonly id: PeerId
  readonly type: ConnectionType
  readonly address: NetAddress
  readonly port: number
  readonly name: string
  readonly permissions: Permissions
  readonly bind: string | undefined
  readonly introduction: Introduction
  readonly expectedServices: bigint
}

/** From 1 MiB on `send` waits; 8 MiB is the maximum. */
export const OUTBOX_LIMITS: OutboxLimits = { soft: 0x100000, hard: 0x800000 }

const WATCH_INTERVAL = 10_000

interface Times {
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly peer: PeerTime
  /** Seconds since 1970. */
  readonly unix: () => number
}

interface ConnectionParts {
  readonly facts: ConnectionFacts
  readonly context: ConnectionContext
  readonly times: Times
}

const times: Effect.Effect<Times> = Effect.zipWith(Effect.clock, peerTime, (clock, peer) => ({
  peer,
  now: () => Number(clock.unsafeCurrentTimeNanos()) / 1e6,
  unix: () => Math.floor(clock.unsafeCurrentTimeMillis() / 1000)
}))

const disconnection = (reason: string, misbehaving = false): Disconnection => ({ reason, misbehaving })

/**
 * One connection, from the socket to its end. One fiber reads, one writes, and one watches the time. `disconnect` ends
 * all three. An internal failure ends only this connection.
 *
 *   handshake ──verack──▶ open ──disconnect──▶ closed
 *        └──────────────disconnect───────────────▲
 */
export class PeerConnection implements PeerLink {
  readonly facts: ConnectionFacts
  readonly counters: Counters
  /** Seconds since 1970. */
  readonly connectedAt: number
  private readonly context: ConnectionContext
  private readonly socket: PeerSocket
  private readonly times: Times
  private readonly startedAt: number
  /** From this peer time on, the peer can count as silent. */
  private readonly silentFrom: number
  private readonly handshake: Handshake
  private readonly outbox: Outbox
  private readonly intake: Intake
  readonly memory: PeerMemory
  private readonly time: FiberTime
  private readonly recent: RecentTime
  private readonly pongs: Pongs
  private readonly ended = Deferred.unsafeMake<Disconnection>(FiberId.none)
  private ending: Disconnection | undefined
  private reader: Reading | undefined
  private open: { readonly peer: OpenPeer; readonly keepAlive: KeepAlive } | undefined
  private told = 0

  private constructor(socket: PeerStream, { context, facts, times }: ConnectionParts) {
    this.facts = facts
    this.context = context
    this.times = times
    this.connectedAt = times.unix()
    this.startedAt = times.now()
    this.silentFrom = times.peer.now() + context.peerTimeout
    this.counters = new Counters(context.totals)
    const { address, expectedServices, introduction, name, port, type } = facts
    this.pongs = new Pongs(context.handlers)
    this.intake = new Intake(context.pace, chargedGroup(address), times.now)
    this.memory = new PeerMemory(context.budget, {
      name,
      type,
      evict: (kind) =>
        this.disconnect(disconnection(`evicted: the peer held the most memory of the kind ${kind}, which is scarce`))
    })
    this.outbox = new Outbox(context.magic, context.outbox, this.memory.outbox)
    this.time = new FiberTime(context.meter, () => this.reader?.paused())
    this.recent = new RecentTime(type !== "inbound")
    this.handshake = new Handshake({ ...introduction, type, address, port, expectedServices })
    this.socket = new PeerSocket(
      socket,
      (reason) =>
        this.disconnect(
          disconnection(reason === undefined ? "the peer closed the connection" : `connection lost: ${reason}`)
        )
    )
  }

  /** Closes the socket when `run` ends. */
  static readonly make = (
    socket: PeerStream,
    facts: ConnectionFacts,
    context: ConnectionContext
  ): Effect.Effect<PeerConnection> =>
    Effect.map(times, (clock) => new PeerConnection(socket, { facts, context, times: clock }))

  get peer(): Peer | undefined {
    return this.open?.peer
  }

  get closed(): boolean {
    return this.ending !== undefined
  }

  get age(): number {
    return this.times.now() - this.startedAt
  }

  get latency(): Latency {
    return this.open?.keepAlive.latency(this.times.peer.now()) ??
      { last: undefined, best: undefined, waiting: undefined }
  }

  /** Drops unsent messages. With `noban`, misbehaviour has no consequence. */
  disconnect(why: Disconnection): void {
    if (this.ending !== undefined) return
    if (why.misbehaving && this.facts.permissions.has("noban")) {
      return void this.context.pardoned(this.facts, why)
    }
    this.ending = why
    this.outbox.close()
    this.memory.close()
    this.socket.destroy()
    Deferred.unsafeDone(this.ended, Effect.succeed(why))
  }

  ping(): void {
    if (this.open === undefined) return
    const { keepAlive, peer } = this.open
    const nonce = this.context.nonce()
    keepAlive.pinged(nonce, this.times.peer.now())
    this.post({ type: "ping", nonce: peer.answersPings ? nonce : undefined })
  }

  send(message: Message): Effect.Effect<void> {
    this.intake.asks(message)
    return Effect.flatMap(
      this.outbox.put(message),
      (room) =>
        room
          ? Effect.void
          : Effect.sync(() => this.disconnect(disconnection("out of memory budget: the send buffer of the peer")))
    )
  }

  get ready(): Effect.Effect<void> {
    return this.outbox.ready
  }

  spent(milliseconds: number, asked = false): void {
    this.took({ milliseconds, its: milliseconds })
    if (asked) this.intake.trusts(milliseconds)
    else this.intake.spent(milliseconds)
  }

  judged(good: boolean): void {
    this.intake.judged(good)
  }

  get turn(): Effect.Effect<void> {
    return this.reader?.within ?? Effect.void
  }

  private took({ its, milliseconds }: TakenTime): void {
    this.recent.spent(its, this.times.now())
    this.context.turns.spent(milliseconds)
  }

  post(message: Message): void {
    this.intake.asks(message)
    if (!this.outbox.add(message)) this.disconnect(disconnection("send buffer full: the peer does not read"))
  }

  /** Returns why the connection ended. `opened` runs before the handlers get the peer. Interruption closes it. */
  run(opened: (peer: Peer) => Effect.Effect<void>): Effect.Effect<Disconnection> {
    return Effect.uninterruptible(Effect.gen(this, function*() {
      const reading = this.time.measured(this.reading(opened))
      const parts = [this.facts.type === "inbound" ? this.intake.paced(reading) : reading, this.write, this.watch]
      const fibers = yield* Effect.forEach(parts, (part) => Effect.fork(Effect.interruptible(this.guarded(part))))
      yield* Deferred.await(this.ended).pipe(
        Effect.interruptible,
        Effect.onInterrupt(() => Effect.sync(() => this.disconnect(disconnection("node shutdown")))),
        Effect.exit
      )
      yield* Fiber.interruptAll(fibers)
      yield* this.sayGone
      return yield* Deferred.await(this.ended)
    }))
  }

  private guarded(part: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.catchAllCause(part, (cause) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.void
      this.disconnect(disconnection("internal error"))
      return Effect.logError("peer connection failed unexpectedly", cause)
    })
  }

  /** In order, even if one fails. */
  private get sayGone(): Effect.Effect<void> {
    const peer = this.peer
    if (peer === undefined) return Effect.void
    return Effect.forEach(
      this.context.handlers.slice(0, this.told),
      (handler) => this.guarded(Effect.suspend(() => handler.gone(peer))),
      { discard: true }
    )
  }

  private reading(opened: (peer: Peer) => Effect.Effect<void>): Effect.Effect<void> {
    for (const message of this.handshake.open(this.times.unix())) this.post(message)
    const { context, counters, intake, memory, socket } = this
    const screens = context.handlers.flatMap(({ screened }) => screened ?? [])
    const reading = new Reading({
      magic: context.magic,
      socket,
      counters,
      intake,
      memory,
      time: this.time,
      turn: (bytes) => context.turns.take(this.recent, bytes),
      alone: (handling) => context.turns.alone(this.recent, handling),
      took: (time) => this.took(time),
      disconnect: (why) => this.disconnect(why),
      isClosed: () => this.closed,
      peer: () => this.open?.peer,
      heard: (bytes) => {
        counters.received(bytes, this.times.unix())
        this.open?.keepAlive.received(this.times.peer.now())
      },
      screened: (peer, start) => Effect.every(screens, (screened) => screened(peer, start)),
      handled: (message) =>
        this.open === undefined ? this.shakeHands(message, opened) : this.handle(this.open.peer, message)
    })
    this.reader = reading
    return reading.run
  }

  private shakeHands(message: Message, opened: (peer: Peer) => Effect.Effect<void>): Effect.Effect<void> {
    const step = this.handshake.received(message, this.times.unix())
    for (const answer of step.send) this.post(answer)
    if (step.disconnection !== undefined) this.disconnect(step.disconnection)
    return step.hello === undefined ? Effect.void : this.begin(step.hello, opened)
  }

  private begin(hello: Hello, opened: (peer: Peer) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const peer = openPeer(this, hello)
      const keepAlive = new KeepAlive(this.times.peer.now(), peer.answersPings, this.silentFrom)
      this.open = { peer, keepAlive }
      yield* opened(peer)
      if (this.closed) return
      this.ping()
      for (const handler of this.context.handlers) {
        this.told += 1
        yield* handler.connected(peer)
      }
    }).pipe(Effect.withSpan("svcd.network.handshaken", { attributes: { peer: this.facts.id } }))
  }

  private handle(peer: OpenPeer, message: Message): Effect.Effect<void> {
    return message.type === "unknown" ? Effect.void : this.dispatch(peer, message)
  }

  private dispatch<C extends MessageCommand>(peer: OpenPeer, message: MessageOf<C>): Effect.Effect<void> {
    const route: MessageRoute<C> = this.context.messages[message.type]
    if (route === "ignore") return Effect.void
    if (route === "connection") return this.handleOwn(peer, message)
    if ("reason" in route) return Effect.sync(() => this.disconnect(route))
    return Effect.forEach(
      route,
      (handler) => this.closed ? Effect.void : handler(peer, message),
      { discard: true }
    )
  }

  private handleOwn(peer: OpenPeer, message: Message): Effect.Effect<void> {
    switch (message.type) {
      case "ping":
        return message.nonce === undefined || !peer.answersPings
          ? Effect.void
          : this.pongs.answer(peer, message.nonce)
      case "pong":
        return Effect.sync(() => this.open?.keepAlive.ponged(message.nonce, this.times.peer.now()))
      default:
        return Effect.sync(() => peer.note(message))
    }
  }

  private readonly write: Effect.Effect<void> = Effect.gen(this, function*() {
    while (!this.closed) yield* this.deliver(yield* this.outbox.take)
  })

  private deliver({ command, frame }: Parcel): Effect.Effect<void> {
    this.counters.messageSent(command, frame.length)
    return this.socket.write(frame, (taken) => {
      this.counters.sent(taken, this.times.unix())
      this.open?.keepAlive.sent(this.times.peer.now())
      this.outbox.delivered(taken)
    })
  }

  private readonly watch: Effect.Effect<void> = Effect.gen(this, function*() {
    while (!this.closed) {
      const due = this.due(this.times.peer.now())
      if (due > 0) yield* this.times.peer.sleep(Math.min(due, WATCH_INTERVAL))
    }
  })

  private due(now: number): number {
    if (this.open === undefined) {
      const left = this.silentFrom - now
      if (left <= 0) this.disconnect(disconnection("handshake timeout"))
      return left
    }
    const due = this.open.keepAlive.due(now)
    if (due.type === "wait") return due.until - now
    if (due.type === "ping") this.ping()
    else this.disconnect(due.disconnection)
    return 0
  }
}
