import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type Socket } from "node:net"
import { createSecureContext, TLSSocket } from "node:tls"
import type { Address } from "../../base/addresses.ts"
import type { Certificate } from "../../base/givenCertificate.ts"
import { type BindFailed, listenOn } from "../../base/listening.ts"
import { dnsClient } from "./client.ts"
import { ClientConnections } from "./ClientConnections.ts"
import type { Serving } from "./serving.ts"
import { StreamConnection } from "./StreamConnection.ts"

/** DNS over TCP (RFC 7766) and over TLS (RFC 7858). */

/** How often idle connections are looked for. */
const SWEEP = "1 second"

/** Connections that close for idleness, and all with the scope. */
export const clientConnections = (serving: Serving): Effect.Effect<ClientConnections, never, Scope.Scope> =>
  Effect.gen(function*() {
    const open = new ClientConnections(serving.limits, serving.now)
    yield* Effect.addFinalizer(() => Effect.sync(() => open.closeAll()))
    yield* Effect.forkScoped(Effect.schedule(Effect.sync(() => open.closeIdle()), Schedule.spaced(SWEEP)))
    return open
  })

/** Frees the port. Its connections close with their own scope. */
export const listenScoped = (server: Server, address: Address): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  Effect.acquireRelease(listenOn(server, address, "DNS"), () => Effect.sync(() => void server.close()))

/** A secured socket is half open where the one below is. */
const SERVER_OPTIONS = { noDelay: true, allowHalfOpen: true }

interface StreamServer {
  readonly serving: Serving
  readonly open: ClientConnections
}

const accept = ({ open, serving }: StreamServer, { socket, transport }: {
  readonly socket: Socket
  readonly transport: "tcp" | "tls"
}): void => {
  const client = dnsClient(transport, { address: socket.remoteAddress, port: socket.remotePort })
  const connection = new StreamConnection({ socket, client, serving, open })
  if (!open.admit(connection)) connection.destroy()
}

export const serveTcp = (
  address: Address,
  parts: StreamServer
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
  listenScoped(createServer(SERVER_OPTIONS, (socket) => accept(parts, { socket, transport: "tcp" })), address)

/** RFC 7858 does without a name; clients that send one mean this. */
const PROTOCOLS = ["dot"]

const secured = (socket: Socket, context: ReturnType<typeof createSecureContext>): TLSSocket => {
  // Errors of a handshake come here; without a listener they would end the process.
  socket.on("error", () => {})
  return new TLSSocket(socket, { isServer: true, secureContext: context, ALPNProtocols: PROTOCOLS })
}

export const serveTls = (
  { address, certificate }: { readonly address: Address; readonly certificate: Certificate },
  parts: StreamServer
): Effect.Effect<Address, BindFailed, Scope.Scope> => {
  const contextOf = () => createSecureContext({ ...certificate.current(), minVersion: "TLSv1.2" })
  let context = contextOf()
  certificate.onChange(() => {
    context = contextOf()
  })
  const server = createServer(
    SERVER_OPTIONS,
    (socket) => accept(parts, { socket: secured(socket, context), transport: "tls" })
  )
  return listenScoped(server, address)
}
