import * as Effect from "effect/Effect"
import { formatHostPort } from "../../../src/base/addresses.ts"
import { BindFailed } from "../../../src/base/listening.ts"
import {
  DialFailed,
  LookupFailed,
  type PeerStream,
  type TransportService
} from "../../../src/network/connect/Transport.ts"
import type { SimNetwork } from "./SimNetwork.ts"
import type { SimSocket } from "./SimSocket.ts"

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
        const stop = network.listen({ host, port: address.port }, accept)
        return stop === undefined
          ? new BindFailed({ what: "peers", address: formatHostPort({ host, port: address.port }), code: "EADDRINUSE" })
          : Effect.succeed(stop)
      }),
      (stop) => Effect.sync(stop)
    ).pipe(Effect.as({ host, port: address.port })),

  resolve: (name) => {
    const found = names.get(name)
    return found === undefined ? new LookupFailed({ code: "ENOTFOUND" }) : Effect.succeed(found)
  }
})
