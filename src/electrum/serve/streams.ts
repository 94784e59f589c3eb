import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type Socket } from "node:net"
import type { Address } from "../../base/addresses.ts"
import { type BindFailed, listenOn } from "../../base/listening.ts"
import { clientAddress } from "../../http/clientAddress.ts"
import { electrumEnded } from "../../metrics/electrumMetrics.ts"
import { REQUEST_BYTES } from "../protocol/limits.ts"
import { LineFrames } from "../protocol/LineFrames.ts"
import type { ServedClient } from "../Session.ts"
import type { OpenLink, Sessions } from "../Sessions.ts"
import { Outgoing } from "./Outgoing.ts"

/** Electrum over TCP and TLS: a message a line. */

/** The first byte of a TLS record with a handshake (RFC 8446, section 5.1): nothing that begins a line of JSON. */
const TLS_HANDSHAKE = 0x16

/** Bytes that may wait for a client before its next message has to. */
const LARGEST_WAITING = 16_384

/** Bytes of messages that may wait for their turn. */
const WAITING = REQUEST_BYTES

/** Frees the port. Its connections close with their own scope. */
export const listenForElectrum = (server: Server, address: Address): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  Effect.acquireRelease(listenOn(server, address, "Electrum"), () => Effect.sync(() => void server.close()))

/** One client over TCP or TLS. */
class StreamLink implements OpenLink {
  readonly #socket: Socket
  readonly #now: () => number
  readonly #frames = new LineFrames(REQUEST_BYTES)
  #session: ServedClient | undefined
  /** When the unfinished line, or the TLS handshake, began. */
  #since: number | undefined
  readonly #outgoing: Outgoing
  #isPumping = false
  #isFirst = true
  #hasEnded = false
  #isClosing = false
  #isGathering = false

  constructor(socket: Socket, now: () => number) {
    this.#socket = socket
    this.#now = now
    socket.on("error", () => {})
    this.#outgoing = new Outgoing({
      write: ({ bytes }, done) => this.#write(bytes, done),
      emptied: () => {
        if (this.#isClosing) socket.destroySoon()
        else this.ready()
      },
      now
    })
  }

  readonly open = (sessions: Sessions, transport: "tcp" | "tls"): void => {
    const socket = this.#socket
    const { remoteAddress, remotePort } = socket
    const session = sessions.open({ transport, address: clientAddress(remoteAddress, remotePort) }, this)
    if (session === undefined) return void socket.destroy()
    this.#session = session
    if (transport === "tls") {
      this.#since = this.#now()
      socket.once("secure", () => {
        this.#since = undefined
      })
    }
    socket.on("data", this.#received)
    // A client may close its side once it has asked.
    socket.on("end", () => {
      this.#hasEnded = true
      this.#pump()
    })
    socket.on("close", () => sessions.close(session))
  }

  readonly send = (message: string, sent: () => void): void => {
    if (this.#socket.writable && !this.#isClosing) this.#outgoing.send(Buffer.from(`${message}\n`), sent)
  }

  readonly isFull = (): boolean => this.#outgoing.size > LARGEST_WAITING

  readonly stalledSince = (): number | undefined => this.#outgoing.stalledSince

  readonly close = (): void => {
    this.#isClosing = true
    if (this.#outgoing.size === 0) this.#socket.destroySoon()
  }

  readonly destroy = (): void => void this.#socket.destroy()

  readonly unfinishedSince = (): number | undefined => this.#since

  readonly ready = (): void => this.#pump()

  /** The rest of a turn goes out with one call of the system: notifications come in hundreds. */
  #write(bytes: Buffer, done: () => void): void {
    const socket = this.#socket
    socket.write(bytes, (error) => {
      if (!(error instanceof Error)) done()
    })
    if (this.#isGathering) return
    this.#isGathering = true
    socket.cork()
    queueMicrotask(() => {
      this.#isGathering = false
      socket.uncork()
    })
  }

  readonly #received = (piece: Buffer): void => {
    if (this.#isFirst) {
      this.#isFirst = false
      if (piece[0] === TLS_HANDSHAKE) {
        electrumEnded.of("misread").increase()
        return this.destroy()
      }
    }
    const wasUnfinished = this.#frames.isUnfinished
    this.#frames.push(piece)
    if (!this.#frames.isUnfinished) this.#since = undefined
    else if (!wasUnfinished || piece.includes(0x0a)) this.#since = this.#now()
    this.#pump()
  }

  /** Hands over messages while the session takes them. */
  #pump(): void {
    const session = this.#session
    if (session === undefined || this.#isPumping) return
    this.#isPumping = true
    while (!session.isBusy && !this.#socket.destroyed) {
      const message = this.#frames.next()
      if (message === undefined) break
      session.take(message)
    }
    this.#isPumping = false
    if (this.#frames.isTooLong && !session.isBusy) return session.end("misread")
    if (this.#hasEnded && !session.isBusy) this.close()
    if (this.#frames.size > WAITING) this.#socket.pause()
    else this.#socket.resume()
  }
}

/** A secured socket is half open where the one below is. */
const SERVER_OPTIONS = { noDelay: true, allowHalfOpen: true }

export interface StreamParts {
  readonly sessions: Sessions
  /** Milliseconds. */
  readonly now: () => number
}

export const serveLines = (
  address: Address,
  { now, sessions }: StreamParts
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  listenForElectrum(
    createServer(SERVER_OPTIONS, (socket) => new StreamLink(socket, now).open(sessions, "tcp")),
    address
  )

/** `secured` wraps an accepted socket. */
export const serveSecureLines = (
  { address, secured }: { readonly address: Address; readonly secured: (socket: Socket) => Socket },
  { now, sessions }: StreamParts
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  listenForElectrum(
    createServer(SERVER_OPTIONS, (socket) => new StreamLink(secured(socket), now).open(sessions, "tls")),
    address
  )
