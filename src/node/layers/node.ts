import * as Cause from "effect/Cause"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { spannedLayer } from "../../base/spans.ts"
import { Chain } from "../../chain/Chain.ts"
import type { EmbeddedOpenFailure } from "../../client/errors.ts"
import { NameClient } from "../../client/NameClient.ts"
import type { NodeOptions } from "../../config/nodeOptions.ts"
import type { PeerManager } from "../../network/PeerManager.ts"
import { displayHash } from "../../protocol/bytes.ts"
import * as Publishers from "../../publish/Publishers.ts"
import { Lifecycle, type NodeFailure } from "../../rpc/Lifecycle.ts"
import { version } from "../../version.ts"
import { nameClientLayer, type NodeClientOptions } from "../nodeClient.ts"
import { baseLayer, leavingHost, openFailure } from "./base.ts"
import { chainLayer, type ProvidedByChain } from "./chain.ts"
import { mempoolLayer, type ProvidedByMempool } from "./mempool.ts"
import { nameDbLayer, type ProvidedByNameDb } from "./names.ts"
import { NodeSettings, nodeSettings, optionsOfConfig } from "./NodeSettings.ts"
import { peersLayer } from "./peers.ts"
import { openWallet, type ProvidedByWallet, type WalletAccess, walletLayer } from "./wallet.ts"

/** A whole node without servers: the layers of its parts, one over the other. */

/** All services of a node without its servers. */
export type NodeServices = PeerManager | ProvidedByChain | ProvidedByMempool | ProvidedByNameDb | ProvidedByWallet

/** Names from a node that is composed by hand. */
export class NodeNameClient extends NameClient {
  /** A client of the node below, in this process. `Node.layer` already includes one. */
  static layerNode(options: NodeClientOptions = {}): Layer.Layer<NameClient, never, NodeServices> {
    return nameClientLayer(options)
  }
}

export const partsLayer = () =>
  peersLayer().pipe(
    Layer.provideMerge(walletLayer()),
    Layer.provideMerge(mempoolLayer()),
    Layer.provideMerge(nameDbLayer()),
    Layer.provideMerge(chainLayer()),
    spannedLayer({ open: "svcd.node.open", close: "svcd.node.close" })
  )

export const logStarted = Effect.gen(function*() {
  const chain = yield* Chain
  const { settings: { chain: { dataDir, network } } } = yield* NodeSettings
  const { header, height } = yield* chain.tip
  yield* Effect.logInfo("node started", { version, network, height, hash: displayHash(header.hash), dataDir })
}).pipe(Effect.annotateLogs("subsystem", "chain"))

export const nodeOver = <E>(settings: Layer.Layer<NodeSettings, E>) =>
  Layer.effectDiscard(logStarted).pipe(
    Layer.provideMerge(partsLayer()),
    Layer.provideMerge(baseLayer()),
    Layer.provideMerge(Layer.merge(settings, Publishers.layerSilent)),
    leavingHost
  )

/** The options of a node, and the wallet that the program uses. */
export type NodeGiven = NodeOptions & WalletAccess

const layer = (
  { passphrase, wallet, ...options }: NodeGiven
): Layer.Layer<NameClient | NodeServices, EmbeddedOpenFailure> =>
  Layer.unwrapEffect(
    Effect.map(NodeSettings, ({ settings: { answers: { requireProof } } }) => nameClientLayer({ requireProof, wallet }))
  ).pipe(
    Layer.provideMerge(
      Layer.effectDiscard(
        wallet === undefined && passphrase === undefined ? Effect.void : openWallet({ wallet, passphrase })
      )
    ),
    Layer.provideMerge(nodeOver(Layer.effect(NodeSettings, nodeSettings(options)))),
    Layer.mapError(openFailure)
  )

const ended: Effect.Effect<void, NodeFailure, Lifecycle> = Effect.flatMap(Lifecycle, (lifecycle) => lifecycle.ended)

const SIGNALS = ["SIGINT", "SIGTERM"] as const

/** A node in this process. */
export const Node = {
  /**
   * The services of a whole node, without servers, for the lifetime of the layer. `NameClient` answers from it. Rules
   * and defaults are those of svcd's options.
   */
  layer,

  /** As `layer`, with options that the program reads: `{ dataDir: Config.string("NODE_DIR") }`. */
  layerConfig: (
    options: Config.Config.Wrap<NodeGiven>
  ): Layer.Layer<NameClient | NodeServices, ConfigError.ConfigError | EmbeddedOpenFailure> =>
    optionsOfConfig(options, layer),

  /**
   * Waits until a caller of `stop` ends the node. Fails when a part of the node cannot continue, for instance on a full
   * disk. A program that is a daemon runs this.
   */
  ended,

  /**
   * Runs a layer with a node as the daemon of this process, until a caller of `stop`, SIGINT or SIGTERM ends it and
   * everything is closed. A failure to build or continue is logged, and the exit code is 1.
   */
  runDaemon: <A, E extends { readonly message: string }>(daemon: Layer.Layer<A | Lifecycle, E>): void => {
    const running = Effect.runFork(
      Effect.provide(ended, daemon).pipe(
        Effect.tapErrorCause((cause) => {
          const failure = Cause.failureOption(cause)
          return Option.isSome(failure)
            ? Effect.logError("node stops", { reason: failure.value.message })
            : Cause.isInterruptedOnly(cause)
            ? Effect.void
            : Effect.logError("node stops: internal error", cause)
        })
      )
    )
    const interrupt = (): void => void Effect.runFork(Fiber.interrupt(running))
    for (const signal of SIGNALS) process.once(signal, interrupt)
    running.addObserver((exit) => {
      for (const signal of SIGNALS) process.removeListener(signal, interrupt)
      if (!Exit.isSuccess(exit) && !Exit.isInterrupted(exit)) process.exitCode = 1
    })
  }
}
