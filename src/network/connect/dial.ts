import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, type Socket } from "node:net"
import { type Address, formatHostPort } from "../../base/addresses.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { connectThrough, type ProxyCredentials } from "../addresses/socks5.ts"
import { PeerUnreachable } from "../errors.ts"

/** Limit for the TCP connection (reference/protocol.md 6.5). */
const CONNECT_LIMIT = "5 seconds"

export interface Proxy {
  readonly address: Address
  /** One login per connection, so that Tor gives each its own circuit. */
  readonly credentials: () => ProxyCredentials
}

const direct = (target: Address): Effect.Effect<Socket, PeerUnreachable, Scope.Scope> => {
  const unreachable = (code: string) => new PeerUnreachable({ peer: formatHostPort(target), reason: reasonOf(code) })
  const connected = (socket: Socket) =>
    Effect.async<Socket, PeerUnreachable>((resume) => {
      socket.once("connect", () => resume(Effect.succeed(socket)))
      socket.once("error", (error) => resume(unreachable(codeOf(error))))
    })
  return Effect.acquireRelease(
    // There is always an error listener: without one, an error would end the process.
    Effect.sync(() => connect({ host: target.host, port: target.port, noDelay: true }).on("error", () => {})),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(
    Effect.flatMap(connected),
    Effect.timeoutFail({ duration: CONNECT_LIMIT, onTimeout: () => unreachable("ETIMEDOUT") })
  )
}

/** Connects to an address or to a name that the system or the proxy resolves. The scope owns the socket. */
export const dial = (
  target: Address,
  proxy: Proxy | undefined
): Effect.Effect<Socket, PeerUnreachable, Scope.Scope> =>
  (proxy === undefined
    ? direct(target)
    : connectThrough(proxy.address, target, { credentials: proxy.credentials() })).pipe(
      Effect.withSpan("svcd.network.dial", { attributes: { proxied: proxy !== undefined } })
    )
