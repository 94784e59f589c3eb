import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { Warnings } from "../../chain/Warnings.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { PROTOCOL_VERSION } from "../../network/peer/Handshake.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { Publishers } from "../../publish/Publishers.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { GETNETWORKINFO, GETZMQNOTIFICATIONS } from "../contract/network/network.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method, Methods } from "../method/methodTable.ts"
import { hex64, PEER_NETWORKS, serviceNames, wireNetwork } from "../shapes/peer.ts"
import { banMethods, knownAddressMethods } from "./banMethods.ts"
import { addedMethods, connectionMethods } from "./connectionMethods.ts"
import { CORE_VERSION } from "./infoMethods.ts"
import { peerBlockMethods, peerTestMethods } from "./peerTestMethods.ts"

/** reference/rpc.md 3.7. */

type Manager = typeof PeerManager.Service

interface SummaryServices {
  readonly peers: Manager
  readonly mempool: typeof Mempool.Service
  readonly warnings: typeof Warnings.Service
}

const summaryMethods = ({ mempool, peers, warnings }: SummaryServices): ReadonlyArray<Method> => {
  const getnetworkinfo = method(GETNETWORKINFO, () =>
    Effect.gen(function*() {
      const { inbound, outbound } = yield* peers.count
      const { incrementalFeeRate, minRelayFeeRate } = mempool.info()
      const reachable = (name: string): boolean => {
        const network = wireNetwork(name)
        return network !== undefined && peers.networks.has(network)
      }
      const locals = yield* peers.localAddresses
      return {
        version: CORE_VERSION,
        subversion: peers.userAgent,
        protocolversion: PROTOCOL_VERSION,
        localservices: hex64(peers.services),
        localservicesnames: serviceNames(peers.services),
        localrelay: peers.relaysTransactions,
        timeoffset: 0,
        connections: inbound + outbound,
        connections_in: inbound,
        connections_out: outbound,
        networkactive: yield* peers.active,
        networks: PEER_NETWORKS.map((name) => {
          const proxy = name === "i2p" ? undefined : peers.proxyTo(name)
          return {
            name,
            limited: !reachable(name),
            reachable: reachable(name),
            proxy: proxy?.address ?? "",
            proxy_randomize_credentials: proxy?.randomize ?? false
          }
        }),
        relayfee: new Amount(minRelayFeeRate),
        incrementalfee: new Amount(incrementalFeeRate),
        localaddresses: locals.map(({ address, port, score }) => ({ address, port, score })),
        warnings: yield* warnings.current
      }
    }))

  return [getnetworkinfo]
}

export const networkMethods: Methods<Chain | ChainControl | AnswerOptions | PeerManager | Mempool | Warnings> = Effect
  .gen(
    function*() {
      const chain = yield* Chain
      const { pruning } = yield* ChainControl
      const peers = yield* PeerManager
      const mempool = yield* Mempool
      const warnings = yield* Warnings
      const { banTime } = yield* AnswerOptions
      return [
        ...connectionMethods(peers),
        ...addedMethods(peers, chain.params.network.name === "regtest"),
        ...banMethods(peers, banTime),
        ...knownAddressMethods(peers),
        ...summaryMethods({ peers, mempool, warnings }),
        ...peerTestMethods(peers),
        ...peerBlockMethods({ peers, tree: chain.tree, prunes: pruning.options !== undefined })
      ]
    }
  )

/** Source: upstream `zmq/zmqrpc.cpp` (reference/rpc.md 3.8). */
export const zmqMethods: Methods<Publishers> = Effect.map(
  Publishers,
  ({ active }) => [
    method(
      GETZMQNOTIFICATIONS,
      () => Effect.succeed(active.map(({ address, hwm, topic }) => ({ type: `pub${topic}`, address, hwm })))
    )
  ]
)
