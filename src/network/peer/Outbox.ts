import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import { FRAME_HEADER_SIZE } from "../wire/framing.ts"
import { commandOf, encodePayload, type Message } from "../wire/message.ts"

/** A message that waits for its turn: its payload in parts, which are views where they are long. */
export interface Parcel {
  readonly command: string
  readonly parts: ReadonlyArray<Bytes>
  /** Bytes of the frame. */
  readonly size: number
}

const parcelOf = (message: Message): Parcel => {
  const parts = encodePayload(message)
  let size = FRAME_HEADER_SIZE
  for (const part of parts) size += part.length
  return { command: commandOf(message), parts, size }
}

export interface OutboxLimits {
  /** Bytes from which on `put` waits. */
  readonly soft: number
  /** Bytes above which nothing is added. */
  readonly hard: number
}

/**
 * The messages that a peer is to get, oldest first. What it was handed, and the system has not taken, counts until
 * `delivered` says that it has: so the bound holds for everything that is in memory for the peer.
 */
export class Outbox {
  private readonly limits: OutboxLimits
  private readonly queue: Array<Parcel> = []
  private readonly writers = new Set<() => void>()
  private reader: (() => void) | undefined
  private held = 0
  private closed = false

  constructor(limits: OutboxLimits) {
    this.limits = limits
  }

  /** Bytes that were added and are not delivered. */
  get bytes(): number {
    return this.held
  }

  /** Adds a message; false where the hard limit does not allow for it. */
  add(message: Message): boolean {
    if (this.closed) return true
    const parcel = parcelOf(message)
    // A single message is not refused for its size.
    if (this.held > 0 && this.held + parcel.size > this.limits.hard) return false
    this.queue.push(parcel)
    this.held += parcel.size
    this.reader?.()
    return true
  }

  /** Adds a message when less than the soft limit waits. Does nothing once closed. */
  put(message: Message): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.full) {
        this.add(message)
        return Effect.void
      }
      return Effect.async<void>((resume) => {
        const look = (): void => {
          if (this.full) return
          this.writers.delete(look)
          this.add(message)
          resume(Effect.void)
        }
        this.writers.add(look)
        return Effect.sync(() => void this.writers.delete(look))
      })
    })
  }

  /** Waits for the oldest message and takes it. One fiber takes. */
  readonly take: Effect.Effect<Parcel> = Effect.suspend(() => {
    const first = this.queue.shift()
    return first === undefined ? this.arrival : Effect.succeed(first)
  })

  /** Says that the system has taken bytes of what was taken from here. */
  delivered(bytes: number): void {
    if (this.closed) return
    this.held -= bytes
    for (const look of [...this.writers]) look()
  }

  /** Forgets everything; who waits with a message goes on without it. */
  close(): void {
    this.closed = true
    this.queue.length = 0
    this.held = 0
    for (const look of [...this.writers]) look()
  }

  private get full(): boolean {
    return !this.closed && this.held >= this.limits.soft
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
