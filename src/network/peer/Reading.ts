import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import type { Disconnection, Peer } from "../Peer.ts"
import { ProtocolViolation } from "../wire/codec.ts"
import { FRAME_HEADER_SIZE, type Framed, FrameParser, MAX_PAYLOAD } from "../wire/framing.ts"
import type { Message } from "../wire/message.ts"
import { type BlockStart, peekBlock } from "../wire/messages/block.ts"
import type { Counters } from "./Counters.ts"
import { decoded, decodedInSteps, payloadLimits } from "./decoding.ts"
import type { FiberTime } from "./FiberTime.ts"
import type { Intake } from "./Intake.ts"
import { decodedSize, type PeerMemory } from "./PeerMemory.ts"
import type { PeerSocket } from "./PeerSocket.ts"
import { isHandshakeCommand } from "./rules.ts"

/** Bytes that are read in one go, so that many short messages do not hold up everybody else. */
const SLICE = 8_192

/** Milliseconds after which a peer waits for its turn again. */
const STRETCH = 5

/** What reading needs of its connection. */
export interface ReadingLink {
  readonly magic: Bytes
  readonly socket: PeerSocket
  readonly counters: Counters
  readonly intake: Intake
  readonly memory: PeerMemory
  /** Measures this reading. */
  readonly time: FiberTime
  /** Waits for a turn in the line of all peers, with so many bytes to be read. */
  readonly turn: (bytes: number) => Effect.Effect<void>
  /** Runs the handling of a large message while that of no other one runs. */
  readonly alone: <A>(handling: Effect.Effect<A>) => Effect.Effect<A>
  /**
   * Hears of time that was taken, and of how much of it can have been the peer's, milliseconds: whether or not the peer
   * was asked for what it went into.
   */
  readonly took: (milliseconds: number, its: number) => void
  readonly disconnect: (why: Disconnection) => void
  readonly isClosed: () => boolean
  /** Once the handshake is complete. */
  readonly peer: () => Peer | undefined
  /** Bytes came. */
  readonly heard: (bytes: number) => void
  /** Whether a block is worth decoding, by what stands in front of its transactions. */
  readonly screened: (peer: Peer, type: "block" | "cmpctblock", start: BlockStart) => Effect.Effect<boolean>
  readonly handled: (message: Message) => Effect.Effect<void>
}

/**
 * Messages that are the same little work whatever they say, and the most milliseconds that one costs its peer: what is
 * measured beyond is chance, such as a collection of garbage, and a peer that only pings would wait for it.
 */
const LITTLE_MESSAGES: ReadonlySet<string> = new Set(["ping", "pong", "feefilter", "sendheaders", "sendcmpct"])
const LITTLE_SIZE = 64
const LITTLE_COST = 1

/**
 * Most milliseconds that each message of the handshake, and each step between messages, counts in the line of peers: a peer
 * in whose step garbage was collected would stand behind every flooder.
 */
const LITTLE_STEP = 1

/** Messages that become many objects, and the size from which on one of them is taken apart after the other. */
const MANY_OBJECTS: ReadonlySet<string> = new Set(["headers", "addr", "addrv2"])
const LARGE = 16_384

const isLarge = (command: string, payload: Bytes): boolean => payload.length >= LARGE && MANY_OBJECTS.has(command)

const mostOf = (framed: Framed | undefined): number =>
  framed?.type === "frame" && framed.payload.length <= LITTLE_SIZE && LITTLE_MESSAGES.has(framed.command)
    ? LITTLE_COST
    : Infinity

const disconnection = (reason: string, misbehaving = false): Disconnection => ({ reason, misbehaving })

/**
 * Reads a connection: bytes, frames, messages. Each step is counted: memory in the account of the peer before it is
 * taken, time in its pace as it was measured.
 *
 *   wait for pace and memory ─▶ bytes ─▶ turn ─▶ frames ─▶ (blocks: screened) ─▶ memory ─▶ decoded ─▶ handled
 *            ▲────────────────────────────────────────────────────────────────────────────────────────┘
 */
