import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, type Socket } from "node:net"
import { type Random, randomBytes } from "../../base/random.ts"
import { toHex } from "../../protocol/bytes.ts"
import { PeerUnreachable } from "../errors.ts"

/**
 * Connections through a SOCKS5 proxy (RFC 1928, RFC 1929). The proxy gets every host as a name, IP addresses too, and
 * resolves it: nothing is asked of DNS here, and Tor takes no IP address from those that are to leak nothing.
 */

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

/** Tor builds a circuit meanwhile. */
const DEFAULT_LIMIT = "30 seconds"

/** Why a proxy does not connect: RFC 1928, section 6, and what Tor adds for its services. */
const REPLIES: Readonly<Record<number, string>> = {
  1: "the proxy failed",
  2: "the proxy does not allow it",
  3: "the network cannot be reached",
  4: "the host cannot be reached",
  5: "the connection is refused",
  6: "it takes too long",
  7: "the proxy does not know the command",
  8: "the proxy does not know the kind of address",
  240: "there is no such onion service",
  241: "the onion service's description is wrong",
  242: "the introduction at the onion service failed",
  243: "the meeting with the onion service failed",
  244: "the onion service asks for a key",
  245: "the onion service refuses the key",
  246: "the address is no onion service's",
  247: "the onion service takes too long"
}

/** Ends the handshake with what went wrong; never leaves this file. */
class Refusal {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/**
 * Reads exactly so many bytes, and leaves what comes after them in the socket: the peer may speak first. At most 257
 * bytes are read at once, and the socket takes no more than its buffer holds.
 */
const readExactly = (socket: Socket, count: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const done = (): void => {
      socket.off("readable", take).off("end", ended).off("close", ended).off("error", failed)
    }
    const take = (): void => {
      // A stream that has ended gives what is left, however little.
      const bytes: Uint8Array | null = socket.read(count)
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
      reject(new Refusal(`the connection to the proxy broke: ${codeOf(error)}`))
    }
    socket.on("readable", take).on("end", ended).on("close", ended).on("error", failed)
    if (socket.destroyed) ended()
    else take()
  })

const codeOf = (error: Error): string => "code" in error ? String(error.code) : error.name

/** Waits for a socket's connection to the proxy. */
const connected = (socket: Socket): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      socket.off("connect", settle).off("error", settle).off("close", settle)
      if (!socket.connecting && !socket.destroyed) resolve()
      else reject(new Refusal(`the proxy cannot be reached${error === undefined ? "" : `: ${codeOf(error)}`}`))
    }
    socket.on("connect", settle).on("error", settle).on("close", settle)
  })

const textBytes = (text: string): Uint8Array => {
  const bytes = new TextEncoder().encode(text)
  return Uint8Array.of(bytes.length, ...bytes)
}

/** Agrees on how to log in, and does. */
const logIn = async (socket: Socket, credentials: ProxyCredentials | undefined): Promise<void> => {
  const methods = credentials === undefined ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, USER_PASSWORD]
  socket.write(Uint8Array.of(VERSION, methods.length, ...methods))
  const [version, method] = await readExactly(socket, 2)
  if (version !== VERSION) throw new Refusal("it is no SOCKS5 proxy")
  if (method === NO_AUTHENTICATION) return
  if (method !== USER_PASSWORD || credentials === undefined) throw new Refusal("the proxy wants another login")
  const { password, user } = credentials
  socket.write(Uint8Array.of(NEGOTIATION_VERSION, ...textBytes(user), ...textBytes(password)))
  const [negotiation, status] = await readExactly(socket, 2)
  if (negotiation !== NEGOTIATION_VERSION || status !== 0) throw new Refusal("the proxy refuses the login")
}

/** Reads over the address from which the proxy called: of no use to us. */
const skipBoundAddress = async (socket: Socket, kind: number | undefined): Promise<void> => {
  const size = kind === IPV4 ? 4 : kind === IPV6 ? 16 : kind === NAME ? (await readExactly(socket, 1))[0] : undefined
  if (size === undefined) throw new Refusal("the proxy's answer makes no sense")
  await readExactly(socket, size + 2)
}

const askFor = async (socket: Socket, host: string, port: number): Promise<void> => {
  socket.write(Uint8Array.of(VERSION, CONNECT, 0, NAME, ...textBytes(host), port >> 8, port & 0xff))
  const [version, reply, reserved, kind] = await readExactly(socket, 4)
  if (version !== VERSION || reserved !== 0) throw new Refusal("the proxy's answer makes no sense")
  if (reply !== 0) throw new Refusal(REPLIES[reply ?? 1] ?? `the proxy answers ${reply}`)
  await skipBoundAddress(socket, kind)
}

const fits = (text: string): boolean => {
  const { length } = new TextEncoder().encode(text)
  return length > 0 && length <= LONGEST_TEXT
}

/**
 * Calls a peer through a proxy. The socket, which lives as long as the scope, is connected to the peer then; what the
 * peer has sent so far is still in it. Fails with `PeerUnreachable` where the proxy does not answer as it should,
 * refuses, or takes longer than the limit.
 */
export const connectThrough = (
  proxy: { readonly host: string; readonly port: number },
  target: { readonly host: string; readonly port: number },
  options: {
    readonly credentials?: ProxyCredentials
    /** For all of it. */
    readonly limit?: Duration.DurationInput
  } = {}
): Effect.Effect<Socket, PeerUnreachable, Scope.Scope> =>
  Effect.gen(function*() {
    const { credentials, limit = DEFAULT_LIMIT } = options
    const peer = target.host.includes(":") ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`
    const unreachable = (reason: string): PeerUnreachable => new PeerUnreachable({ peer, reason })
    const texts = [target.host, ...(credentials === undefined ? [] : [credentials.user, credentials.password])]
    if (!texts.every(fits)) return yield* unreachable("what the proxy is to be told has not 1 to 255 bytes")

    const socket = yield* Effect.acquireRelease(
      // An error between two reads shows at the next one.
      Effect.sync(() => connect({ host: proxy.host, port: proxy.port, noDelay: true }).on("error", ignored)),
      (socket) => Effect.sync(() => socket.destroy())
    )
    const handshake = async (): Promise<void> => {
      await connected(socket)
      await logIn(socket, credentials)
      await askFor(socket, target.host, target.port)
    }
    yield* Effect.tryPromise({ try: handshake, catch: (error) => error }).pipe(
      Effect.catchAll((error) => error instanceof Refusal ? unreachable(error.reason) : Effect.die(error)),
      Effect.timeoutFail({ duration: limit, onTimeout: () => unreachable("the proxy takes too long") }),
      Effect.onError(() => Effect.sync(() => socket.destroy()))
    )
    return socket
  })

const ignored = (): void => {}

/**
 * Gives every connection a login of its own, which a Tor proxy answers with a circuit of its own: so nobody can tell that
 * two connections are one node's. Source: upstream `netbase.cpp`, `-proxyrandomize`.
 */
export const isolatingCredentials = (random: Random): () => ProxyCredentials => {
  const prefix = toHex(randomBytes(random, 8))
  let count = 0
  return () => {
    const name = `${prefix}-${count++}`
    return { user: name, password: name }
  }
}
