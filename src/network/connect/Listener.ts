import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type Socket } from "node:net"
import { type Address, formatHostPort } from "../../base/addresses.ts"
import { codeOf, reasonOf } from "../../base/errorCode.ts"
import { fewATurn } from "../../base/fewATurn.ts"
import { ListenFailed } from "../errors.ts"

/** Connections accepted per turn of the event loop, and the maximum that wait. */
const ACCEPTED_A_TURN = 1
const MOST_WAITING = 256

const open = (server: Server, { host, port }: Address): Effect.Effect<Address, ListenFailed> =>
  Effect.async((resume) => {
    const failed = (error: Error): void =>
      resume(new ListenFailed({ address: formatHostPort({ host, port }), reason: reasonOf(codeOf(error)) }))
    server.once("error", failed)
    // Without a host, Node listens on IPv4 and IPv6, or on the one available.
    server.listen({ port, host: host === "" ? undefined : host }, () => {
      server.removeListener("error", failed)
      const bound = server.address()
      resume(Effect.succeed({ host, port: typeof bound === "object" && bound !== null ? bound.port : port }))
    })
  })

/**
 * Listens while the scope is open. Passes each accepted socket to `accept`, which then owns it. Returns the bound
 * address; port 0 becomes the port that the system assigned.
 */
export const listen = (
  address: Address,
  accept: (socket: Socket) => void
): Effect.Effect<Address, ListenFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const line = fewATurn(ACCEPTED_A_TURN)
    let closed = false
    // The system delivers all pending connections at once, and each takes a millisecond.
    const server = createServer({ noDelay: true }, (socket) => {
      // Without an error listener, an error would end the process.
      socket.on("error", () => {})
      if (line.length >= MOST_WAITING) return void socket.destroy()
      line.add(() => closed ? void socket.destroy() : accept(socket))
    })
    const bound = yield* Effect.acquireRelease(open(server, address), () =>
      // Each connection has its own owner, so closing does not wait for connections.
      Effect.sync(() => {
        closed = true
        server.close()
      }))
    // For example too many open files. The listener continues, and refused peers retry.
    const run = yield* Effect.runtime<never>()
    server.on("error", (error: Error) => {
      const trouble = Effect.logWarning("accepting peer connections failed", { reason: reasonOf(codeOf(error)) })
      Effect.runFork(Effect.provide(trouble, run))
    })
    return bound
  })
