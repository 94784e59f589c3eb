import { Deferred, Effect, Layer, Stream } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type DnsClient, type DnsReply, Responder } from "../../../src/dns/Responder.ts"
import { type DnsListenOptions, makeServer } from "../../../src/dns/serve/DnsServer.ts"
import type { DnsLimits } from "../../../src/dns/serve/serving.ts"
import { framed, MessageFrames } from "../../../src/dns/wire/MessageFrames.ts"
import { TEST_CERTIFICATE, TEST_KEY } from "../../support/certificate.ts"
import { answerOf, nameIn } from "./questions.ts"

/** A server on loopback with a responder of its own, and clients for it. */

/** Messages of a transfer, and bytes of each. */
export const TRANSFER = { messages: 40, bytes: 60_000 }

export const fakeResponder = Effect.gen(function*() {
  const gate = yield* Deferred.make<void>()
  const seen: Array<{ readonly name: string; readonly client: DnsClient }> = []
  let interrupted = 0
  let working = 0
  const replyTo = (query: Uint8Array): DnsReply => {
    const name = nameIn(query)
    if (name === "drop.bit") return { _tag: "Drop", reason: "not a question" }
    if (name === "transfer.bit") {
      const message = Buffer.alloc(TRANSFER.bytes, answerOf(query))
      return {
        _tag: "Transfer",
        messages: Stream.repeatEffect(Effect.succeed(message)).pipe(Stream.take(TRANSFER.messages))
      }
    }
    return { _tag: "Message", bytes: answerOf(query) }
  }
  const note = (query: Uint8Array, client: DnsClient): string => {
    const name = nameIn(query)
    seen.push({ name, client })
    return name
  }
  const responder = Responder.of({
    atOnce: (query, client) => note(query, client).startsWith("hot") ? answerOf(query, { ttls: [30] }) : undefined,
    // The name says whether the client has a cookie of this server, or one of its own alone.
    isProved: (query) => nameIn(query).startsWith("hot-known"),
    badCookie: (query) => /^(?:hot|slow)-stranger/.test(nameIn(query)) ? answerOf(query, { rcode: 7 }) : undefined,
    respond: (query) => {
      const reply = Effect.sync(() => replyTo(query))
      if (!nameIn(query).startsWith("slow")) return reply
      working += 1
      return Effect.zipRight(Deferred.await(gate), reply).pipe(
        Effect.onInterrupt(() => Effect.sync(() => void (interrupted += 1))),
        Effect.ensuring(Effect.sync(() => void (working -= 1)))
      )
    }
  })
  return {
    seen,
    /** Answers to names that begin with slow wait for it. */
    open: Deferred.succeed(gate, undefined),
    interrupted: () => interrupted,
    working: () => working,
    layer: Layer.succeed(Responder, responder)
  }
})

export const ANY_PORT = { host: "127.0.0.1", port: 0 }

const NOWHERE: DnsListenOptions = {
  listen: [],
  tls: [],
  https: [],
  http: [],
  certificate: undefined,
  key: undefined,
  rate: undefined
}

export const startServer = (options: Partial<DnsListenOptions>, limits: Partial<DnsLimits> = {}) =>
  Effect.gen(function*() {
    const responder = yield* fakeResponder
    const { addresses } = yield* Effect.provide(makeServer({ ...NOWHERE, ...options }, limits), responder.layer)
    const port = (addresses.dns[0] ?? addresses.tls[0] ?? addresses.https[0] ?? addresses.http[0])?.port ?? 0
    return { ...responder, addresses, port }
  })

/** The certificate of tests in files. */
export const certificateFiles = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "svcd-dns-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
).pipe(Effect.map((directory) => {
  const [certificate, key] = [join(directory, "cert.pem"), join(directory, "key.pem")]
  writeFileSync(certificate, TEST_CERTIFICATE)
  writeFileSync(key, TEST_KEY)
  return { certificate, key }
}))

/** A client over a stream. */
export class StreamClient {
  readonly socket: Socket
  readonly #reader = new MessageFrames()
  readonly messages: Array<Uint8Array> = []
  closed = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on("data", (chunk: Buffer) => {
      this.messages.push(...this.#reader.take(chunk))
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      this.closed = true
    })
  }

  send(...queries: ReadonlyArray<Uint8Array>): void {
    this.socket.write(Buffer.concat(queries.map(framed)))
  }

  ids(): ReadonlyArray<number> {
    return this.messages.map((message) => Buffer.from(message).readUInt16BE())
  }
}

export const connectTo = (port: number) =>
  Effect.acquireRelease(
    Effect.async<StreamClient>((resume) => {
      const socket = connect({ port, host: "127.0.0.1" }, () => resume(Effect.succeed(new StreamClient(socket))))
    }),
    ({ socket }) => Effect.sync(() => void socket.destroy())
  )
