import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DecodedConfig } from "../client/config.ts"
import type { DaemonOpenFailure, EmbeddedOpenFailure, InvalidConfig, OpenFailure } from "../client/errors.ts"
import type { ClientConfig, NameClient } from "../client/NameClient.ts"
import { ModeAuto, ModeDaemon, ModeEmbedded } from "../client/options.ts"

/**
 * Each layer decodes the configuration once and loads its modules on use, so that a program loads only what it runs.
 */

const decoding = <E>(
  config: ClientConfig,
  layerOf: (decoded: DecodedConfig) => Promise<Layer.Layer<NameClient, E>>
): Layer.Layer<NameClient, E | InvalidConfig> =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { decodeConfig, foreignFields } = yield* Effect.promise(() => import("../client/config.ts"))
    const decoded = yield* decodeConfig(config)
    const fields = foreignFields(config)
    if (fields.length > 0) yield* Effect.logWarning("unknown fields of the configuration have no effect", { fields })
    return yield* Effect.promise(() => layerOf(decoded))
  }))

const embedded = async (decoded: DecodedConfig) => (await import("./embedded.ts")).layer(decoded)

const overDaemon = async (decoded: DecodedConfig) => (await import("../client/daemonClient.ts")).layer(decoded)

const whenAsked = async (decoded: DecodedConfig) => (await import("../client/lazyDaemon.ts")).layer(decoded)

export const layerEmbedded = (config: ClientConfig): Layer.Layer<NameClient, EmbeddedOpenFailure> =>
  decoding(config, embedded)

export const layerDaemon = (config: ClientConfig): Layer.Layer<NameClient, DaemonOpenFailure> =>
  decoding(config, overDaemon)

export const layerDaemonLazy = (config: ClientConfig): Layer.Layer<NameClient, InvalidConfig> =>
  decoding(config, whenAsked)

export const layerAuto = (config: ClientConfig): Layer.Layer<NameClient, OpenFailure> => decoding(config, chosen)

/** @deprecated since 0.3: `NameClient.layerEmbedded`. */
export const EmbeddedNode = { layer: (config: ClientConfig = {}) => layerEmbedded(config) }

/** @deprecated since 0.3: `NameClient.layerDaemon`. */
export const DaemonClient = { layer: (config: ClientConfig = {}) => layerDaemon(config) }

/** @deprecated since 0.3: `NameClient.layer`. */
export const AutoClient = { layer: (config: ClientConfig = {}) => layerAuto(config) }

const chosen = async (decoded: DecodedConfig): Promise<Layer.Layer<NameClient, OpenFailure>> => {
  switch (decoded.mode) {
    case ModeDaemon:
      return overDaemon(decoded)
    case ModeEmbedded:
      return embedded(decoded)
    case ModeAuto:
      return Layer.unwrapEffect(detected(decoded))
  }
}

const detected = (
  decoded: DecodedConfig
): Effect.Effect<Layer.Layer<NameClient, OpenFailure>, OpenFailure> =>
  Effect.gen(function*() {
    const { detect } = yield* Effect.promise(() => import("../client/detect.ts"))
    const found = yield* detect(decoded)
    const { host, port } = decoded.daemon
    if (found._tag === "Daemon") {
      yield* Effect.logInfo("names come from a daemon", { host, port })
      return yield* Effect.promise(() => overDaemon(decoded))
    }
    yield* Effect.logInfo("names come from a node in this process", {
      reason: found.reason,
      dataDir: decoded.embedded.dataDir
    })
    return yield* Effect.promise(() => embedded(decoded))
  })
