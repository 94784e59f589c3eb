import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { Warnings } from "../../chain/Warnings.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { PROTOCOL_VERSION } from "../../network/peer/Handshake.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import * as Result from "../method/results.ts"
import { FEE, hex64, PEER_NETWORKS, serviceNames, wireNetwork } from "../shapes/peer.ts"
import { banMethods, knownAddressMethods } from "./banMethods.ts"
import { addedMethods, connectionMethods } from "./connectionMethods.ts"
import { CORE_VERSION } from "./infoMethods.ts"
import { peerBlockMethods } from "./peerBlockMethods.ts"
import { peerTestMethods } from "./peerTestMethods.ts"

/** Methods for the network (reference/rpc.md 3.7). */

type Manager = typeof PeerManager.Service

interface SummaryServices {
  readonly peers: Manager
  readonly mempool: typeof Mempool.Service
  readonly warnings: typeof Warnings.Service
}

const summaryMethods = ({ mempool, peers, warnings }: SummaryServices): ReadonlyArray<Method> => {
  const getnetworkinfo = method({
    name: "getnetworkinfo",
    right: "read",
    group: "Network",
    summary: "Returns the state of the node's network.",
    params: {},
    results: [{
      schema: Schema.Struct({
        version: Result.integer(
          "Version of Namecoin Core whose interface this is, as 310100 for 31.1; `subversion` has that of svcd"
        ),
        subversion: Result.string("User agent of this node"),
        protocolversion: Result.integer("Version of the network protocol"),
        localservices: Result.hex("Services of this node, 16 digits"),
        localservicesnames: Schema.Array(Result.string("Name of a service")),
        localrelay: Result.boolean("Whether peers may send transactions"),
        timeoffset: Result.integer("Always 0: svcd does not correct the clock"),
        connections: Result.integer("Connected peers"),
        connections_in: Result.integer("Inbound peers"),
        connections_out: Result.integer("Outbound peers"),
        networkactive: Result.boolean("Whether the network is on"),
        networks: Schema.Array(Schema.Struct({
          name: Result.string("ipv4, ipv6, onion, i2p or cjdns"),
          limited: Result.boolean("Whether the node does not use this network"),
          reachable: Result.boolean("Whether the node can connect to its peers"),
          proxy: Result.string("The proxy, if any"),
          proxy_randomize_credentials: Result.boolean("Whether each connection uses its own proxy credentials")
        })),
        relayfee: Result.amount(`Minimum fee rate for relay, ${FEE}`),
        incrementalfee: Result.amount(`Additional fee rate of a replacement, ${FEE}`),
        localaddresses: Schema.Array(Schema.Struct({
          address: Result.string("An address of this node"),
          port: Result.integer("Its port"),
          score: Result.integer("Confidence in this address")
        })),
        warnings: Schema.Array(Result.string("A warning"))
      })
    }],
    examples: [[]],
    handler: () =>
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
      })
  })

  return [getnetworkinfo]
}

export const networkMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ChainControl | AnswerOptions | PeerManager | Mempool | Warnings
> = Effect.gen(
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
