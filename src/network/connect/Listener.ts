import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Socket } from "node:net"
import type { Address } from "../../base/addresses.ts"
import { fewATurn } from "../../base/fewATurn.ts"
import { type BindFailed, listenOn } from "../../base/listening.ts"

/** Connections accepted per turn of the event loop, and the maximum that wait. */
const ACCEPTED_A_TURN = 1
const MOST_WAITING = 256

/**
 * Listens while the scope is open. Passes each accepted socket to `accept`, which then owns it. Returns the bound
 * address; port 0 becomes the port that the system assigned.
 */
export const listen = (
  address: Address,
  accept: (socket: Socket) => void
): Effect.Effect<Address, BindFailed, Scope.Scope> =>
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
    // Each connection has its own owner, so closing does not wait for connections.
    return yield* Effect.acquireRelease(listenOn(server, address, "peers"), () =>
      Effect.sync(() => {
        closed = true
        server.close()
      }))
  })
