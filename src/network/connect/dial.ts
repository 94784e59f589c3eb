import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, type Socket } from "node:net"
import { type Address, formatHostPort } from "../../base/addresses.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import type { ProxyAddress, ProxyRoutes } from "../../config/proxies.ts"
import { connectThrough, type ProxyCredentials } from "../addresses/socks5.ts"
import { PeerUnreachable } from "../errors.ts"
import { parseNetAddress } from "../wire/addressText.ts"
import { isRoutable } from "../wire/netGroup.ts"

/** Opens sockets to peers, directly or through a proxy. */

export interface Proxies {
  readonly routes: ProxyRoutes
  /** A login per connection, for which Tor makes separate circuits; `undefined` for no login. */
  readonly credentials: (() => ProxyCredentials) | undefined
}

export type PeerRoute =
  | { readonly type: "direct" }
  | { readonly type: "proxy"; readonly proxy: ProxyAddress }
  | { readonly type: "none"; readonly reason: string }

const DIRECT: PeerRoute = { type: "direct" }
const NO_ONIONS: PeerRoute = { type: "none", reason: "onion addresses need a proxy: see -proxy and -onion" }
const NO_I2P: PeerRoute = { type: "none", reason: "svcd does not connect to I2P" }

const through = (proxy: ProxyAddress | undefined, otherwise: PeerRoute): PeerRoute =>
  proxy === undefined ? otherwise : { type: "proxy", proxy }

/**
 * The way to a host. A proxy cannot reach addresses of this machine or a private network. Names that end like an onion
 * address, in any case, are never looked up. Source: upstream `net.cpp`, `ConnectNode`.
 */
export const routeTo = (routes: ProxyRoutes, host: string): PeerRoute => {
  const address = parseNetAddress(host)
  const name = host.toLowerCase().replace(/\.$/, "")
  if (address?.network === "torv3" || name.endsWith(".onion")) return through(routes.onion, NO_ONIONS)
  if (address?.network === "i2p" || name.endsWith(".i2p")) return NO_I2P
  if (address === undefined) return through(routes.names, DIRECT)
  return isRoutable(address) ? through(routes[address.network], DIRECT) : DIRECT
}

const direct = (target: Address, limit: Duration.Duration): Effect.Effect<Socket, PeerUnreachable, Scope.Scope> => {
  const unreachable = (code: string) => new PeerUnreachable({ peer: formatHostPort(target), reason: reasonOf(code) })
  const connected = (socket: Socket) =>
    Effect.async<Socket, PeerUnreachable>((resume) => {
      socket.once("connect", () => resume(Effect.succeed(socket)))
      socket.once("error", (error) => resume(unreachable(codeOf(error))))
    })
  return Effect.acquireRelease(
    // An error without a listener would end the process.
    Effect.sync(() => connect({ host: target.host, port: target.port, noDelay: true }).on("error", () => {})),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(
    Effect.flatMap(connected),
    Effect.timeoutFail({ duration: limit, onTimeout: () => unreachable("ETIMEDOUT") })
  )
}

export interface Dialled {
  readonly socket: Socket
  /** Whether a proxy made the connection, so that the socket does not know the peer's address. */
  readonly proxied: boolean
}

/**
 * Connects to an address, or to a name that the system or the proxy resolves. The scope owns the socket. `limit` is for
 * the TCP connection (reference/protocol.md 6.5); a proxy has its own.
 */
export const dial = (
  target: Address,
  { limit, proxies: { credentials, routes } }: { readonly proxies: Proxies; readonly limit: Duration.Duration }
): Effect.Effect<Dialled, PeerUnreachable, Scope.Scope> =>
  Effect.suspend(() => {
    const route = routeTo(routes, target.host)
    if (route.type === "none") return new PeerUnreachable({ peer: formatHostPort(target), reason: route.reason })
    const proxied = route.type === "proxy"
    const socket = proxied
      ? connectThrough(route.proxy, target, credentials === undefined ? {} : { credentials: credentials() })
      : direct(target, limit)
    return Effect.map(socket, (socket) => ({ socket, proxied })).pipe(
      Effect.withSpan("svcd.network.dial", { attributes: { proxied } })
    )
  })
