import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import type { Disconnection, Peer } from "../Peer.ts"
import { ProtocolViolation } from "../wire/codec.ts"
import { FRAME_HEADER_SIZE, type Framed, FrameParser } from "../wire/framing.ts"
import { decodeInSteps, type Message, payloadLimit } from "../wire/message.ts"
import { type BlockStart, peekBlock } from "../wire/messages/block.ts"
import type { Asked } from "./Asked.ts"
import type { Counters } from "./Counters.ts"
import type { FiberTime } from "./FiberTime.ts"
import { isHandshakeCommand } from "./Handshake.ts"
import type { Intake } from "./Intake.ts"
import { decodedSize, type PeerMemory } from "./PeerMemory.ts"
import type { PeerSocket } from "./PeerSocket.ts"

/** Longest payload accepted before `verack`. */
const HANDSHAKE_PAYLOAD = 1024

export const decoded = <A>(read: () => A): A | DecodeError => {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
}

/** Returns `undefined` while more steps follow. */
const decodedInSteps = (
  command: string,
  payload: Bytes,
  whole: boolean
): () => Message | DecodeError | undefined => {
  const steps = decodeInSteps(command, payload, whole)
  return () =>
    decoded(() => {
      const { done, value } = steps.next()
      return done === true ? value : undefined
    })
}

/**
 * The longest payload per command. Limits are short during the handshake, until `verack` arrives, not until it is
 * handled, as the next message may arrive with it. After that, long answers are accepted only if outstanding.
 */
export const limitByPhase = (asked: Pick<Asked, "owed">): (command: string) => number => {
  let shaken = false
  return (command) => {
    if (command === "verack") shaken = true
    return shaken ? payloadLimit(command, asked.owed) : HANDSHAKE_PAYLOAD
  }
}

/** Bytes parsed at once, so that many short messages do not delay other peers. */
const SLICE = 8_192

/** Milliseconds after which a peer waits for its next turn. */
const STRETCH = 5

export interface TakenTime {
  readonly milliseconds: number
  /** The part that the peer may have caused. */
  readonly its: number
}

export interface ReadingLink {
  readonly magic: Bytes
  readonly socket: PeerSocket
  readonly counters: Counters
  readonly intake: Intake
  readonly memory: PeerMemory
  readonly time: FiberTime
  readonly turn: (bytes: number) => Effect.Effect<void>
  readonly alone: <A>(handling: Effect.Effect<A>) => Effect.Effect<A>
  readonly took: (time: TakenTime) => void
  readonly disconnect: (why: Disconnection) => void
  readonly isClosed: () => boolean
  readonly peer: () => Peer | undefined
  readonly heard: (bytes: number) => void
  readonly screened: (peer: Peer, start: BlockStart) => Effect.Effect<boolean>
  readonly handled: (message: Message) => Effect.Effect<void>
}

/** Messages of small, constant cost, and the most milliseconds charged for one: more is not the peer's fault. */
const LITTLE_MESSAGES: ReadonlySet<string> = new Set(["ping", "pong", "feefilter", "sendheaders", "sendcmpct"])
const LITTLE_SIZE = 64
const LITTLE_COST = 1

/** Maximum milliseconds per handshake message and step. The rest is not the peer's fault. */
const LITTLE_STEP = 1

/** Messages that become many objects. From `LARGE` bytes on, they are decoded one at a time. */
const MANY_OBJECTS: ReadonlySet<string> = new Set(["headers", "addr", "addrv2"])
const LARGE = 16_384

const isLarge = (command: string, payload: Bytes): boolean => payload.length >= LARGE && MANY_OBJECTS.has(command)

const mostOf = (framed: Framed | undefined): number =>
  framed?.type === "frame" && framed.payload.length <= LITTLE_SIZE && LITTLE_MESSAGES.has(framed.command)
    ? LITTLE_COST
    : Infinity

const disconnection = (reason: string, misbehaving = false): Disconnection => ({ reason, misbehaving })

/**
 * Reads a connection. Memory is counted before it is allocated, time as measured.
 *
 *   wait for pace and memory ─▶ bytes ─▶ turn ─▶ frames ─▶ (blocks: screened) ─▶ memory ─▶ decoded ─▶ handled
 *            ▲────────────────────────────────────────────────────────────────────────────────────────┘
 */
export class Reading {
  private readonly link: ReadingLink
  /** Measured milliseconds at the last note, the last charge, and the start of this turn. */
  private noted = 0
  private charged = 0
  private turn = 0
  private greeting = true
  private unread = 0
  /** Maximum milliseconds charged for the current message; `undefined` between messages. */
  private most: number | undefined

  constructor(link: ReadingLink) {
    this.link = link
  }

