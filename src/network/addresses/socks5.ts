import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { codeOf } from "../../base/errorCode.ts"
import { bytesFrom, type Random } from "../../base/random.ts"
import type { ProxyAddress } from "../../config/proxies.ts"
import { toHex } from "../../protocol/bytes.ts"
import { type PeerStream, Transport } from "../connect/Transport.ts"
import { PeerUnreachable } from "../errors.ts"

// Connections through a SOCKS5 proxy (RFC 1928, RFC 1929). The proxy gets every host as a name, even IP addresses, so
// this node sends no DNS queries and a Tor proxy that prevents DNS leaks accepts the requests.

export interface ProxyCredentials {
  readonly user: string
  readonly password: string
}

const VERSION = 5
const NO_AUTHENTICATION = 0
const USER_PASSWORD = 2
const NEGOTIATION_VERSION = 1
const CONNECT = 1
const IPV4 = 1
const NAME = 3
const IPV6 = 4
const LONGEST_TEXT = 255

/** Enough for Tor to build a circuit. */
const PROXY_TIMEOUT = "30 seconds"

/** RFC 1928, section 6, and Tor's extensions for onion services. */
const REPLIES: Readonly<Record<number, string>> = {
  1: "the proxy failed",
  2: "the proxy does not allow the connection",
  3: "the network cannot be reached",
  4: "the host cannot be reached",
  5: "the connection is refused",
  6: "TTL expired",
  7: "the proxy does not support the command",
  8: "the proxy does not support the address type",
  240: "there is no such onion service",
  241: "invalid descriptor of the onion service",
  242: "the introduction at the onion service failed",
  243: "the rendezvous with the onion service failed",
  244: "the onion service requires client authorization",
  245: "the onion service refuses the client authorization",
  246: "invalid onion service address",
  247: "onion service timeout"
}

/** Ends the handshake. Never leaves this file. */
class Refusal {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Reads exactly `count` bytes, at most 257, and leaves the rest in the socket, as the peer may send first. */
const readExactly = (socket: PeerStream, count: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const done = (): void => {
      socket.off("readable", take).off("end", ended).off("close", ended).off("error", failed)
    }
    const take = (): void => {
      // An ended stream returns its remaining bytes, even if fewer.
      const bytes = socket.read(count)
      if (bytes === null) return
      done()
      if (bytes.length === count) resolve(bytes)
      else reject(new Refusal("the proxy closed the connection"))
    }
    const ended = (): void => {
      done()
      reject(new Refusal("the proxy closed the connection"))
    }
    const failed = (error: Error): void => {
      done()
      reject(new Refusal(`connection to the proxy lost: ${codeOf(error)}`))
    }
    socket.on("readable", take).on("end", ended).on("close", ended).on("error", failed)
    if (socket.destroyed) ended()
    else take()
  })

const textBytes = (text: string): Uint8Array => {
  const bytes = new TextEncoder().encode(text)
  return Uint8Array.of(bytes.length, ...bytes)
}

const logIn = async (socket: PeerStream, credentials: ProxyCredentials | undefined): Promise<void> => {
  const methods = credentials === undefined ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, USER_PASSWORD]
  socket.write(Uint8Array.of(VERSION, methods.length, ...methods))
  const [version, method] = await readExactly(socket, 2)
  if (version !== VERSION) throw new Refusal("invalid answer: not a SOCKS5 proxy")
  if (method === NO_AUTHENTICATION) return
  if (method !== USER_PASSWORD || credentials === undefined) {
    throw new Refusal("the proxy requires another authentication method")
  }
  const { password, user } = credentials
  socket.write(Uint8Array.of(NEGOTIATION_VERSION, ...textBytes(user), ...textBytes(password)))
  const [negotiation, status] = await readExactly(socket, 2)
  if (negotiation !== NEGOTIATION_VERSION || status !== 0) throw new Refusal("the proxy refuses the login")
}

const skipBoundAddress = async (socket: PeerStream, kind: number | undefined): Promise<void> => {
  const size = kind === IPV4 ? 4 : kind === IPV6 ? 16 : kind === NAME ? (await readExactly(socket, 1))[0] : undefined
  if (size === undefined) throw new Refusal("invalid answer of the proxy")
  await readExactly(socket, size + 2)
}

const askFor = async (socket: PeerStream, host: string, port: number): Promise<void> => {
  socket.write(Uint8Array.of(VERSION, CONNECT, 0, NAME, ...textBytes(host), port >> 8, port & 0xff))
  const [version, reply, reserved, kind] = await readExactly(socket, 4)
  if (version !== VERSION || reserved !== 0) throw new Refusal("invalid answer of the proxy")
  if (reply !== 0) throw new Refusal(REPLIES[reply ?? 1] ?? `the proxy answers ${reply}`)
  await skipBoundAddress(socket, kind)
}

const fits = (text: string): boolean => {
  const { length } = new TextEncoder().encode(text)
  return length > 0 && length <= LONGEST_TEXT
}

/** The socket keeps bytes already sent by the peer. Fails if the proxy refuses or is late. */
export const connectThrough = (
  proxy: ProxyAddress,
  target: { readonly host: string; readonly port: number },
  options: {
    readonly credentials?: ProxyCredentials
    readonly limit?: Duration.DurationInput
  } = {}
): Effect.Effect<PeerStream, PeerUnreachable, Scope.Scope> =>
  Effect.suspend(() => {
    const { credentials, limit = PROXY_TIMEOUT } = options
    const peer = target.host.includes(":") ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`
    const unreachable = (reason: string): PeerUnreachable => new PeerUnreachable({ peer, reason })
    const texts = [target.host, ...(credentials === undefined ? [] : [credentials.user, credentials.password])]
    if (!texts.every(fits)) {
      return unreachable("invalid proxy request: host, user and password must have 1 to 255 bytes")
    }

    const handshake = async (socket: PeerStream): Promise<void> => {
      await logIn(socket, credentials)
      await askFor(socket, target.host, target.port)
    }
    return Effect.flatMap(Transport, ({ dial }) => dial(proxy)).pipe(
      Effect.mapError(({ code }) => unreachable(`the proxy cannot be reached: ${code}`)),
      Effect.tap((socket) =>
        Effect.tryPromise({ try: () => handshake(socket), catch: (error) => error }).pipe(
          Effect.catchAll((error) => error instanceof Refusal ? unreachable(error.reason) : Effect.die(error)),
          Effect.onError(() => Effect.sync(() => socket.destroy()))
        )
      ),
      Effect.timeoutFail({ duration: limit, onTimeout: () => unreachable("proxy timeout") })
    )
  })

/**
 * A login per connection, for which Tor makes separate circuits, so that connections cannot be linked. Source: upstream
 * `netbase.cpp`, `-proxyrandomize`.
 */
export const isolatingCredentials = (random: Random): () => ProxyCredentials => {
  const prefix = toHex(bytesFrom(random, 8))
  let count = 0
  return () => {
    const name = `${prefix}-${count++}`
    return { user: name, password: name }
  }
}
