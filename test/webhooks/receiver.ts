import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { TEST_CERTIFICATE, TEST_KEY } from "../support/certificate.ts"

/** A receiver of webhooks: a real HTTP server on loopback, whose answers a test chooses. */

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly method: string | undefined
  readonly path: string | undefined
}

export class Receiver {
  readonly received: Array<Received> = []
  /** Answers a request; by default with 204. */
  answer: (response: ServerResponse, received: Received) => void = (response) => response.writeHead(204).end()
  private readonly server: Server
  readonly origin: string

  constructor(server: Server, origin: string) {
    this.server = server
    this.origin = origin
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  get port(): number {
    const address = this.server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }

  get url(): string {
    return `${this.origin}:${this.port}/hook?token=hidden`
  }

  /** Answers each request with a status. */
  answers(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.answer = (response) => response.writeHead(status, headers).end()
  }

  get ids(): ReadonlyArray<string> {
    return this.received.map(({ headers }) => String(headers["webhook-id"]))
  }

  /** The types of the events of each message. */
  get kinds(): ReadonlyArray<string> {
    return this.received.map(({ body }) => {
      const { events, height } = JSON.parse(body)
      return `${height} ${events.map(({ type }: { readonly type: string }) => type).join(" ")}`
    })
  }
}

export interface ReceiverOptions {
  readonly host?: string
  readonly tls?: boolean
}

export const openReceiver = ({ host = "127.0.0.1", tls = false }: ReceiverOptions = {}) =>
  Effect.acquireRelease(
    Effect.async<Receiver>((resume) => {
      const server = tls ? createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }) : createServer()
      server.on("request", (request, response) => {
        const pieces: Array<Buffer> = []
        request.on("data", (piece: Buffer) => pieces.push(piece))
        request.on("end", () => {
          const { headers, method, url: path } = request
          const received = { headers, method, path, body: Buffer.concat(pieces).toString("utf8") }
          receiver.received.push(received)
          receiver.answer(response, received)
        })
      })
      const receiver = new Receiver(server, `${tls ? "https" : "http"}://${host}`)
      server.listen(0, host, () => resume(Effect.succeed(receiver)))
    }),
    (receiver) => Effect.sync(() => receiver.close())
  )
