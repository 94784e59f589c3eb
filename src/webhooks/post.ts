import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { lookup } from "node:dns/promises"
import { type IncomingMessage, request } from "node:http"
import { connect as connectPlain, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { codeOf, type ErrorWords, reasonOf } from "../base/errorCode.ts"
import type { ForbiddenKind } from "../base/specialAddress.ts"
import { version } from "../version.ts"
import { retryAfter } from "./retries.ts"

// One attempt to send a message: resolves the host, checks the addresses, connects to one, posts, and reads the head of
// the answer. Redirects are not followed, as they would leave the checked address.

/** Milliseconds to resolve the host and connect, including the TLS handshake. */
export const CONNECT_TIMEOUT = 10_000

/** Milliseconds for the head of the answer. */
export const ANSWER_TIMEOUT = 30_000

/** Bytes read of the answer's body, and the milliseconds for it. */
export const BODY_BYTES = 1_024
const BODY_TIMEOUT = 2_000

const HEADER_BYTES = 16_384

const MAX_ADDRESSES = 4

export interface HookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface PostParts {
  readonly resolve: (host: string) => Promise<ReadonlyArray<string>>
  /** Why an address must not be used, if so. */
  readonly forbidden: (address: string) => ForbiddenKind | undefined
  /** Certificates to trust instead of the system's. */
  readonly ca?: string | undefined
}

export const systemResolve: PostParts["resolve"] = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

export type HookAnswer =
  | {
    readonly _tag: "Answered"
    readonly status: number
    readonly milliseconds: number
    /** Milliseconds that the receiver asked to wait. */
    readonly wished: number | undefined
    /** The beginning of the body. */
    readonly body: string
  }
  | {
    readonly _tag: "NoAnswer"
    readonly outcome: "timeout" | "unreachable" | "forbidden"
    readonly reason: string
  }

type NoAnswer = HookAnswer & { readonly _tag: "NoAnswer" }

const noAnswer = (outcome: NoAnswer["outcome"], reason: string): NoAnswer => ({ _tag: "NoAnswer", outcome, reason })

const WORDS: ErrorWords = new Map([
  ["ENOTFOUND", "the host has no address"],
  ["EPIPE", "the receiver closed the connection"],
  ["ECONNRESET", "the receiver closed the connection"],
  ["HPE_HEADER_OVERFLOW", "the headers of the answer are too long"],
  ["CERT_HAS_EXPIRED", "the certificate has expired"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "the certificate is self-signed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "the certificate chain is self-signed"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the certificate is signed by an unknown authority"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "the certificate is for another host"]
])

/** The words for an error. Texts from the receiver's side, such as a parser's, are not repeated. */
const wordsOf = (error: unknown): string => {
  const code = codeOf(error)
  if (code.startsWith("HPE_") && !WORDS.has(code)) return "the answer is not HTTP"
  if (/^(?:EPROTO|ERR_SSL)/.test(code)) return "no connection with TLS"
  return reasonOf(code, WORDS)
}

const addressesOf = (host: string, { resolve }: PostParts): Effect.Effect<ReadonlyArray<string>, NoAnswer> =>
  isIP(host) !== 0
    ? Effect.succeed([host])
    : Effect.tryPromise({ try: () => resolve(host), catch: (error) => noAnswer("unreachable", wordsOf(error)) })

interface Target {
  readonly url: URL
  /** Without the brackets of an IPv6 address. */
  readonly host: string
  readonly address: string
  readonly ca: string | undefined
}

const portOf = ({ port, protocol }: URL): number => port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)

/** A connection to an address. The certificate must be for the URL's host. */
const connectionTo = ({ address, ca, host, url }: Target): Effect.Effect<Socket, NoAnswer, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<Socket, NoAnswer>((resume) => {
      const to = { host: address, port: portOf(url) }
      const isTls = url.protocol === "https:"
      const socket = isTls
        ? connectTls({ ...to, servername: isIP(host) === 0 ? host : "", ...(ca === undefined ? {} : { ca }) })
        : connectPlain(to)
      const fail = (error: Error): void => resume(Effect.fail(noAnswer("unreachable", wordsOf(error))))
      socket.once("error", fail)
      socket.once(isTls ? "secureConnect" : "connect", () => {
        socket.off("error", fail)
        // An error between two listeners would end the process.
        socket.on("error", () => {})
        resume(Effect.succeed(socket))
      })
      return Effect.sync(() => void socket.destroy())
    }).pipe(Effect.interruptible),
    (socket) => Effect.sync(() => void socket.destroy())
  )