export class Reading {
  private readonly link: ReadingLink
  /** What was measured up to the last note, to the last charge, and to the beginning of this turn, milliseconds. */
  private noted = 0
  private charged = 0
  private turn = 0
  /** Whether what is charged next belongs to the handshake. */
  private greeting = true
  /** Bytes that were taken from the socket and not looked at yet. */
  private unread = 0
  /** The most that the message which is handled costs the peer, milliseconds; `undefined` between messages. */
  private most: number | undefined

  constructor(link: ReadingLink) {
    this.link = link
  }

  readonly run: Effect.Effect<void> = Effect.gen(this, function*() {
    const { heard, intake, magic, memory, socket } = this.link
    const parser = new FrameParser(magic, MAX_PAYLOAD, payloadLimits(intake.asked), memory.frames)
    while (!this.closed) {
      if (!intake.expects) yield* this.whenDue
      yield* this.whenRoom
      const chunk = yield* socket.read
      if (chunk === undefined) return this.link.disconnect(disconnection("the peer closed the connection"))
      yield* this.nextTurn(chunk.length)
      heard(chunk.length)
      const expected = intake.arrived(chunk.length)
      for (let at = 0; at < chunk.length && !this.closed; at += SLICE) {
        this.unread = Math.max(0, chunk.length - at - SLICE)
        const frames = parser.push(chunk.subarray(at, at + SLICE))
        if (frames.length > 0) yield* this.takeAll(frames)
        else this.charge(!expected)
      }
    }
  })

  private get closed(): boolean {
    return this.link.isClosed()
  }

  /** Waits for a turn, and begins it. */
  private nextTurn(bytes: number): Effect.Effect<void> {
    return Effect.map(this.link.turn(bytes), () => {
      this.turn = this.link.time.ran
    })
  }

  /** The fiber begins to wait: those who go on next in this turn of the event loop are to know what it took. */
  paused(): void {
    this.note()
  }

  /** Notes what ran since the last note. Returns what was measured in all. */
  private note(): number {
    const { time, took } = this.link
    const { ran } = time
    const most = this.greeting ? LITTLE_STEP : this.most ?? LITTLE_STEP
    took(ran - this.noted, Math.min(most, ran - this.noted))
    this.noted = ran
    return ran
  }

  /** Charges for what ran since the last charge: at once, or on trust where the peer was asked for it. */
  private charge(uncalled: boolean): void {
    const { intake } = this.link
    const ran = this.note()
    const milliseconds = Math.min(this.most ?? Infinity, ran - this.charged)
    this.charged = ran
    if (this.greeting) intake.greeted(milliseconds)
    else if (uncalled) intake.spent(milliseconds)
    else intake.trusts(milliseconds)
  }

  /** Waits for another turn where this one has lasted long. */
  private readonly yieldTurn: Effect.Effect<void> = Effect.suspend(() =>
    this.note() - this.turn > STRETCH ? this.nextTurn(this.unread) : Effect.void
  )

  /** Gives other peers a turn while an unsolicited message is handled. */
  readonly within: Effect.Effect<void> = Effect.suspend(() => {
    this.charge(true)
    return Effect.zipRight(this.whenDue, this.yieldTurn)
  })

