import * as Effect from "effect/Effect"
import type { Socket } from "node:net"
import type { Bytes } from "../../protocol/bytes.ts"

/** Bytes that are handed to the system at once, so that a slow peer shows progress while it takes a block. */
const SLICE = 0x10000

/**
 * A TCP socket as two operations that wait. Bytes are read when somebody asks for them and not before: as long as
 * nobody does, Node holds one buffer, then the system's fills, and then the peer has to wait.
 */
export class PeerSocket {
  private readonly socket: Socket
  private readonly wake = new Set<() => void>()
  private over = false

  /** Takes over a connected socket. `onClose` is told once, and why where there is a reason. */
  constructor(socket: Socket, onClose: (reason: string | undefined) => void) {
    this.socket = socket
    let reason: string | undefined
    const wakeAll = (): void => {
      for (const look of [...this.wake]) look()
    }
    socket.setNoDelay(true)
    socket.on("readable", wakeAll).on("end", wakeAll)
    socket.on("error", (error: NodeJS.ErrnoException) => {
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

  /** Bytes that the system has not taken yet. */
  get unsent(): number {
    return this.socket.writableLength
  }

  /** Waits for bytes; `undefined` when the peer sends no more. */
  readonly read: Effect.Effect<Bytes | undefined> = Effect.suspend(() => {
    const found = this.poll()
    return found === WAIT ? this.whenWoken : Effect.succeed(found)
  })

  /** Waits until the system has taken the bytes, or the connection is over. `onTaken` is told of each part taken. */
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

  /** Ends the connection and forgets what was not sent. */
  destroy(): void {
    this.socket.destroy()
  }

  private poll(): Bytes | undefined | typeof WAIT {
    if (this.over) return undefined
    const chunk: unknown = this.socket.read()
    if (chunk instanceof Uint8Array) return chunk
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

/** Nothing has come yet. */
const WAIT = Symbol("wait")
