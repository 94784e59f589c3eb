/**
 * `svcd/node`: the services of a node as layers, for programs that compose their own.
 *
 * ```ts
 * import { Metrics, Node, RpcServer } from "svcd/node"
 * import { Effect, Layer } from "effect"
 *
 * const servers = Layer.merge(RpcServer.layer(), Metrics.layer({ listen: "127.0.0.1:9100" }))
 * const daemon = Layer.provideMerge(servers, Node.layer({ network: "mainnet" }))
 * const main = Effect.provide(Node.ended, daemon)
 * ```
 */

export { BindFailed } from "./base/listening.ts"
export { NodeChain as Chain } from "./node/layers/chain.ts"
export { NodeNameClient as NameClient } from "./node/layers/client.ts"
export { NodeMempool as Mempool } from "./node/layers/mempool.ts"
export { NodeMetrics as Metrics } from "./node/layers/metrics.ts"
export { NodeNames as NameDb } from "./node/layers/names.ts"
export { Node } from "./node/layers/node.ts"
export { NodePeers as PeerManager } from "./node/layers/peers.ts"
export { NodeRpcServer as RpcServer } from "./node/layers/rpc.ts"
export { NodeWallet as Wallet } from "./node/layers/wallet.ts"

export {
  type OwnRoute as Route,
  ownRoute as route,
  type RouteAnswer,
  type RouteDefinition,
  type RouteRequest
} from "./http/ownRoute.ts"
export type { MempoolOptionsGiven as MempoolOptions } from "./node/layers/mempool.ts"
export type { MetricsOptions } from "./node/layers/metrics.ts"
export type { NameDbOptionsGiven as NameDbOptions } from "./node/layers/names.ts"
export type { NodeGiven as NodeOptions } from "./node/layers/node.ts"
export type { ChainOptionsGiven as ChainOptions } from "./node/layers/NodeSettings.ts"
export type { PeerOptionsGiven as PeerManagerOptions } from "./node/layers/peers.ts"
export type { OwnParts, RpcServerOptions } from "./node/layers/rpc.ts"
export type { NodeServices } from "./node/layers/services.ts"
export type { WalletAccess, WalletOptionsGiven as WalletOptions } from "./node/layers/wallet.ts"
export type { NodeClientOptions } from "./node/nodeClient.ts"
export type { NodeFailure } from "./rpc/Lifecycle.ts"
export {
  type OwnMethod as RpcMethod,
  ownMethod as method,
  type OwnMethodDefinition as RpcMethodDefinition
} from "./rpc/method/ownMethod.ts"
export { RpcError } from "./rpc/method/RpcError.ts"
