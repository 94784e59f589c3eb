import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { BindFailed } from "../../base/listening.ts"
import type { EmbeddedOpenFailure } from "../../client/errors.ts"
import { servesElectrum } from "../../config/electrumSettings.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import { ElectrumServer } from "../../electrum/ElectrumServer.ts"
import type { Dispatch } from "../../rpc/Dispatch.ts"
import { type NodeBase, partLayer, serverFailure } from "./base.ts"
import type { ProvidedByChain } from "./chain.ts"
import type { ProvidedByMempool } from "./mempool.ts"
import type { ProvidedByNameDb } from "./names.ts"
import { optionsOfConfig } from "./NodeSettings.ts"

/** The Electrum server of a node, whose code loads where it is used: most nodes have none. */

const loaded = (settings: Settings) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./electrum.ts")),
      ({ electrumLayer }) => electrumLayer(settings)
    )
  )

/** Nothing without an address to listen on. */
export const electrumOfNode = (settings: Settings) => servesElectrum(settings.electrum) ? loaded(settings) : Layer.empty

/** The options of the Electrum server. Without an address to listen on, it is 127.0.0.1:50001. */
export type ElectrumServerOptions = OptionsOf<"ElectrumServer">

type ElectrumFailure = BindFailed | EmbeddedOpenFailure

type ElectrumNode = Dispatch | NodeBase | ProvidedByChain | ProvidedByMempool | ProvidedByNameDb

const USUAL = [{ host: "127.0.0.1", port: 50_001 }]

const listening = (options: ElectrumServerOptions): ElectrumServerOptions => {
  const { listen, secureWebSocket = [], tls = [], webSocket = [] } = options
  return listen === undefined && [...secureWebSocket, ...tls, ...webSocket].length === 0
    ? { ...options, listen: USUAL }
    : options
}

const layerOf = (options: ElectrumServerOptions) =>
  Layer.mapError(
    partLayer({ layer: "ElectrumServer", options: listening(options), isServer: true }, loaded),
    serverFailure
  )

/** The names of a node for Electrum clients. */
export class NodeElectrum extends ElectrumServer {
  /**
   * Serves Electrum clients from the node and the JSON-RPC below, while the layer is open. `ElectrumServer.addresses`
   * has actual ports, for port 0.
   */
  static layer(options: ElectrumServerOptions = {}): Layer.Layer<ElectrumServer, ElectrumFailure, ElectrumNode> {
    return layerOf(options)
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig(
    options: Config.Config.Wrap<ElectrumServerOptions>
  ): Layer.Layer<ElectrumServer, ConfigError.ConfigError | ElectrumFailure, ElectrumNode> {
    return optionsOfConfig(options, NodeElectrum.layer)
  }
}
