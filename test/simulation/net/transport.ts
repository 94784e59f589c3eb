import * as Effect from "effect/Effect"
import { formatHostPort } from "../../../src/base/addresses.ts"
import { BindFailed } from "../../../src/base/listening.ts"
import {
  DialFailed,
  LookupFailed,
  type PeerStream,
  type TransportService
} from "../../../src/network/connect/Transport.ts"
import type { Endpoint } from "./SimConnection.ts"
import type { Accept, SimNetwork } from "./SimNetwork.ts"
import type { SimSocket } from "./SimSocket.ts"

/** Listens at a port, or at any for port 0. `undefined` if it is taken. */
export const listenAt = (
  network: SimNetwork,
  { host, port }: Endpoint,
  accept: Accept
): { readonly port: number; readonly stop: () => void } | undefined => {
  const at = port === 0 ? network.freePort(host) : port
  const stop = at === undefined ? undefined : network.listen({ host, port: at }, accept)
  return at === undefined || stop === undefined ? undefined : { port: at, stop }
}

interface Call {
  cancel: () => void
  socket: SimSocket | undefined
}

/** What connects a node at a host of the simulated network. `names`: the addresses of DNS seeds. */
export const transportOf = (
  network: SimNetwork,
  host: string,
  names: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
): TransportService => ({
  dial: (target) =>
    "path" in target
      ? new DialFailed({ code: "ENOENT" })
      : Effect.acquireRelease(
        Effect.sync((): Call => ({ cancel: () => {}, socket: undefined })),
        (call) =>
          Effect.sync(() => {
            call.cancel()
            call.socket?.destroy()
          })
      ).pipe(Effect.flatMap((call) =>
        Effect.async<PeerStream, DialFailed>((resume) => {
          call.cancel = network.dial(host, target, {
            connected: (socket) => {
              call.socket = socket
              resume(Effect.succeed(socket))
            },
            failed: (code) => resume(new DialFailed({ code }))
          })
        })
      )),

  listen: (address, accept) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const { port } = address
        const bound = listenAt(network, { host, port }, accept)
        return bound === undefined
          ? new BindFailed({ what: "peers", address: formatHostPort({ host, port }), code: "EADDRINUSE" })
          : Effect.succeed(bound)
      }),
      ({ stop }) => Effect.sync(stop)
    ).pipe(Effect.map(({ port }) => ({ host, port }))),

  resolve: (name) => {
    const found = names.get(name)
    return found === undefined ? new LookupFailed({ code: "ENOTFOUND" }) : Effect.succeed(found)
  }
})