  /** Handles frames one after the other. */
  private takeAll(frames: ReadonlyArray<Framed>): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      // Taken out one by one: neither a frame nor its message is held while the peer waits for its turn.
      const waiting = [...frames].reverse()
      while (waiting.length > 0 && !this.closed) {
        this.most = mostOf(waiting.at(-1))
        const uncalled = yield* this.takeNext(waiting)
        this.charge(uncalled)
        this.most = undefined
        this.greeting = this.link.peer() === undefined
        if (uncalled) yield* this.whenDue
        yield* this.yieldTurn
      }
    })
  }

  /** Reads and handles the last frame of a list. Returns whether it was unsolicited. */
  private takeNext(waiting: Array<Framed>): Effect.Effect<boolean> {
    return Effect.gen(this, function*() {
      const { disconnect, intake, memory } = this.link
      const framed = waiting.pop()
      if (framed === undefined) return false
      this.count(framed)
      if (!this.isRead(framed)) return intake.uncalled(undefined)
      const { command, payload } = framed
      const screen = this.screen(command, payload)
      if (screen !== undefined && !(yield* screen)) return this.drop()
      let uncalled = true
      const handling = memory.holding(
        decodedSize(command, payload),
        () =>
          Effect.map(this.decodeAndHandle(command, payload), (its) => {
            uncalled = its
          })
      )
      const held = yield* isLarge(command, payload) ? this.link.alone(handling) : handling
      if (!held) disconnect(disconnection(`out of memory budget: a message of type ${command}`))
      return uncalled
    })
  }

  /** Drops an unsolicited frame. */
  private drop(): boolean {
    this.link.counters.dropped += 1
    return this.link.intake.uncalled(undefined)
  }

  /** Returns whether the message was unsolicited. */
  private decodeAndHandle(command: string, payload: Bytes): Effect.Effect<boolean> {
    return Effect.gen(this, function*() {
      const message = yield* this.decode(command, payload)
      if (message === undefined) return this.drop()
      const uncalled = this.link.intake.uncalled(message)
      yield* this.link.handled(message)
      return uncalled
    })
  }

  private count(framed: Framed): void {
    if (framed.type === "fatal") return
    const size = framed.type === "frame" ? framed.payload.length : framed.size
    this.link.counters.messageReceived(framed.command, FRAME_HEADER_SIZE + size)
  }

  /** What decides whether a block is decoded at all; `undefined` for anything else, and for a start that cannot be read. */
  private screen(command: string, payload: Bytes): Effect.Effect<boolean> | undefined {
    const peer = this.link.peer()
    if (peer === undefined || (command !== "block" && command !== "cmpctblock")) return undefined
    const start = decoded(() => peekBlock(command, payload))
    return start instanceof DecodeError ? undefined : this.link.screened(peer, command, start)
  }

  /** Whether a frame is worth a look. */
  private isRead(framed: Framed): framed is Extract<Framed, { readonly type: "frame" }> {
    if (framed.type === "fatal") this.link.disconnect(disconnection(framed.error.message))
    if (framed.type === "dropped") this.link.counters.dropped += 1
    // What comes before the handshake is complete is not even looked at.
    return framed.type === "frame" && (this.link.peer() !== undefined || isHandshakeCommand(framed.command))
  }

  /** Reads a payload, with turns for others; `undefined` for what is left out. */
  private decode(command: string, payload: Bytes): Effect.Effect<Message | undefined> {
    return Effect.gen(this, function*() {
      const steps = decodedInSteps(command, payload)
      for (;;) {
        const step = steps()
        if (step === undefined) {
          yield* this.yieldTurn
          if (this.closed) return undefined
        } else if (!(step instanceof DecodeError)) return step
        else {
          if (step instanceof ProtocolViolation) {
            this.link.disconnect(disconnection(`${command}: ${step.message}`, step.consequence === "misbehaving"))
          }
          return undefined
        }
      }
    })
  }

  /** Waits while the peer is held back, unless it goes away. */
  private readonly whenDue: Effect.Effect<void> = Effect.suspend(() => {
    const { intake, socket } = this.link
    return this.unlessGone(intake.due(socket.ended))
  })

  /** Waits while memory is scarce and the peer holds much of it, unless it goes away. */
  private readonly whenRoom: Effect.Effect<void> = Effect.suspend(() => {
    const { memory, socket } = this.link
    return this.unlessGone(memory.room(socket.ended))
  })

  private unlessGone(waiting: Effect.Effect<boolean>): Effect.Effect<void> {
    return Effect.map(waiting, (there) => {
      if (!there) this.link.disconnect(disconnection("the peer closed the connection"))
    })
  }
}
