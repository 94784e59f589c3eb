import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2"
import type { Server, Socket } from "node:net"
import { type Address, forwardedFor, isLoopback } from "../../base/addresses.ts"
import type { Certificate } from "../../base/givenCertificate.ts"
import type { BindFailed } from "../../base/listening.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { DnsClient, DnsReply } from "../Responder.ts"
import { HEADER_BYTES, MAX_MESSAGE_BYTES } from "../wire/codes.ts"
import { dnsClient } from "./client.ts"
import type { ClientConnection, ClientConnections } from "./ClientConnections.ts"
import { DNS_TYPE, LARGE_MESSAGE, readHttpQuestion, type WebRefusal } from "./httpQuestion.ts"
import { leastTtl } from "./leastTtl.ts"
import { dropped, type Serving } from "./serving.ts"
import { listenScoped } from "./streams.ts"

/** DNS over HTTPS (RFC 8484), with HTTP/2 or HTTP/1.1, and over HTTP for a proxy in front. */

type Request = Http2ServerRequest | IncomingMessage
type Response = Http2ServerResponse | ServerResponse

interface WebServer {
  readonly serving: Serving
  readonly open: ClientConnections
}

/** One socket with the requests on it. */
class WebConnection implements ClientConnection {
  readonly #socket: Socket
  working = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  readonly isWorking = (): boolean => this.working > 0
  readonly destroy = (): void => void this.#socket.destroy()
}

interface WebReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Bytes
}

const send = (response: Response, { body, headers, status }: WebReply): void => {
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, { "content-length": String(body.length), ...headers })
  if (response.req.method === "HEAD") response.end()
  else response.end(body)
}

const refuse = (response: Response, { headers, status, text }: WebRefusal): void =>
  send(response, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
    body: Buffer.from(`${text}\n`)
  })

const NO_QUESTION: WebRefusal = { status: 400, text: "the message is not a DNS question" }
const BUSY: WebRefusal = { status: 503, text: "too many questions at once", headers: { "retry-after": "1" } }

const sendAnswer = (response: Response, answer: Bytes): void =>
  send(response, {
    status: 200,
    headers: { "content-type": DNS_TYPE, "cache-control": `max-age=${leastTtl(answer)}` },
    body: answer
  })

const sendReply = (response: Response, reply: DnsReply): void => {
  if (reply._tag === "Message") return sendAnswer(response, reply.bytes)
  // A transfer needs a connection of its own: RFC 8484 has no place for several messages.
  if (reply._tag === "Drop") dropped("other")
  refuse(response, NO_QUESTION)
}

/** Reads a body within the limit. Nothing is called for one that ends early. */
const readBody = (request: Request, response: Response, use: (body: Bytes) => void): void => {
  const pieces: Array<Buffer> = []
  let length = 0
  request.on("data", (piece: Buffer) => {
    length += piece.length
    if (length <= MAX_MESSAGE_BYTES) return void pieces.push(piece)
    pieces.length = 0
    refuse(response, LARGE_MESSAGE)
  })
  request.on("end", () => {
    if (length <= MAX_MESSAGE_BYTES) use(Buffer.concat(pieces))
  })
}

/**
 * Who asks. A proxy on this machine names its client last in X-Forwarded-For; without that, all of its clients would
 * have the rights of this machine.
 */
const clientOf = (request: Request): DnsClient => {
  const { remoteAddress, remotePort } = request.socket
  const client = dnsClient("https", { address: remoteAddress, port: remotePort })
  const forwarded = isLoopback(client.address) ? forwardedFor(request.headers["x-forwarded-for"]) : undefined
  return forwarded === undefined ? client : dnsClient("https", { address: forwarded, port: remotePort })
}

interface Asked {
  readonly client: DnsClient
  readonly connection: WebConnection
  readonly response: Response
}

const answer = ({ serving }: WebServer, { client, connection, response }: Asked, query: Bytes): void => {
  if (query.length < HEADER_BYTES) {
    dropped("short")
    return refuse(response, NO_QUESTION)
  }
  const hit = serving.atOnce(query, client)
  if (hit !== undefined) return sendAnswer(response, hit)
  connection.working += 1
  const fiber = serving.answer(query, client, (reply) => Effect.sync(() => sendReply(response, reply)))
  if (fiber === undefined) {
    connection.working -= 1
    return refuse(response, BUSY)
  }
  response.on("close", () => fiber.unsafeInterruptAsFork(FiberId.none))
  fiber.addObserver(() => {
    connection.working -= 1
  })
}

/** The same socket in the eyes of `net`, `tls` and `http2`. */
const placeOf = ({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string =>
  `${remoteAddress} ${remotePort}`

const serve = (server: Server, web: WebServer): void => {
  const connections = new Map<string, WebConnection>()
  server.on("connection", (socket: Socket) => {
    const connection = new WebConnection(socket)
    const place = placeOf(socket)
    socket.on("error", () => {})
    if (!web.open.admit(connection)) return connection.destroy()
    connections.set(place, connection)
    socket.on("close", () => {
      web.open.remove(connection)
      if (connections.get(place) === connection) connections.delete(place)
    })
  })
  server.on("request", (request: Request, response: Response) => {
    const connection = connections.get(placeOf(request.socket))
    request.on("error", () => {})
    response.on("error", () => {})
    if (connection === undefined) return void response.destroy()
    web.open.use(connection)
    const question = readHttpQuestion({
      method: request.method,
      url: request.url,
      contentType: request.headers["content-type"],
      contentLength: request.headers["content-length"]
    })
    const asked = { client: clientOf(request), connection, response }
    switch (question._tag) {
      case "Query":
        return answer(web, asked, question.bytes)
      case "Body":
        return readBody(request, response, (body) => answer(web, asked, body))
      case "Refused":
        request.resume()
        return refuse(response, question.refusal)
    }
  })
}

/** Bytes of request line and headers: the longest question by GET and those of browsers. */
const MAX_HEADER_SIZE = 100_000

const timeouts = ({ limits: { idle } }: Serving) => ({
  keepAliveTimeout: idle,
  headersTimeout: idle,
  requestTimeout: idle,
  maxHeaderSize: MAX_HEADER_SIZE
})

export const serveHttp = (address: Address, web: WebServer): Effect.Effect<Address, BindFailed, Scope.Scope> => {
  const server = createServer(timeouts(web.serving))
  serve(server, web)
  return listenScoped(server, address)
}

export const serveHttps = (
  { address, certificate }: { readonly address: Address; readonly certificate: Certificate },
  web: WebServer
): Effect.Effect<Address, BindFailed, Scope.Scope> => {
  const server = createSecureServer({
    ...certificate.current(),
    minVersion: "TLSv1.2",
    allowHTTP1: true,
    handshakeTimeout: web.serving.limits.idle,
    settings: { maxConcurrentStreams: web.serving.limits.inFlight, enablePush: false },
    ...timeouts(web.serving)
  })
  certificate.onChange((pair) => server.setSecureContext({ ...pair, minVersion: "TLSv1.2" }))
  server.on("sessionError", () => {})
  serve(server, web)
  return listenScoped(server, address)
}
