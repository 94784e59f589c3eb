import * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import type { PeerStream } from "../connect/Transport.ts"

/** Bytes per write, so that a slow peer shows progress within a block. */
const SLICE = 0x10000

/** Bytes read ahead to detect a disconnection. */
const AHEAD = 0x10000

/** A stream read only on request; otherwise Node's and the system's buffers fill, and the peer must wait. */
export class PeerSocket {
  private readonly socket: PeerStream
  private readonly wake = new Set<() => void>()
  private over = false
  private ahead: Array<Bytes> = []

  /** Takes over a connected socket. `onClose` runs once, with the reason if there is one. */
  constructor(socket: PeerStream, onClose: (reason: string | undefined) => void) {
    this.socket = socket
    let reason: string | undefined
    const wakeAll = (): void => {
      for (const look of [...this.wake]) look()
    }
    socket.setNoDelay(true)
    socket.on("readable", wakeAll).on("end", wakeAll)
    socket.on("error", (error) => {
      reason = error.code ?? error.message
    })
    socket.on("close", () => {
      this.over = true
      wakeAll()
      onClose(reason)
    })
    if (socket.destroyed) {
      this.over = true
      queueMicrotask(() => onClose(reason))
    }
  }

  get unsent(): number {
    return this.socket.writableLength
  }

  /** `undefined` when the peer stops sending. */
  readonly read: Effect.Effect<Bytes | undefined> = Effect.suspend(() => {
    const found = this.poll()
    return found === WAIT ? this.whenWoken : Effect.succeed(found)
  })

  /** Waits until the peer stops sending, without a reader. Reads a little ahead, as the end comes after all bytes. */
  readonly ended: Effect.Effect<void> = Effect.async<void>((resume) => {
    const look = (): void => {
      if (!this.lookAhead()) return
      this.wake.delete(look)
      resume(Effect.void)
    }
    this.wake.add(look)
    look()
    return Effect.sync(() => void this.wake.delete(look))
  })

  /** Waits until the system accepted the bytes or the connection closed. `onTaken` gets each accepted size. */
  write(bytes: Bytes, onTaken: (size: number) => void): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      let at = 0
      const next = (): void => {
        if (this.over || this.socket.destroyed || at === bytes.length) {
          this.wake.delete(ended)
          return resume(Effect.void)
        }
        const slice = bytes.subarray(at, at + SLICE)
        at += slice.length
        this.socket.write(slice, (error) => {
          if (error === undefined || error === null) onTaken(slice.length)
          next()
        })
      }
      const ended = (): void => {
        if (this.over) next()
      }
      this.wake.add(ended)
      next()
      return Effect.sync(() => void this.wake.delete(ended))
    })
  }

  destroy(): void {
    this.socket.destroy()
  }

  private lookAhead(): boolean {
    for (let held = this.ahead.reduce((sum, { length }) => sum + length, 0); held < AHEAD;) {
      const found = this.pull()
      if (found === undefined) return true
      if (found === WAIT) return false
      held += found.length
      this.ahead.push(found)
    }
    return this.over || this.socket.readableEnded || this.socket.destroyed
  }

  private poll(): Bytes | undefined | typeof WAIT {
    if (this.over) return undefined
    return this.ahead.shift() ?? this.pull()
  }

  private pull(): Bytes | undefined | typeof WAIT {
    if (this.over) return undefined
    const chunk = this.socket.read()
    if (chunk !== null) return chunk
    return this.socket.readableEnded || this.socket.destroyed ? undefined : WAIT
  }

  private readonly whenWoken: Effect.Effect<Bytes | undefined> = Effect.async((resume) => {
    const look = (): void => {
      const found = this.poll()
      if (found === WAIT) return
      this.wake.delete(look)
      resume(Effect.succeed(found))
    }
    this.wake.add(look)
    look()
    return Effect.sync(() => void this.wake.delete(look))
  })
}

const WAIT = Symbol("wait")
