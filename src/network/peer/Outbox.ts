import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { encodeFrame } from "../wire/framing.ts"
import { commandOf, encodePayload, type Message } from "../wire/message.ts"

/** Encoded, so that its objects need not stay in memory. */
export interface Parcel {
  readonly command: string
  readonly frame: Bytes
}

export interface OutboxLimits {
  readonly soft: number
  readonly hard: number
}

export interface OutboxMemory {
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  /** Waits at most some seconds while memory is scarce and this peer holds more than its share. */
  readonly room: Effect.Effect<void>
}

/** Share of the soft limit below which `ready` completes, so that there is always data to send. */
const READY = 0.25

/** The send queue of a peer. Bytes passed to the system count until `delivered` confirms them. */
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

  get bytes(): number {
    return this.held
  }

  /** False if the hard limit or the memory of all peers does not allow it. */
  add(message: Message): boolean {
    if (this.closed) return true
    const command = commandOf(message)
    const frame = encodeFrame(this.magic, command, encodePayload(message))
    // A single message is never refused for its size.
    if (this.held > 0 && this.held + frame.length > this.limits.hard) return false
    if (!this.memory.take(frame.length)) return false
    this.queue.push({ command, frame })
    this.held += frame.length
    this.reader?.()
    return true
  }

  /** Waits for less than the soft limit; false if out of memory. No-op once closed. */
  put(message: Message): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const { soft } = this.limits
      if (this.isBelow(soft)) return Effect.succeed(this.add(message))
      return Effect.zipRight(this.whenBelow(soft), this.put(message))
    })
  }

  /** Waits until the queue is nearly empty, then for `room`. */
  readonly ready: Effect.Effect<void> = Effect.suspend(() => {
    const low = READY * this.limits.soft
    return Effect.zipRight(this.isBelow(low) ? Effect.void : this.whenBelow(low), this.memory.room)
  })

  /** Only one fiber may take. */
  readonly take: Effect.Effect<Parcel> = Effect.suspend(() => {
    const first = this.queue.shift()
    return first === undefined ? this.arrival : Effect.succeed(first)
  })

  delivered(bytes: number): void {
    if (this.closed) return
    this.held -= bytes
    this.memory.give(bytes)
    for (const look of [...this.writers]) look()
  }

  /** Waiting senders continue without their messages. */
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
