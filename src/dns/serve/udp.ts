import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { createSocket, type RemoteInfo, type Socket } from "node:dgram"
import { lookup } from "node:dns/promises"
import { isIP, isIPv6 } from "node:net"
import { type Address, formatHostPort, isLoopback } from "../../base/addresses.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { BindFailed } from "../../base/listening.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { DnsClient } from "../Responder.ts"
import { FLAGS, HEADER_BYTES } from "../wire/codes.ts"
import { dnsClient, networkOf } from "./client.ts"
import { RateLimit, truncatedAnswer } from "./rateLimit.ts"
import { dropped, type Serving } from "./serving.ts"

/** DNS over UDP. Answers from the cache take no fiber: a question costs a few microseconds. */

/** Answers per second to one network without `-dnsrate`. This machine is exempt. */
const DEFAULT_RATE = 20

/** Bytes that the system may keep of questions while the process works. */
const RECEIVE_BUFFER = 1 << 20

/** Answers that may wait for the system. */
const MOST_UNSENT = 1_024

const DNS_PORT = 53

/** No answer goes back to these: a server would answer the answer. */
const isBadPort = (port: number, isOnDnsPort: boolean): boolean => port === 0 || (port === DNS_PORT && isOnDnsPort)

interface Asked {
  readonly query: Bytes
  readonly client: DnsClient
}

type Limiter = (answer: Bytes, asked: Asked) => Bytes | undefined

/** Returns the answer, a truncated one, a request for a cookie, or nothing. Clients with a cookie are not limited. */
const limiterOf = (rate: number | undefined, { badCookie, isProved, now }: Serving): Limiter => {
  if (rate === 0) return (answer) => answer
  const limit = new RateLimit(rate ?? DEFAULT_RATE)
  return (answer, { client, query }) => {
    if (rate === undefined && isLoopback(client.address)) return answer
    const verdict = limit.verdict(answer, networkOf(client.address), now())
    if (verdict === "send" || isProved(query, client)) return answer
    if (verdict === "slip") return badCookie(query, client) ?? truncatedAnswer(answer)
    dropped("rate")
    return undefined
  }
}

/** Addresses are numbers already. The function of the system would defer each answer. */
const noLookup = (
  address: string,
  _family: unknown,
  callback: (error: Error | null, address: string, family: number) => void
): void => callback(null, address, 0)

const bound = (address: string, port: number): Effect.Effect<Socket, Error> =>
  Effect.async((resume) => {
    const socket = createSocket({
      type: isIPv6(address) ? "udp6" : "udp4",
      recvBufferSize: RECEIVE_BUFFER,
      lookup: noLookup
    })
    socket.once("error", (error) => {
      socket.close()
      resume(Effect.fail(error))
    })
    socket.bind({ port, address }, () => {
      socket.removeAllListeners("error")
      resume(Effect.succeed(socket))
    })
  })

/** Without a host: both families, or the one that the machine has. */
const bind = ({ host, port }: Address): Effect.Effect<Socket, BindFailed, Scope.Scope> => {
  const found = host === "" || isIP(host) !== 0
    ? Effect.succeed(host)
    : Effect.map(Effect.tryPromise({ try: () => lookup(host), catch: (error) => error }), ({ address }) => address)
  return Effect.acquireRelease(
    Effect.flatMap(
      found,
      (address) =>
        address === "" ? Effect.orElse(bound("::", port), () => bound("0.0.0.0", port)) : bound(address, port)
    ).pipe(
      Effect.mapError((error) =>
        new BindFailed({ what: "DNS", address: formatHostPort({ host, port }), code: codeOf(error) })
      )
    ),
    (socket) => Effect.async<void>((resume) => void socket.close(() => resume(Effect.void)))
  )
}

export interface UdpOptions {
  readonly address: Address
  /** `-dnsrate`. */
  readonly rate: number | undefined
}

/** Answers while the scope is open. Returns the address with the actual port. */
export const serveUdp = (
  { address, rate }: UdpOptions,
  serving: Serving
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const log = Runtime.runFork(yield* Effect.runtime<never>())
    const socket = yield* bind(address)
    const own = socket.address().port
    const limited = limiterOf(rate, serving)
    let isOpen = true
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOpen = false
      })
    )
    const send = (answer: Bytes, asked: Asked, { address, port }: RemoteInfo): void => {
      if (!isOpen) return
      const allowed = limited(answer, asked)
      if (allowed === undefined) return
      if (socket.getSendQueueCount() >= MOST_UNSENT) return dropped("unsent")
      socket.send(allowed, port, address)
    }
    socket.on("error", (error) => {
      dropped("unsent")
      log(Effect.logDebug("DNS answer not sent", { reason: reasonOf(codeOf(error)) }))
    })
    socket.on("message", (query, from) => {
      if (query.length < HEADER_BYTES) return dropped("short")
      if (((query[2] ?? 0) & FLAGS.QR >>> 8) !== 0) return dropped("answer")
      if (isBadPort(from.port, own === DNS_PORT)) return dropped("port")
      const client = dnsClient("udp", from)
      const hit = serving.atOnce(query, client)
      const asked = { query, client }
      if (hit !== undefined) return send(hit, asked, from)
      const work = serving.answer(query, client, (reply) =>
        Effect.sync(() =>
          reply._tag === "Message" ? send(reply.bytes, asked, from) : dropped("other")
        ))
      if (work !== undefined) return
      // Too busy to answer now: the client asks again, with a cookie that takes it out of the rate limit.
      const refusal = serving.badCookie(query, client)
      if (refusal !== undefined) send(refusal, asked, from)
    })
    return { host: address.host, port: own }
  })