const responseOf = (
  socket: Socket,
  url: URL,
  { body, headers }: HookRequest
): Effect.Effect<IncomingMessage, NoAnswer> =>
  Effect.async((resume) => {
    const sent = request({
      createConnection: () => socket,
      method: "POST",
      path: `${url.pathname}${url.search}`,
      maxHeaderSize: HEADER_BYTES,
      headers: {
        "Host": url.host,
        "Content-Type": "application/json",
        "User-Agent": `svcd/${version}`,
        "Content-Length": Buffer.byteLength(body),
        "Connection": "close",
        ...headers
      }
    })
    sent.on("error", (error) => resume(Effect.fail(noAnswer("unreachable", wordsOf(error)))))
    sent.once("response", (response) => {
      response.on("error", () => {})
      resume(Effect.succeed(response))
    })
    sent.end(body)
    return Effect.sync(() => void sent.destroy())
  })

/** The beginning of a body. The rest stays unread, as the connection is closed. */
const beginningOf = (response: IncomingMessage): Effect.Effect<string> =>
  Effect.async((resume) => {
    const pieces: Array<Buffer> = []
    let length = 0
    const end = (): void => {
      response.pause()
      resume(Effect.succeed(Buffer.concat(pieces).subarray(0, BODY_BYTES).toString("utf8")))
    }
    response.on("data", (piece: Buffer) => {
      pieces.push(piece)
      length += piece.length
      if (length >= BODY_BYTES) end()
    })
    response.once("end", end)
    response.once("close", end)
  })

const send = (asked: HookRequest, parts: PostParts): Effect.Effect<HookAnswer, NoAnswer, Scope.Scope> =>
  Effect.gen(function*() {
    const started = yield* Clock.currentTimeMillis
    const url = new URL(asked.url)
    const host = url.hostname.replace(/^\[|\]$/g, "")
    const connected = Effect.gen(function*() {
      const addresses = yield* addressesOf(host, parts)
      for (const address of addresses) {
        const kind = parts.forbidden(address)
        if (kind === undefined) continue
        return yield* Effect.fail(noAnswer(
          "forbidden",
          // Without the address, which would reveal the network behind the node to a caller.
          `${
            isIP(host) === 0 ? "the host resolves to an address of" : "the address is"
          } ${kind}, where webhooks that are ` +
            "added over RPC must not send; -webhookprivate allows it, and a webhook of the configuration file may"
        ))
      }
      const [first, ...others] = addresses.slice(0, MAX_ADDRESSES).map((address) =>
        connectionTo({ address, host, url, ca: parts.ca })
      )
      if (first === undefined) return yield* Effect.fail(noAnswer("unreachable", "the host has no address"))
      return yield* others.reduce((before, next) => Effect.orElse(before, () => next), first)
    })
    const socket = yield* Effect.timeoutFail(connected, {
      duration: CONNECT_TIMEOUT,
      onTimeout: () => noAnswer("timeout", `no connection within ${CONNECT_TIMEOUT / 1_000} seconds`)
    })
    const response = yield* Effect.timeoutFail(responseOf(socket, url, asked), {
      duration: ANSWER_TIMEOUT,
      onTimeout: () => noAnswer("timeout", `no answer within ${ANSWER_TIMEOUT / 1_000} seconds`)
    })
    const body = yield* Effect.timeoutTo(beginningOf(response), {
      duration: BODY_TIMEOUT,
      onSuccess: (text) => text,
      onTimeout: () => ""
    })
    return {
      _tag: "Answered" as const,
      status: response.statusCode ?? 0,
      milliseconds: (yield* Clock.currentTimeMillis) - started,
      wished: retryAfter(response.headers["retry-after"]),
      body
    }
  })

/** Sends a message and returns the answer. An interruption closes the connection. */
export const post = (asked: HookRequest, parts: PostParts): Effect.Effect<HookAnswer> =>
  Effect.merge(Effect.scoped(send(asked, parts)))
