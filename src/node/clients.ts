import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DaemonOpenFailure } from "../client/daemonClient.ts"
import type { InvalidConfig, OpenFailure } from "../client/errors.ts"
import { type ClientConfig, ModeAuto, ModeDaemon, ModeEmbedded, type NameClient } from "../client/NameClient.ts"

/**
 * The layers for a `NameClient`. Each loads its modules on use: a program that calls a daemon does not load a node, and
 * one that only reads bytes loads neither.
 */

const lazily = <A, E>(
  load: () => Promise<Layer.Layer<A, E>>
): Layer.Layer<A, E> => Layer.unwrapEffect(Effect.promise(load))

/** A node in this process. */
export const EmbeddedNode = {
  /**
   * Runs a node in this process for as long as the layer lives. It logs through the logger of the program, and counts
   * in its metrics.
   */
  layer: (config: ClientConfig = {}): Layer.Layer<NameClient, OpenFailure> =>
    lazily(async () => (await import("./embedded.ts")).layer(config))
}

/** A daemon: svcd, or the reference node. */
export const DaemonClient = {
  /** Fails to build without a daemon, or with one of another network. */
  layer: (config: ClientConfig = {}): Layer.Layer<NameClient, DaemonOpenFailure> =>
    lazily(async () => (await import("../client/daemonClient.ts")).layer(config))
}

/** The mode of the configuration, `auto` by default. */
export const AutoClient = {
  /**
   * A daemon if one answers within half a second, else a node in this process: `NameClient.mode` and a line in the log
   * show which. A daemon of another network counts as none; one that refuses the credentials is a failure.
   */
  layer: (config: ClientConfig = {}): Layer.Layer<NameClient, OpenFailure> =>
    Layer.unwrapEffect(Effect.suspend(() => {
      switch (config?.mode) {
        case ModeDaemon:
          return Effect.succeed(DaemonClient.layer(config))
        case ModeEmbedded:
          return Effect.succeed(EmbeddedNode.layer(config))
        default:
          return chosen(config)
      }
    }))
}

const chosen = (
  config: ClientConfig
): Effect.Effect<Layer.Layer<NameClient, OpenFailure>, InvalidConfig | OpenFailure> =>
  Effect.gen(function*() {
    const { decodeConfig } = yield* Effect.promise(() => import("../client/config.ts"))
    const { detect } = yield* Effect.promise(() => import("../client/detect.ts"))
    const decoded = yield* decodeConfig({ mode: ModeAuto, ...config })
    const found = yield* detect(decoded)
    const { host, port } = decoded.daemon
    if (found._tag === "Daemon") {
      yield* Effect.logInfo("names come from a daemon", { host, port })
      return DaemonClient.layer(config)
    }
    yield* Effect.logInfo("names come from a node in this process", {
      reason: found.reason,
      dataDir: decoded.embedded.dataDir
    })
    return EmbeddedNode.layer(config)
  })
