import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { Server, Socket } from "node:net"
import { type WebSocket, WebSocketServer } from "ws"
import type { Address } from "../../base/addresses.ts"
import type { Certificate } from "../../base/givenCertificate.ts"
import type { BindFailed } from "../../base/listening.ts"
import { clientAddress, clientBehindProxy } from "../../http/clientAddress.ts"
import { electrumEnded } from "../../metrics/electrumMetrics.ts"
import { REQUEST_BYTES } from "../protocol/limits.ts"
import type { ServedClient } from "../Session.ts"
import type { OpenLink, Sessions } from "../Sessions.ts"
import { Outgoing } from "./Outgoing.ts"
import { listenForElectrum, type StreamParts } from "./streams.ts"

/** Electrum over WebSocket (RFC 6455), for browsers: a message each, without a newline. */

/** Of a text that is too long, and of binary data. */
const TOO_BIG = 1009
const UNSUPPORTED = 1003

const NEWLINE = 0x0a

/** Messages and bytes that wait for their turn before a client that does not wait for answers is paused. */
const WAITING = { messages: 20, bytes: 65_536 }

/**
 * Bytes of waiting messages, and around each of them, that end the session. A paused client gets there only with
 * messages that were in one read with the one that paused it.
 */
const MOST_WAITING = 2 * REQUEST_BYTES
const AROUND = 64

/** Bytes that may wait for a client before its next message has to. */
const LARGEST_UNREAD = 16_384

class WebSocketLink implements OpenLink {
  readonly #socket: WebSocket
  readonly #now: () => number
  readonly #waiting: Array<Buffer> = []
  readonly #outgoing: Outgoing
  #waitingBytes = 0
  #session: ServedClient | undefined
  /** When what may be an unfinished message began, and whether this read began it. */
  #since: number | undefined
  #isNew = false
  #isPumping = false
  #isClosing = false

  constructor(socket: WebSocket, now: () => number) {
    this.#socket = socket
    this.#now = now
    socket.on("error", () => {})
    this.#outgoing = new Outgoing({
      write: ({ bytes, isLast }, done) =>
        socket.send(bytes, { binary: false, fin: isLast }, (error) => {
          if (!(error instanceof Error)) done()
        }),
      emptied: () => {
        if (this.#isClosing) socket.close()
        else this.#pump()
      },
      now
    })
  }

  readonly open = (sessions: Sessions, transport: "ws" | "wss", request: IncomingMessage): void => {
    const { socket } = request
    const session = sessions.open({ transport, address: clientBehindProxy(request) }, this)
    if (session === undefined) return this.#socket.terminate()
    this.#session = session
    // Before the reader of frames, which says when a message is complete.
    socket.prependListener("data", this.#began)
    this.#socket.on("message", this.#received)
    this.#socket.on("ping", this.#controlled)
    this.#socket.on("pong", this.#controlled)
    this.#socket.on("close", (code) => {
      if (code === TOO_BIG) electrumEnded.of("misread").increase()
      sessions.close(session)
    })
  }

  readonly send = (message: string, sent: () => void): void => {
    if (this.#socket.readyState !== this.#socket.OPEN || this.#isClosing) return
    this.#outgoing.send(Buffer.from(message), sent)
  }

  readonly isFull = (): boolean => this.#outgoing.size > LARGEST_UNREAD

  readonly stalledSince = (): number | undefined => this.#outgoing.stalledSince

  readonly close = (): void => {
    this.#isClosing = true
    if (this.#outgoing.size === 0) this.#socket.close()
  }

  readonly destroy = (): void => this.#socket.terminate()

  readonly unfinishedSince = (): number | undefined => this.#since

  readonly ready = (): void => this.#pump()

  readonly #began = (): void => {
    this.#isNew = this.#since === undefined
    this.#since ??= this.#now()
  }

  /** A frame of no message. It may come in the middle of one. */
  readonly #controlled = (): void => {
    if (this.#isNew) this.#since = undefined
  }

  readonly #received = (data: Buffer | ArrayBuffer | Array<Buffer>, isBinary: boolean): void => {
    this.#since = undefined
    if (isBinary || !Buffer.isBuffer(data)) {
      electrumEnded.of("misread").increase()
      return this.#socket.close(UNSUPPORTED)
    }
    this.#waiting.push(data.at(-1) === NEWLINE ? data.subarray(0, -1) : data)
    this.#waitingBytes += data.length + AROUND
    this.#pump()
    if (this.#waitingBytes > MOST_WAITING) this.#session?.end("unread")
  }

  /** Hands over messages while the session takes them. */
  #pump(): void {
    const session = this.#session
    if (session === undefined || this.#isPumping) return
    this.#isPumping = true
    while (!session.isBusy && this.#socket.readyState === this.#socket.OPEN) {
      const message = this.#waiting.shift()
      if (message === undefined) break
      this.#waitingBytes -= message.length + AROUND
      session.take(message)
    }
    this.#isPumping = false
    const isMany = this.#waiting.length > WAITING.messages || this.#waitingBytes > WAITING.bytes
    if (isMany) this.#socket.pause()
    else if (this.#socket.isPaused) this.#socket.resume()
  }
}

const refuse = (_: IncomingMessage, response: ServerResponse): void => {
  electrumEnded.of("misread").increase()
  response.writeHead(426, { connection: "close", upgrade: "websocket" }).end("this server speaks WebSocket\n")
}

/** Milliseconds for the request that opens a connection. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 2_000 }

const SECURE_TIMES = { ...TIMES, handshakeTimeout: 10_000 }

export interface WebSocketOptions {
  readonly address: Address
  /** For TLS. */
  readonly certificate?: Certificate
}

const serverOf = (certificate: Certificate | undefined): Server => {
  if (certificate === undefined) return createServer(TIMES, refuse)
  const server = createSecureServer({ ...SECURE_TIMES, ...certificate.current(), minVersion: "TLSv1.2" }, refuse)
  certificate.onChange((pair) => server.setSecureContext({ ...pair, minVersion: "TLSv1.2" }))
  return server
}

/** Bounds connections from the first byte on: sessions begin with the upgrade. */
const boundConnections = (server: Server, { sessions: most, sessionsPerAddress }: Sessions["limits"]): void => {
  const perAddress = new Map<string, number>()
  server.maxConnections = most
  server.on("connection", (socket: Socket) => {
    const { key, loopback } = clientAddress(socket.remoteAddress)
    const open = perAddress.get(key) ?? 0
    if (!loopback && open >= sessionsPerAddress) {
      electrumEnded.of("sessions").increase()
      return void socket.destroy()
    }
    perAddress.set(key, open + 1)
    socket.once("close", () => {
      const left = (perAddress.get(key) ?? 1) - 1
      if (left === 0) perAddress.delete(key)
      else perAddress.set(key, left)
    })
  })
}

export const serveWebSockets = (
  { address, certificate }: WebSocketOptions,
  { now, sessions }: StreamParts
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  Effect.suspend(() => {
    const sockets = new WebSocketServer({ noServer: true, maxPayload: REQUEST_BYTES, perMessageDeflate: false })
    const server = serverOf(certificate)
    boundConnections(server, sessions.limits)
    const transport = certificate === undefined ? "ws" : "wss"
    server.on("upgrade", (request: IncomingMessage, socket, head: Buffer) => {
      // The times of the server end with the upgrade.
      socket.on("error", () => {})
      sockets.handleUpgrade(request, socket, head, (upgraded) =>
        new WebSocketLink(upgraded, now).open(sessions, transport, request))
    })
    return listenForElectrum(server, address)
  })
