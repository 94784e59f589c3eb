import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { Server, Socket } from "node:net"
import { type WebSocket, WebSocketServer } from "ws"
import type { Address } from "../../base/addresses.ts"
import type { Certificate } from "../../base/givenCertificate.ts"
import type { BindFailed } from "../../base/listening.ts"
import { clientAddress } from "../../http/clientAddress.ts"
import { electrumEnded } from "../../metrics/electrumMetrics.ts"
import { REQUEST_BYTES } from "../protocol/limits.ts"
import type { ServedClient } from "../Session.ts"
import type { OpenLink, Sessions } from "../Sessions.ts"
import { listenForElectrum } from "./streams.ts"

/** Electrum over WebSocket (RFC 6455), for browsers: a message each, without a newline. */

/** Of a text that is too long, and of binary data. */
const TOO_BIG = 1009
const UNSUPPORTED = 1003

const NEWLINE = 0x0a

/** Messages that wait for their turn. A client that sends more does not wait for answers, and is paused. */
const WAITING = 20

class WebSocketLink implements OpenLink {
  readonly #socket: WebSocket
  readonly #waiting: Array<Buffer> = []
  #session: ServedClient | undefined
  #below: Socket | undefined

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on("error", () => {})
  }

  readonly open = (sessions: Sessions, transport: "ws" | "wss", request: IncomingMessage): void => {
    const { remoteAddress, remotePort } = request.socket
    const session = sessions.open({ transport, address: clientAddress(remoteAddress, remotePort) }, this)
    if (session === undefined) return this.#socket.terminate()
    this.#session = session
    this.#socket.on("message", this.#received)
    this.#below = request.socket
    request.socket.on("drain", this.ready)
    this.#socket.on("close", (code) => {
      if (code === TOO_BIG) electrumEnded.of("misread").increase()
      sessions.close(session)
    })
  }

  readonly send = (message: string): void => {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(message)
  }

  readonly unread = (): number => this.#socket.bufferedAmount

  readonly isFull = (): boolean => this.#below?.writableNeedDrain === true

  readonly close = (): void => this.#socket.close()

  readonly destroy = (): void => this.#socket.terminate()

  readonly unfinishedSince = (): number | undefined => undefined

  readonly ready = (): void => this.#pump()

  readonly #received = (data: Buffer | ArrayBuffer | Array<Buffer>, isBinary: boolean): void => {
    if (isBinary || !Buffer.isBuffer(data)) {
      electrumEnded.of("misread").increase()
      return this.#socket.close(UNSUPPORTED)
    }
    this.#waiting.push(data.at(-1) === NEWLINE ? data.subarray(0, -1) : data)
    if (this.#waiting.length > WAITING) this.#socket.pause()
    this.#pump()
  }

  #pump(): void {
    const session = this.#session
    while (session !== undefined && !session.isBusy) {
      const message = this.#waiting.shift()
      if (message === undefined) break
      session.take(message)
    }
    if (this.#waiting.length <= WAITING && this.#socket.isPaused) this.#socket.resume()
  }
}

const refuse = (_: IncomingMessage, response: ServerResponse): void => {
  electrumEnded.of("misread").increase()
  response.writeHead(426, { connection: "close", upgrade: "websocket" }).end("this server speaks WebSocket\n")
}

/** Milliseconds for the request that opens a connection. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 2_000 }

export interface WebSocketOptions {
  readonly address: Address
  /** For TLS. */
  readonly certificate?: Certificate
}

const serverOf = (certificate: Certificate | undefined): Server => {
  if (certificate === undefined) return createServer(TIMES, refuse)
  const server = createSecureServer({ ...TIMES, ...certificate.current(), minVersion: "TLSv1.2" }, refuse)
  certificate.onChange((pair) => server.setSecureContext({ ...pair, minVersion: "TLSv1.2" }))
  return server
}

export const serveWebSockets = (
  { address, certificate }: WebSocketOptions,
  sessions: Sessions
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  Effect.suspend(() => {
    const sockets = new WebSocketServer({ noServer: true, maxPayload: REQUEST_BYTES, perMessageDeflate: false })
    const server = serverOf(certificate)
    const transport = certificate === undefined ? "ws" : "wss"
    server.on("upgrade", (request: IncomingMessage, socket, head: Buffer) => {
      // The times of the server end with the upgrade.
      socket.on("error", () => {})
      sockets.handleUpgrade(request, socket, head, (upgraded) =>
        new WebSocketLink(upgraded).open(sessions, transport, request))
    })
    return listenForElectrum(server, address)
  })
