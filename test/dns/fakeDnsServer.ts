import { Effect, type Scope } from "effect"
import { createSocket } from "node:dgram"
import { createServer, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import type { RecordSet } from "../../src/dns/records.ts"
import { type DnsMessage, readMessage } from "../../src/dns/wire/message.ts"
import { framed, MessageFrames } from "../../src/dns/wire/MessageFrames.ts"
import { MessageWriter } from "../../src/dns/wire/MessageWriter.ts"
import { lowerCaseName, readNameText, type WireName, wireNameText } from "../../src/dns/wire/name.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { TEST_CERTIFICATE, TEST_KEY } from "../support/certificate.ts"

// A DNS server of the tests' own, which may lie, be silent, or cut its answers.

export const wireName = (text: string): WireName => {
  const name = readNameText(text)
  if (name === undefined) throw new Error(`${text} is not a name`)
  return name
}

const set = (type: number, owner: string, records: RecordSet["records"]): RecordSet => ({
  owner: wireName(owner),
  type,
  ttl: 300,
  records,
  signs: false
})

export const a = (owner: string, ...addresses: ReadonlyArray<string>): RecordSet =>
  set(
    TYPE_NUMBERS.A,
    owner,
    addresses.map((text) => ({ type: "A", address: Uint8Array.from(text.split("."), Number) }))
  )

export const aliasTo = (owner: string, target: string): RecordSet =>
  set(TYPE_NUMBERS.CNAME, owner, [{ type: "CNAME", target }])

export const ns = (owner: string, ...targets: ReadonlyArray<string>): RecordSet =>
  set(TYPE_NUMBERS.NS, owner, targets.map((target) => ({ type: "NS", target })))

/** A proof of a signed zone. */
export const nsec = (owner: string): RecordSet => ({
  owner: wireName(owner),
  type: TYPE_NUMBERS.NSEC,
  ttl: 60,
  records: [{ type: "NSEC", next: wireName(`z.${owner}`), types: [] }],
  signs: true
})

export const soa = (owner: string): RecordSet =>
  set(TYPE_NUMBERS.SOA, owner, [{
    type: "SOA",
    mname: wireName(`ns.${owner}`),
    rname: wireName(`hostmaster.${owner}`),
    serial: 1,
    refresh: 600,
    retry: 600,
    expire: 7200,
    minimum: 60
  }])

/** What a server answers; `undefined`: nothing. */
export interface FakeAnswer {
  readonly rcode?: number
  /** Bits besides QR, as in `FLAGS`. */
  readonly flags?: number
  readonly answer?: ReadonlyArray<RecordSet>
  readonly authority?: ReadonlyArray<RecordSet>
  readonly additional?: ReadonlyArray<RecordSet>
  /** Changes the message before it is sent; several messages are sent in this order. */
  readonly spoilt?: (message: Bytes) => ReadonlyArray<Bytes>
}

export interface Asked {
  readonly transport: "udp" | "stream"
  readonly port: number
  readonly message: DnsMessage
  readonly bytes: Bytes
  /** The question as text in lower case: `www.example.com. 1`. */
  readonly text: string
}

export type Handler = (asked: Asked) => FakeAnswer | undefined

export interface FakeServer {
  readonly port: number
  readonly asked: ReadonlyArray<Asked>
  /** Closes the open connections. */
  readonly hangUp: () => void
  readonly connections: () => number
}

const writer = new MessageWriter()

const encoded = ({ message }: Asked, answer: FakeAnswer): ReadonlyArray<Bytes> => {
  const [question] = message.questions
  const flags = 0x8000 | (message.flags & 0x0100) | (answer.flags ?? 0) | (answer.rcode ?? 0)
  writer.start({ id: message.id, flags, question })
  for (const section of ["answer", "authority", "additional"] as const) {
    for (const each of answer[section] ?? []) writer.set(section, each)
  }
  const bytes = writer.bytes()
  return answer.spoilt?.(bytes) ?? [bytes]
}

const answersOf =
  (asked: Array<Asked>, handler: Handler) => (bytes: Bytes, transport: Asked["transport"], port: number) => {
    const message = readMessage(bytes)
    const [{ asked: name, type } = { asked: wireName("."), type: 0 }] = message.questions
    const entry: Asked = { transport, port, message, bytes, text: `${wireNameText(lowerCaseName(name))} ${type}` }
    asked.push(entry)
    const answer = handler(entry)
    return answer === undefined ? [] : encoded(entry, answer)
  }

interface ServerOptions {
  readonly host?: string
  /** Any free one if not given. */
  readonly port?: number
  readonly tls?: boolean
}

/** Listens over UDP and TCP at one port, or over TLS alone. */
export const fakeDnsServer = (
  handler: Handler,
  { host = "127.0.0.1", port = 0, tls = false }: ServerOptions = {}
): Effect.Effect<FakeServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<FakeServer & { readonly close: () => void }>((resume) => {
      const asked: Array<Asked> = []
      const answersTo = answersOf(asked, handler)
      const sockets = new Set<Socket>()
      let connections = 0
      const accept = (socket: Socket): void => {
        connections += 1
        sockets.add(socket)
        const frames = new MessageFrames()
        socket.on("error", () => {}).on("close", () => sockets.delete(socket)).on("data", (chunk: Buffer) => {
          for (const bytes of frames.take(chunk)) {
            for (const answer of answersTo(bytes, "stream", socket.remotePort ?? 0)) socket.write(framed(answer))
          }
        })
      }
      const server = tls ? createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, accept) : createServer(accept)
      const udp = createSocket("udp4")
      udp.on("message", (bytes, from) => {
        for (const answer of answersTo(bytes, "udp", from.port)) udp.send(answer, from.port, from.address)
      })
      const hangUp = (): void => {
        for (const socket of sockets) socket.destroy()
      }
      server.listen(port, host, () => {
        const address = server.address()
        const bound = typeof address === "object" && address !== null ? address.port : 0
        const close = (): void => {
          hangUp()
          server.close()
          udp.close()
        }
        const ready = { port: bound, asked, hangUp, connections: () => connections, close }
        udp.bind(bound, host, () => resume(Effect.succeed(ready)))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
