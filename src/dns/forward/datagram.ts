import * as Effect from "effect/Effect"
import { createSocket, type Socket } from "node:dgram"
import { isIPv6 } from "node:net"
import type { Address } from "../../base/addresses.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { AskFailed } from "./AskFailed.ts"

/**
 * Sends a query and returns the first result of `judge` for a datagram that comes back. Each query has a socket and with
 * it a port of its own, which the system draws at random; the socket is connected, so it takes datagrams of that server
 * alone, and hears at once if nothing listens there (RFC 5452, section 9.2).
 */
export const overUdp = <A>(
  query: Bytes,
  server: Address,
  judge: (datagram: Bytes) => A | undefined
): Effect.Effect<A, AskFailed> =>
  Effect.acquireUseRelease(
    Effect.sync(() => createSocket(isIPv6(server.host) ? "udp6" : "udp4")),
    (socket) => exchange(socket, { query, server, judge }),
    (socket) => Effect.sync(() => socket.close())
  )

interface Exchange<A> {
  readonly query: Bytes
  readonly server: Address
  readonly judge: (datagram: Bytes) => A | undefined
}

const exchange = <A>(socket: Socket, { judge, query, server }: Exchange<A>): Effect.Effect<A, AskFailed> =>
  Effect.async((resume) => {
    // Stays attached: an error between the result and the end of the socket would otherwise end the process.
    socket.on("error", (error) => resume(new AskFailed({ reason: reasonOf(codeOf(error)) })))
    socket.on("message", (datagram) => {
      const result = judge(datagram)
      if (result !== undefined) resume(Effect.succeed(result))
    })
    // Where no network leads to the server, the error comes here, and a socket that is not connected cannot send.
    socket.connect(server.port, server.host, (error?: Error) => {
      if (error === undefined) socket.send(query)
      else resume(new AskFailed({ reason: reasonOf(codeOf(error)) }))
    })
  })
