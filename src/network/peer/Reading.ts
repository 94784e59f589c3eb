import * as Effect from "effect/Effect"
import type { BlockHeader } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import type { Farewell, Peer } from "../Peer.ts"
import { ProtocolViolation } from "../wire/codec.ts"
import { FRAME_HEADER_SIZE, type Framed, FrameParser, MAX_PAYLOAD } from "../wire/framing.ts"
import type { Message } from "../wire/message.ts"
import { peekHeader } from "../wire/messages/block.ts"
import type { Counters } from "./Counters.ts"
import { decoded, decodedMessage, payloadLimits } from "./decoding.ts"
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
  /** Waits for a turn in the line of all peers. */
  readonly turn: Effect.Effect<void>
  /** Hears of time that was taken, milliseconds: whether or not the peer was asked for what it went into. */
  readonly took: (milliseconds: number) => void
  readonly disconnect: (why: Farewell) => void
  readonly isClosed: () => boolean
  /** Once the handshake is complete. */
  readonly peer: () => Peer | undefined
  /** Bytes came. */
  readonly heard: (bytes: number) => void
  /** Whether a block is worth decoding, by its header. */
  readonly screened: (peer: Peer, type: "block" | "cmpctblock", header: BlockHeader) => Effect.Effect<boolean>
  readonly handled: (message: Message) => Effect.Effect<void>
}

const farewell = (reason: string, misbehaving = false): Farewell => ({ reason, misbehaving })

/**
 * Reads a connection: bytes, frames, messages. Each step is counted: memory in the account of the peer before it is
 * taken, time in its pace as it was measured.
 *
 *   wait for pace and memory ─▶ bytes ─▶ turn ─▶ frames ─▶ (blocks: screened by their header) ─▶ decoded ─▶ handled
 *            ▲────────────────────────────────────────────────────────────────────────────────────────────────┘
 */
export class Reading {
  private readonly link: ReadingLink
  /** What was measured up to the last look, and to the beginning of this turn, milliseconds. */
  private looked = 0
  private turn = 0

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
      if (chunk === undefined) return this.link.disconnect(farewell("the peer went away"))
      yield* this.nextTurn
      heard(chunk.length)
      const expected = intake.arrived(chunk.length)
      for (let at = 0; at < chunk.length && !this.closed; at += SLICE) {
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
  private readonly nextTurn: Effect.Effect<void> = Effect.suspend(() =>
    Effect.map(this.link.turn, () => {
      this.turn = this.link.time.ran
    })
  )

  /** Charges for what ran since the last look. */
  private charge(uncalled: boolean): void {
    const { intake, time, took } = this.link
    const { ran } = time
    const milliseconds = ran - this.looked
    this.looked = ran
    took(milliseconds)
    if (uncalled) intake.spent(milliseconds)
  }

  /** Handles frames one after the other. */
  private takeAll(frames: ReadonlyArray<Framed>): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      // Taken out one by one: neither a frame nor its message is held while the peer waits for its turn.
      const waiting = [...frames].reverse()
      while (waiting.length > 0 && !this.closed) {
        const uncalled = yield* this.takeNext(waiting)
        this.charge(uncalled)
        if (uncalled) yield* this.whenDue
        if (this.link.time.ran - this.turn > STRETCH) yield* this.nextTurn
      }
    })
  }

  /** Reads and handles the last frame of a list. Returns whether nobody asked for it. */
  private takeNext(waiting: Array<Framed>): Effect.Effect<boolean> {
    return Effect.gen(this, function*() {
      const { counters, disconnect, handled, intake, memory } = this.link
      const framed = waiting.pop()
      if (framed === undefined) return false
      this.count(framed)
      const screen = this.screen(framed)
      if (screen !== undefined && !(yield* screen)) {
        counters.dropped += 1
        return intake.uncalled(undefined)
      }
      const message = this.take(framed)
      const uncalled = intake.uncalled(message)
      if (message === undefined) return uncalled
      const size = decodedSize(message, framed.type === "frame" ? framed.payload.length : 0)
      const held = yield* memory.holding(size, () => handled(message))
      if (!held) disconnect(farewell(`no memory is left for a message of type ${message.type}`))
      return uncalled
    })
  }

  private count(framed: Framed): void {
    if (framed.type === "fatal") return
    const size = framed.type === "frame" ? framed.payload.length : framed.size
    this.link.counters.messageReceived(framed.command, FRAME_HEADER_SIZE + size)
  }

  /** What decides whether a block is decoded at all; `undefined` for anything else, and for a header that cannot be read. */
  private screen(framed: Framed): Effect.Effect<boolean> | undefined {
    const peer = this.link.peer()
    if (peer === undefined || framed.type !== "frame") return undefined
    const { command, payload } = framed
    if (command !== "block" && command !== "cmpctblock") return undefined
    const header = decoded(() => peekHeader(payload))
    return header instanceof DecodeError ? undefined : this.link.screened(peer, command, header)
  }

  /** Reads what came; `undefined` for what is left out. */
  private take(framed: Framed): Message | undefined {
    const { counters, disconnect } = this.link
    if (framed.type === "fatal") {
      disconnect(farewell(framed.error.message))
      return undefined
    }
    if (framed.type === "dropped") {
      counters.dropped += 1
      return undefined
    }
    // What comes before the handshake is complete is not even looked at.
    if (this.link.peer() === undefined && !isHandshakeCommand(framed.command)) return undefined
    const message = decodedMessage(framed.command, framed.payload)
    if (!(message instanceof DecodeError)) return message
    counters.dropped += 1
    if (message instanceof ProtocolViolation) {
      disconnect(farewell(`${framed.command}: ${message.message}`, message.consequence === "misbehaving"))
    }
    return undefined
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
      if (!there) this.link.disconnect(farewell("the peer went away"))
    })
  }
}
