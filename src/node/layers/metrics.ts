import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Address } from "../../base/addresses.ts"
import type { BindFailed } from "../../base/listening.ts"
import type { InvalidConfig } from "../../client/errors.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import { exposition } from "../../metrics/exposition.ts"
import * as MetricsServer from "../../metrics/MetricsServer.ts"
import { Samples } from "../../metrics/Samples.ts"
import { partsInUse, shownMetrics } from "../../metrics/shownMetrics.ts"
import { type NodeBase, partLayer } from "./base.ts"
import { optionsOfConfig } from "./NodeSettings.ts"

/** An optional address to listen on, and whether all metrics are shown. */
export type MetricsOptions = OptionsOf<"Metrics">

export const metricsLayer = (settings: Settings) =>
  Layer.scoped(
    NodeMetrics,
    Effect.gen(function*() {
      const { alerts, metrics: { detail, listen }, names } = settings
      const { take } = yield* Samples
      const hasAlerts = alerts.mail.length > 0 || names.watch.length > 0
      const table = () => shownMetrics({ detail, parts: partsInUse(hasAlerts) })
      const text = Effect.zipRight(take, Effect.suspend(() => exposition(table())))
      const address = listen === undefined
        ? undefined
        : (yield* MetricsServer.make({ listen, table, sample: take })).address
      return { text, address }
    })
  )

/** The metrics of the node, for a collector such as Prometheus. */
export class NodeMetrics extends Context.Tag("svcd/Metrics")<NodeMetrics, {
  /** The metrics in the text format of Prometheus, to mount on a router of the program. */
  readonly text: Effect.Effect<string>
  /** The address of GET /metrics with the actual port; `undefined` without `listen`. */
  readonly address: Address | undefined
}>() {
  /** The metrics of the node below, on their own address if `listen` names one. */
  static layer(options: MetricsOptions = {}): Layer.Layer<NodeMetrics, BindFailed | InvalidConfig, NodeBase> {
    return partLayer({ layer: "Metrics", options, isServer: true }, metricsLayer)
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig(
    options: Config.Config.Wrap<MetricsOptions>
  ): Layer.Layer<NodeMetrics, BindFailed | ConfigError.ConfigError | InvalidConfig, NodeBase> {
    return optionsOfConfig(options, NodeMetrics.layer)
  }
}
