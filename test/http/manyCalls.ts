import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { eventually } from "../support/eventually.ts"
import type { TestServer } from "../support/rpcServer.ts"

/** Calls to an RPC server, many at a time or over open connections. */

export const COUNT = { id: 1, method: "getblockcount" }
export const HASH = { id: 1, method: "getblockhash", params: [0] }

export const padded = (size: number): string => JSON.stringify(COUNT).padEnd(size, " ")

export const times = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)

/** Runs an effect per number, all at the same time. */
export const together = <A, E, R>(count: number, each: (at: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }, (_, at) => at), each, { concurrency: "unbounded" })

/** Sends text over a new connection, which stays open with the scope. */
export const sent = (port: number, text: string) =>
  Effect.acquireRelease(
    Effect.async<Socket>((resume) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(text, () => resume(Effect.succeed(socket))))
      socket.on("error", () => {})
      socket.resume()
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** Waits until so many calls run. */
export const untilInFlight = ({ dispatch }: Pick<TestServer, "dispatch">, count: number) =>
  eventually(`${count} calls in flight`, () => dispatch.inFlight() === count)
