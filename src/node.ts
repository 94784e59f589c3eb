/**
 * `svcd/node`: the services of a node as layers, for programs that compose their own.
 *
 * ```ts
 * import { Metrics, Node, RpcServer } from "svcd/node"
 * import { Layer } from "effect"
 *
 * const servers = Layer.merge(RpcServer.layer(), Metrics.layer({ listen: "127.0.0.1:9100" }))
 * Node.runDaemon(Layer.provideMerge(servers, Node.layer({ network: "mainnet" })))
 * ```
 */

export { BindFailed } from "./base/listening.ts"
export { NodeChain as Chain } from "./node/layers/chain.ts"
export { NodeDns as DnsServer } from "./node/layers/dnsServer.ts"
export { NodeElectrum as ElectrumServer } from "./node/layers/electrumServer.ts"
export { NodeMempool as Mempool } from "./node/layers/mempool.ts"
export { NodeMetrics as Metrics } from "./node/layers/metrics.ts"
export { NodeNames as NameDb } from "./node/layers/names.ts"
export { NodeNameClient as NameClient } from "./node/layers/node.ts"
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
export type { DnsServerOptions } from "./node/layers/dnsServer.ts"
export type { ElectrumServerOptions } from "./node/layers/electrumServer.ts"
export type { MempoolOptionsGiven as MempoolOptions } from "./node/layers/mempool.ts"
export type { MetricsOptions } from "./node/layers/metrics.ts"
export type { NameDbOptionsGiven as NameDbOptions } from "./node/layers/names.ts"
export type { NodeGiven as NodeOptions } from "./node/layers/node.ts"
export type { NodeServices } from "./node/layers/node.ts"
export type { ChainOptionsGiven as ChainOptions } from "./node/layers/NodeSettings.ts"
export type { PeerOptionsGiven as PeerManagerOptions } from "./node/layers/peers.ts"
export type { OwnParts, RpcServerOptions } from "./node/layers/rpc.ts"
export type { WalletAccess, WalletOptionsGiven as WalletOptions } from "./node/layers/wallet.ts"
export type { NodeClientOptions } from "./node/nodeClient.ts"
export type { NodeFailure } from "./rpc/Lifecycle.ts"
export {
  type OwnMethod as RpcMethod,
  ownMethod as method,
  type OwnMethodDefinition as RpcMethodDefinition
} from "./rpc/method/ownMethod.ts"
export { RpcError } from "./rpc/method/RpcError.ts"

// Named in the types of the layers, so that a program can export a layer.
export type { ExpiringNames } from "./alerts/ExpiringNames.ts"
export type { WatchList } from "./alerts/WatchList.ts"
export type { Address } from "./base/addresses.ts"
export type { Budget } from "./base/MemoryBudget.ts"
export type { MockTime, NodeTime } from "./base/NodeClock.ts"
export type { Scheduler } from "./base/Scheduler.ts"
export type { Chain as ChainTag, ChainServices } from "./chain/Chain.ts"
export type { ChainCoins } from "./chain/ChainCoins.ts"
export type { ChainControl } from "./chain/ChainControl.ts"
export type { ChainSink } from "./chain/ChainSink.ts"
export { ImportFailed } from "./chain/errors.ts"
export type { HeaderInfo } from "./chain/index/headerInfo.ts"
export type { Indexes } from "./chain/indexes/Indexes.ts"
export type { Snapshots } from "./chain/Snapshots.ts"
export type { SyncStatus } from "./chain/SyncStatus.ts"
export type { TxIndex } from "./chain/TxIndex.ts"
export type { Warnings } from "./chain/Warnings.ts"
export type { DataDirectory } from "./config/DataDirectory.ts"
export type { RpcServer as RpcServerTag } from "./http/RpcServer.ts"
export type { LightPart } from "./light/LightPart.ts"
export type { NameAnswers } from "./light/NameAnswers.ts"
export type { SyncReporter } from "./light/SyncReporter.ts"
export type { FeeEstimator } from "./mempool/fees/FeeEstimator.ts"
export type { LiveEvents } from "./mempool/live/LiveEvents.ts"
export type { Mempool as MempoolTag } from "./mempool/Mempool.ts"
export type { Miner } from "./mempool/mining/Miner.ts"
export type { ScriptBook } from "./mempool/scripts/ScriptBook.ts"
export type { Samples } from "./metrics/Samples.ts"
export type { NameEvents } from "./names/events/NameEvents.ts"
export type { NameDb as NameDbTag } from "./names/NameDb.ts"
export type { PeerManager as PeerManagerTag } from "./network/PeerManager.ts"
export type { NodeBase } from "./node/layers/base.ts"
export type { FilesImported, ProvidedByChain } from "./node/layers/chain.ts"
export type { ProvidedByMempool } from "./node/layers/mempool.ts"
export type { ProvidedByNameDb } from "./node/layers/names.ts"
export type { NodeSettings } from "./node/layers/NodeSettings.ts"
export type { OwnNeeds } from "./node/layers/rpc.ts"
export type { ProvidedByWallet } from "./node/layers/wallet.ts"
export type { Publishers } from "./publish/Publishers.ts"
export type { Dispatch } from "./rpc/Dispatch.ts"
export type { Lifecycle } from "./rpc/Lifecycle.ts"
export type { DataHealth } from "./storage/DataHealth.ts"
export type { Wallets } from "./wallet/Wallets.ts"
