import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Transport } from "../../../src/network/connect/Transport.ts"
import type { WorldNetwork } from "../World.ts"
import { SimNetwork, type SimNetworkOptions } from "./SimNetwork.ts"
import { transportOf } from "./transport.ts"

/** Chance that a killed node's machine loses power, so that others do not learn of it. */
const POWER_CUT = 0.4

/** The network of a world. */
export const worldNetwork = (options: SimNetworkOptions): WorldNetwork => {
  const network = new SimNetwork(options)
  const kills = options.streamOf("kills")
  return {
    layerOf: (host) =>
      Layer.unwrapEffect(Effect.sync(() => {
        network.returns(host)
        return Layer.succeed(Transport, transportOf(network, host))
      })),
    vanish: (host) => network.kill(host, kills() >= POWER_CUT),
    heal: () => network.heal(),
    sim: network
  }
}
