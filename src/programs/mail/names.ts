import * as Layer from "effect/Layer"
import { isLoopback } from "../../base/addresses.ts"
import * as DaemonClient from "../../client/daemonClient.ts"
import { InvalidConfig, type OpenFailure } from "../../client/errors.ts"
import type { NameClient } from "../../client/NameClient.ts"
import type { ConnectionSettings } from "../../config/connection.ts"
import { NETWORK_NAMES } from "../../config/options.ts"
import type { NetworkName } from "../../protocol/networks.ts"

/** Milliseconds per call: the sender of a message waits. */
const TIMEOUT = 10_000

/** A field of the client's configuration is a flag here. */
const asFlag = (failure: OpenFailure): OpenFailure =>
  failure._tag === "InvalidConfig" && failure.field === "network"
    ? new InvalidConfig({ field: "--network", reason: failure.reason })
    : failure

/** Without a given network, that of the daemon. A local daemon that asks gets the credentials of its cookie. */
export const mailNames = (
  { cookieFile, network, networkFrom, rpc }: ConnectionSettings
): Layer.Layer<NameClient, OpenFailure> => {
  const spareCookieFile = isLoopback(rpc.host) ? cookieFile : undefined
  const on = (network: NetworkName) =>
    DaemonClient.layer({
      network,
      // Mail goes where the owner says, not where a miner says.
      requireProof: "signatures",
      daemon: {
        ...rpc,
        secure: false,
        basePath: "",
        cookieFile: undefined,
        spareCookieFile,
        wallet: undefined,
        timeout: TIMEOUT
      }
    })
  if (networkFrom !== undefined) return Layer.catchAll(on(network), (failure) => Layer.fail(asFlag(failure)))
  return NETWORK_NAMES.slice(1).reduce(
    (layer, next) =>
      Layer.catchAll(
        layer,
        (failure) => failure._tag === "InvalidConfig" && failure.field === "network" ? on(next) : Layer.fail(failure)
      ),
    on(NETWORK_NAMES[0])
  )
}
