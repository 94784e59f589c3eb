import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { encodeFrame } from "../wire/framing.ts"
import { commandOf, encodePayload, type Message } from "../wire/message.ts"

/** A message that waits for its turn, as its frame: what it was made of need not be kept. */
export interface Parcel {
  readonly command: string
  readonly frame: Bytes
}

export interface OutboxLimits {
  /** Bytes from which on `put` waits. */
  readonly soft: number
  /** Bytes above which nothing is added. */
  readonly hard: number
}

/** Where bytes that wait are counted, for all peers together. */
export interface OutboxMemory {
  /** False where there is no room for them. */
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  /** Waits while room is scarce and this peer has more than its part of it, some seconds at most. */
  readonly room: Effect.Effect<void>
}

/** `ready` waits for less than this part of the soft limit, so that there is always something to send. */
const READY = 0.25

/**
 * The messages that a peer is to get, oldest first. What it was handed, and the system has not taken, counts until
 * `delivered` says that it has: so the bound holds for everything that is in memory for the peer.
 */
export class Outbox {
  private readonly magic: Bytes
  private readonly limits: OutboxLimits
  private readonly memory: OutboxMemory
  private readonly queue: Array<Parcel> = []
  private readonly writers = new Set<() => void>()
  private reader: (() => void) | undefined
  private held = 0
  private closed = false

  constructor(magic: Bytes, limits: OutboxLimits, memory: OutboxMemory) {
    this.magic = magic
    this.limits = limits
    this.memory = memory
  }

  /** Bytes that were added and are not delivered. */
  get bytes(): number {
    return this.held
  }

  /** Adds a message; false where the hard limit or the memory of all peers does not allow for it. */
  add(message: Message): boolean {
    if (this.closed) return true
    const command = commandOf(message)
    const frame = encodeFrame(this.magic, command, encodePayload(message))
    // A single message is not refused for its size.
    if (this.held > 0 && this.held + frame.length > this.limits.hard) return false
    if (!this.memory.take(frame.length)) return false
    this.queue.push({ command, frame })
    this.held += frame.length
    this.reader?.()
    return true
  }

  /** Adds a message when less than the soft limit waits; false where there is no memory for it. Does nothing once closed. */
  put(message: Message): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const { soft } = this.limits
      if (this.isBelow(soft)) return Effect.succeed(this.add(message))
      return Effect.zipRight(this.whenBelow(soft), this.put(message))
    })
  }

  /**
   * Waits until little is left of what was added; and some seconds at most while memory is scarce, if this peer has more
   * than its part of it. Then the next message decides who has to make room.
   */
  readonly ready: Effect.Effect<void> = Effect.suspend(() => {
    const low = READY * this.limits.soft
    return Effect.zipRight(this.isBelow(low) ? Effect.void : this.whenBelow(low), this.memory.room)
  })

  /** Waits for the oldest message and takes it. One fiber takes. */
  readonly take: Effect.Effect<Parcel> = Effect.suspend(() => {
    const first = this.queue.shift()
    return first === undefined ? this.arrival : Effect.succeed(first)
  })

  /** Says that the system has taken bytes of what was taken from here. */
  delivered(bytes: number): void {
    if (this.closed) return
    this.held -= bytes
    this.memory.give(bytes)
    for (const look of [...this.writers]) look()
  }

  /** Forgets everything; who waits with a message goes on without it. */
  close(): void {
    if (this.closed) return
    this.closed = true
    this.queue.length = 0
    this.memory.give(this.held)
    this.held = 0
    for (const look of [...this.writers]) look()
  }

  private isBelow(limit: number): boolean {
    return this.closed || this.held < limit
  }

  private whenBelow(limit: number): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const look = (): void => {
        if (!this.isBelow(limit)) return
        this.writers.delete(look)
        resume(Effect.void)
      }
      this.writers.add(look)
      look()
      return Effect.sync(() => void this.writers.delete(look))
    })
  }

  private readonly arrival: Effect.Effect<Parcel> = Effect.async((resume) => {
    this.reader = () => {
      const first = this.queue.shift()
      if (first === undefined) return
      this.reader = undefined
      resume(Effect.succeed(first))
    }
    return Effect.sync(() => {
      this.reader = undefined
    })
  })
}
