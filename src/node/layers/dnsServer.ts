import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { BindFailed } from "../../base/listening.ts"
import type { EmbeddedOpenFailure } from "../../client/errors.ts"
import { servesDns } from "../../config/dnsSettings.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import { Dns } from "../../dns/Dns.ts"
import { type NodeBase, partLayer, serverFailure } from "./base.ts"
import type { ProvidedByChain } from "./chain.ts"
import type { ProvidedByNameDb } from "./names.ts"
import { optionsOfConfig } from "./NodeSettings.ts"

/** The DNS server of a node, whose code loads where it is used: most nodes have none. */

const loaded = (settings: Settings) =>
  Layer.unwrapEffect(Effect.map(Effect.promise(() => import("./dns.ts")), ({ dnsLayer }) => dnsLayer(settings)))

/** Nothing without an address to listen on. */
export const dnsOfNode = (settings: Settings) => servesDns(settings.dns) ? loaded(settings) : Layer.empty

/** The options of DNS. Without an address to listen on, it is 127.0.0.1:5391. */
export type DnsServerOptions = OptionsOf<"DnsServer">

type DnsFailure = BindFailed | EmbeddedOpenFailure

const USUAL = [{ host: "127.0.0.1", port: 5391 }]

const layerOf = (options: DnsServerOptions) =>
  Layer.mapError(
    partLayer({ layer: "DnsServer", options: listening(options), isServer: true }, loaded),
    serverFailure
  )

const listening = (options: DnsServerOptions): DnsServerOptions => {
  const { http = [], https = [], listen, tls = [] } = options
  return listen === undefined && [...http, ...https, ...tls].length === 0 ? { ...options, listen: USUAL } : options
}

/** The names of a node as the zone `bit`. */
export class NodeDns extends Dns {
  /** Answers DNS for the names below while the layer is open. `Dns.addresses` has actual ports, for port 0. */
  static layer(
    options: DnsServerOptions = {}
  ): Layer.Layer<Dns, DnsFailure, NodeBase | ProvidedByChain | ProvidedByNameDb> {
    return layerOf(options)
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig(
    options: Config.Config.Wrap<DnsServerOptions>
  ): Layer.Layer<Dns, ConfigError.ConfigError | DnsFailure, NodeBase | ProvidedByChain | ProvidedByNameDb> {
    return optionsOfConfig(options, NodeDns.layer)
  }
}