  readonly run: Effect.Effect<void> = Effect.gen(this, function*() {
    const { heard, intake, magic, memory, socket } = this.link
    const parser = new FrameParser(magic, { limitOf: limitByPhase(intake.asked), memory: memory.frames })
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

  private nextTurn(bytes: number): Effect.Effect<void> {
    return Effect.map(this.link.turn(bytes), () => {
      this.turn = this.link.time.ran
    })
  }

  /** Runs when the fiber suspends, so that the next fibers of this turn see its time. */
  paused(): void {
    this.note()
  }

  private note(): number {
    const { time, took } = this.link
    const { ran } = time
    const most = this.greeting ? LITTLE_STEP : this.most ?? LITTLE_STEP
    const milliseconds = ran - this.noted
    took({ milliseconds, its: Math.min(most, milliseconds) })
    this.noted = ran
    return ran
  }

  private charge(uncalled: boolean): void {
    const { intake } = this.link
    const ran = this.note()
    const milliseconds = Math.min(this.most ?? Infinity, ran - this.charged)
    this.charged = ran
    if (this.greeting) intake.greeted(milliseconds)
    else if (uncalled) intake.spent(milliseconds)
    else intake.trusts(milliseconds)
  }

  private readonly yieldTurn: Effect.Effect<void> = Effect.suspend(() =>
    this.note() - this.turn > STRETCH ? this.nextTurn(this.unread) : Effect.void
  )

  readonly within: Effect.Effect<void> = Effect.suspend(() => {
    this.charge(true)
    return Effect.zipRight(this.whenDue, this.yieldTurn)
  })

  private takeAll(frames: ReadonlyArray<Framed>): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      // Removed one by one, so that no frame or message stays in memory while the peer waits for its turn.
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

  /** Returns whether the frame was unsolicited. */
  private takeNext(waiting: Array<Framed>): Effect.Effect<boolean> {
    const framed = waiting.pop()
    if (framed === undefined) return Effect.succeed(false)
    this.count(framed)
    if (!this.isRead(framed)) return Effect.succeed(this.link.intake.uncalled(undefined))
    const { command, payload } = framed
    const screen = this.screen(command, payload)
    if (screen === undefined) return this.hold(command, payload)
    return Effect.flatMap(screen, (passed) => passed ? this.hold(command, payload) : Effect.succeed(this.drop()))
  }

  /** Counts the message's memory. Returns whether it was unsolicited. */
  private hold(command: string, payload: Bytes): Effect.Effect<boolean> {
    let uncalled = true
    const handling = this.link.memory.holding(
      decodedSize(command, payload, this.keepsWhole),
      () =>
        Effect.map(this.decodeAndHandle(command, payload), (its) => {
          uncalled = its
        })
    )
    return Effect.map(isLarge(command, payload) ? this.link.alone(handling) : handling, (held) => {
      if (!held) this.link.disconnect(disconnection(`out of memory budget: a message of type ${command}`))
      return uncalled
    })
  }

  private drop(): boolean {
    this.link.counters.dropped += 1
    return this.link.intake.uncalled(undefined)
  }

  private decodeAndHandle(command: string, payload: Bytes): Effect.Effect<boolean> {
    return Effect.flatMap(this.decode(command, payload), (message) => {
      if (message === undefined) return Effect.succeed(this.drop())
      const uncalled = this.link.intake.uncalled(message)
      return Effect.as(this.link.handled(message), uncalled)
    })
  }

  private get keepsWhole(): boolean {
    return this.link.peer()?.permissions.has("relay") === true
  }

  private count(framed: Framed): void {
    if (framed.type === "fatal") return
    const size = framed.type === "frame" ? framed.payload.length : framed.size
    this.link.counters.messageReceived(framed.command, FRAME_HEADER_SIZE + size)
  }

  /** `undefined` for other messages and an undecodable start. */
  private screen(command: string, payload: Bytes): Effect.Effect<boolean> | undefined {
    const peer = this.link.peer()
    if (peer === undefined || (command !== "block" && command !== "cmpctblock")) return undefined
    const start = decoded(() => peekBlock(command, payload))
    return start instanceof DecodeError ? undefined : this.link.screened(peer, start)
  }

  private isRead(framed: Framed): framed is Extract<Framed, { readonly type: "frame" }> {
    if (framed.type === "fatal") this.link.disconnect(disconnection(framed.error.message))
    if (framed.type === "dropped") this.link.counters.dropped += 1
    // Before the end of the handshake, other messages are not even decoded.
    return framed.type === "frame" && (this.link.peer() !== undefined || isHandshakeCommand(framed.command))
  }

  /** Gives other peers turns; `undefined` for a dropped message. */
  private decode(command: string, payload: Bytes): Effect.Effect<Message | undefined> {
    const steps = decodedInSteps(command, payload, this.keepsWhole)
    const next: Effect.Effect<Message | undefined> = Effect.suspend(() => {
      const step = steps()
      if (step === undefined) {
        return Effect.flatMap(this.yieldTurn, () => this.closed ? Effect.succeed(undefined) : next)
      }
      if (!(step instanceof DecodeError)) return Effect.succeed(step)
      if (step instanceof ProtocolViolation) {
        this.link.disconnect(disconnection(`${command}: ${step.message}`, step.consequence === "misbehaving"))
      }
      return Effect.succeed(undefined)
    })
    return next
  }

  private readonly whenDue: Effect.Effect<void> = Effect.suspend(() => {
    const { intake, socket } = this.link
    return this.unlessGone(intake.due(socket.ended))
  })

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
