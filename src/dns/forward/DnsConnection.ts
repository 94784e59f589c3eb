import * as Effect from "effect/Effect"
import { connect as connectPlain, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { codeOf, type ErrorWords, reasonOf } from "../../base/errorCode.ts"
import type { DnsForwardTarget } from "../../config/dnsKinds.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { HEADER_BYTES } from "../wire/codes.ts"
import { framed, MessageFrames } from "../wire/MessageFrames.ts"
import { AskFailed } from "./AskFailed.ts"

/** Milliseconds without a byte, after which a connection is closed. */
const IDLE = 10_000

const WORDS: ErrorWords = new Map([
  ["CERT_HAS_EXPIRED", "its certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "its certificate is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "its certificate chain is self-signed"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "its certificate is signed by an unknown authority"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate has another name"]
])

interface Waiting {
  readonly answered: (message: Bytes) => void
  readonly failed: (reason: string) => void
}

/**
 * Queries over TCP or TLS (RFC 7766, RFC 7858): many at once, and answers in any order. The connection has its own ids,
 * so that two queries never share one; callers see theirs. Closes when idle, and fails its queries when it breaks.
 */
export class DnsConnection {
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  #nextId = 0
  readonly #frames = new MessageFrames()
  #isOpen = true

  /** `ca`: certificates to trust instead of the system's. */
  constructor({ address, tlsName }: DnsForwardTarget, ca?: string) {
    const to = { host: address.host, port: address.port }
    this.#socket = tlsName === undefined ? connectPlain({ ...to, noDelay: true }) : connectTls({
      ...to,
      servername: isIP(tlsName) === 0 ? tlsName : "",
      ALPNProtocols: ["dot"],
      ...(ca === undefined ? {} : { ca })
    })
    this.#socket
      .setTimeout(IDLE, () => this.close("no answer in time"))
      .on("error", (error) => this.close(reasonOf(codeOf(error), WORDS)))
      .on("close", () => this.close("the server closed the connection"))
      .on("end", () => this.close("the server closed the connection"))
      .on("data", (chunk) => this.#take(chunk))
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The message with the id of this query that comes back. */
  ask(query: Bytes): Effect.Effect<Bytes, AskFailed> {
    return Effect.async((resume) => {
      if (!this.#isOpen) return resume(new AskFailed({ reason: "the connection is closed" }))
      const id = this.#freeId()
      this.#waiting.set(id, {
        answered: (message) => resume(Effect.succeed(withId(message, (query[0] ?? 0) << 8 | (query[1] ?? 0)))),
        failed: (reason) => resume(new AskFailed({ reason }))
      })
      this.#socket.write(framed(withId(query, id)))
      return Effect.sync(() => this.#waiting.delete(id))
    })
  }

  close(reason: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#socket.destroy()
    for (const { failed } of this.#waiting.values()) failed(reason)
    this.#waiting.clear()
  }

  #freeId(): number {
    do this.#nextId = (this.#nextId + 1) & 0xffff
    while (this.#waiting.has(this.#nextId))
    return this.#nextId
  }

  #take(chunk: Bytes): void {
    for (const message of this.#frames.take(chunk)) {
      if (message.length < HEADER_BYTES) return this.close("the answer is not a DNS message")
      const id = (message[0] ?? 0) << 8 | (message[1] ?? 0)
      this.#waiting.get(id)?.answered(message)
      this.#waiting.delete(id)
    }
  }
}

const withId = (message: Bytes, id: number): Bytes => {
  const copy = message.slice()
  copy[0] = id >>> 8
  copy[1] = id
  return copy
}
