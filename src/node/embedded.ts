import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { spannedLayer } from "../base/spans.ts"
import type { DecodedConfig } from "../client/config.ts"
import { type EmbeddedOpenFailure, InvalidConfig } from "../client/errors.ts"
import { NameClient } from "../client/NameClient.ts"
import * as DataDirectory from "../config/DataDirectory.ts"
import { decodeNodeOptions } from "../config/nodeOptions.ts"
import type { Settings } from "../config/settings.ts"
import { openFailure } from "./layers/base.ts"
import { nodeOver } from "./layers/node.ts"
import { NodeSettings, wholeSettings } from "./layers/NodeSettings.ts"
import { paramsFor } from "./layers/rules.ts"
import { openWallet } from "./layers/wallet.ts"
import * as LightClient from "./lightClient.ts"
import * as Memory from "./memory.ts"
import { nameClientLayer } from "./nodeClient.ts"

/** For script checks: the program around the node needs cores and memory, too. */
const MAX_THREADS = 3

/** The daemon's defaults with the client's configuration. Environment and svcd.conf are ignored. */
export const embeddedSettings = (
  { embedded, network }: DecodedConfig,
  cores = availableParallelism()
): Either.Either<Settings, InvalidConfig> => {
  const { anchor, bootstrapPeers, dataDir, disableWallet, maxPeers, nameProofs, sync } = embedded
  return Either.mapLeft(
    decodeNodeOptions({
      network,
      dataDir,
      // An embedded node connects to peers and accepts no connections.
      listen: "",
      maxPeers,
      maxOutbound: maxPeers,
      bootstrapPeers,
      verifyThreads: Math.min(cores - 1, MAX_THREADS),
      disableWallet,
      // Even a directory with a part of the chain can stay with the window.
      sync: sync ?? "full",
      anchor,
      nameProofs
    }),
    (problem) => new InvalidConfig(problem)
  )
}

export const nodeAndClient = ({ embedded, requireProof }: DecodedConfig, settings: Settings) => {
  const { wallet, walletPassphrase: passphrase } = embedded
  const opened = Layer.effectDiscard(openWallet({ wallet, passphrase }, "walletPassphrase"))
  return nameClientLayer({ requireProof, wallet }).pipe(
    Layer.provideMerge(opened),
    Layer.provideMerge(nodeOver(Layer.succeed(NodeSettings, wholeSettings(settings)))),
    Layer.mapError(openFailure),
    spannedLayer({ open: "svcd.embedded.open", close: "svcd.embedded.close" })
  )
}

/**
 * Runs a node for the lifetime of the layer; its services stay private. Once the layer is built, names are available at
 * the stored height while the node syncs. It uses the program's logger and metrics.
 */
export const layer = (config: DecodedConfig): Layer.Layer<NameClient, EmbeddedOpenFailure> =>
  Layer.unwrapEffect(
    Effect.flatMap(embeddedSettings(config), (settings) =>
      Effect.map(isLight(config, settings), (light) =>
        light
          ? lightClient(config, settings)
          : Layer.map(nodeAndClient(config, settings), Context.pick(NameClient))))
  )

/**
 * The client is light in a directory without a whole chain, if configured; by default on a network with anchors, if
 * nothing needs more.
 */
export const isLight = (
  { embedded, requireProof }: Pick<DecodedConfig, "embedded" | "requireProof">,
  settings: Settings
): Either.Either<boolean, InvalidConfig> => {
  const has = (...path: ReadonlyArray<string>): boolean => existsSync(join(settings.chain.dataDir, ...path))
  const { sync, wallet, walletPassphrase } = embedded
  const isFull = has("chainstate", "chainstate.db") || has("chainstate_snapshot", "chainstate.db")
  if (sync === "full" || isFull) return Either.right(false)
  if (sync === "light") {
    return requireProof === "full"
      ? Either.left(new InvalidConfig({ field: "requireProof", reason: "a light client has no answer that is full" }))
      : Either.right(true)
  }
  const needsMore = requireProof === "full" || wallet !== undefined || walletPassphrase !== undefined ||
    has("wallet.json") || has("wallets")
  return Either.right(paramsFor(settings.chain).anchors.length > 0 && !needsMore)
}

const lightClient = (
  { requireProof }: DecodedConfig,
  settings: Settings
): Layer.Layer<NameClient, EmbeddedOpenFailure> =>
  LightClient.layer(settings, requireProof).pipe(
    Layer.provide(DataDirectory.layer({ path: settings.chain.dataDir, network: settings.chain.network })),
    Layer.provide(Memory.layer),
    Layer.mapError(openFailure)
  )
