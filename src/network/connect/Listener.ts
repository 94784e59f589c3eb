import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type Socket } from "node:net"
import { type Address, formatAddress } from "../../base/addresses.ts"
import { fewATurn } from "../../base/fewATurn.ts"
import { ListenFailed } from "../errors.ts"

/** Connections that are taken over in one turn of the event loop, and the most that wait for theirs. */
const ACCEPTED_A_TURN = 1
const MOST_WAITING = 256

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "the address is in use; another program, or another svcd, listens there"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["EACCES", "permission denied"],
  ["ENOTFOUND", "the host is not known"]
])

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string => REASONS.get(code ?? "") ?? code ?? message

const open = (server: Server, { host, port }: Address): Effect.Effect<Address, ListenFailed> =>
  Effect.async((resume) => {
    const failed = (error: NodeJS.ErrnoException): void =>
      resume(new ListenFailed({ address: formatAddress({ host, port }), reason: reasonOf(error) }))
    server.once("error", failed)
    // Without a host Node takes both families, or the one that there is.
    server.listen({ port, host: host === "" ? undefined : host }, () => {
      server.removeListener("error", failed)
      const bound = server.address()
      resume(Effect.succeed({ host, port: typeof bound === "object" && bound !== null ? bound.port : port }))
    })
  })

/**
 * Listens as long as the scope is open. Who calls is given to `accept`, which takes over the socket. Returns where it
 * listens, with the port that was found where 0 was asked for.
 */
export const listen = (
  address: Address,
  accept: (socket: Socket) => void
): Effect.Effect<Address, ListenFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const line = fewATurn(ACCEPTED_A_TURN)
    let closed = false
    // The system hands out all connections that have come at once, and each takes a millisecond.
    const server = createServer({ noDelay: true }, (socket) => {
      // Without a listener an error would end the process.
      socket.on("error", () => {})
      if (line.length >= MOST_WAITING) return void socket.destroy()
      line.add(() => closed ? void socket.destroy() : accept(socket))
    })
    const bound = yield* Effect.acquireRelease(open(server, address), () =>
      // Connections have an owner of their own, so nothing is waited for.
      Effect.sync(() => {
        closed = true
        server.close()
      }))
    // Such as too many open files; the listener goes on, and who could not connect tries again.
    const run = yield* Effect.runtime<never>()
    server.on("error", (error: NodeJS.ErrnoException) => {
      const trouble = Effect.logWarning("listener for peers", { reason: reasonOf(error) })
      Effect.runFork(Effect.provide(trouble, run))
    })
    return bound
  })
