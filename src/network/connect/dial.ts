import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { connect, type Socket } from "node:net"
import { type Address, formatAddress } from "../../base/addresses.ts"
import { connectThrough, type ProxyCredentials } from "../addresses/socks5.ts"
import { PeerUnreachable } from "../errors.ts"

/** For the connection itself (reference/protocol.md 6.5). */
const CONNECT_LIMIT = "5 seconds"

export interface Proxy {
  readonly address: Address
  /** A login for each connection, so that Tor gives it a circuit of its own. */
  readonly credentials: () => ProxyCredentials
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nobody listens there"],
  ["ECONNRESET", "it closed the connection"],
  ["EHOSTUNREACH", "there is no way to it"],
  ["ENETUNREACH", "there is no way to its network"],
  ["ENOTFOUND", "the name is not known"],
  ["EAI_AGAIN", "the name cannot be looked up now"],
  ["ETIMEDOUT", "it does not answer"]
])

const direct = (target: Address): Effect.Effect<Socket, PeerUnreachable, Scope.Scope> => {
  const unreachable = (reason: string) => new PeerUnreachable({ peer: formatAddress(target), reason })
  const connected = (socket: Socket) =>
    Effect.async<Socket, PeerUnreachable>((resume) => {
      socket.once("connect", () => resume(Effect.succeed(socket)))
      socket.once("error", (error: NodeJS.ErrnoException) => {
        resume(unreachable(REASONS.get(error.code ?? "") ?? error.code ?? error.message))
      })
    })
  return Effect.acquireRelease(
    // Somebody has to listen to errors all the time, or they end the process.
    Effect.sync(() => connect({ host: target.host, port: target.port, noDelay: true }).on("error", () => {})),
    (socket) => Effect.sync(() => socket.destroy())
  ).pipe(
    Effect.flatMap(connected),
    Effect.timeoutFail({ duration: CONNECT_LIMIT, onTimeout: () => unreachable("it does not answer") })
  )
}

/**
 * Calls an address or, where the system or the proxy knows it, a name. The socket lives as long as the scope.
 */
export const dial = (
  target: Address,
  proxy: Proxy | undefined
): Effect.Effect<Socket, PeerUnreachable, Scope.Scope> =>
  proxy === undefined
    ? direct(target)
    : connectThrough(proxy.address, target, { credentials: proxy.credentials() })
