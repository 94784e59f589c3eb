import { Context, Effect, type Scope } from "effect"
import { createServer, type Server, Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { Address } from "../../src/base/addresses.ts"

/** How tests reach a node, and are reached: over the machine's loopback, or over a simulated network. */

/** What both kinds of sockets have. */
export interface RemoteSocket extends Duplex {
  readonly localPort?: number | undefined
  setNoDelay(on: boolean): unknown
}

export interface LoopbackService {
  /** Dies if nobody listens. */
  readonly connect: (
    to: Address,
    from: string | undefined
  ) => Effect.Effect<RemoteSocket, never, Scope.Scope>
  /** Port 0 is any free port. Returns the bound address. */
  readonly listen: (
    address: Address,
    accept: (socket: RemoteSocket) => void
  ) => Effect.Effect<Address, never, Scope.Scope>
  /** A port that was free a moment ago. */
  readonly freePort: Effect.Effect<number>
}

const boundTo = (server: Server): number => {
  const bound = server.address()
  return typeof bound === "object" && bound !== null ? bound.port : 0
}

/** That of the machine. */
export const realLoopback: LoopbackService = {
  connect: (to, from) =>
    Effect.acquireRelease(
      Effect.async<Socket>((resume) => {
        const socket = new Socket()
        socket.once("connect", () => resume(Effect.succeed(socket)))
        socket.once("error", (error) => resume(Effect.die(error)))
        socket.connect({ ...to, ...(from === undefined ? {} : { localAddress: from }) })
      }),
      (socket) => Effect.sync(() => socket.destroy())
    ),

  listen: (address, accept) =>
    Effect.acquireRelease(
      Effect.async<Server>((resume) => {
        const server = createServer(accept)
        server.once("error", (error) => resume(Effect.die(error)))
        server.listen(address, () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
    ).pipe(Effect.map((server) => ({ ...address, port: boundTo(server) }))),

  freePort: Effect.async((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const port = boundTo(server)
      server.close(() => resume(Effect.succeed(port)))
    })
  })
}

/** The loopback of a test. `simulated` tests have a network of their own. */
export class Loopback extends Context.Reference<Loopback>()("test/Loopback", {
  defaultValue: (): LoopbackService => realLoopback
}) {}

/** A port that was free a moment ago. */
export const freePort: Effect.Effect<number> = Effect.flatMap(Loopback, (loopback) => loopback.freePort)
