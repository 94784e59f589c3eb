import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { PROTOCOL_VERSION } from "../../network/peer/Handshake.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { version } from "../../version.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import * as Shape from "../method/shape.ts"
import { FEE, hex64, PEER_NETWORKS, serviceNames } from "../shapes/peer.ts"
import { banMethods, knownAddressMethods } from "./banMethods.ts"
import { addedMethods, connectionMethods } from "./connectionMethods.ts"
import { versionNumber } from "./infoMethods.ts"

/** Methods for the network (reference/rpc.md 3.7). */

type Manager = typeof PeerManager.Service

const summaryMethods = (peers: Manager, mempool: typeof Mempool.Service): ReadonlyArray<Method> => {
  const getnetworkinfo = method({
    name: "getnetworkinfo",
    group: "Network",
    summary: "Returns the state of the node's network.",
    params: {},
    results: [{
      shape: Shape.object({
        version: Shape.integer("Version of svcd, two digits for each part"),
        subversion: Shape.string("User agent of this node"),
        protocolversion: Shape.integer("Version of the network protocol"),
        localservices: Shape.hex("Services of this node, 16 digits"),
        localservicesnames: Shape.array(Shape.string("Name of a service")),
        localrelay: Shape.boolean("Whether transactions are relayed"),
        timeoffset: Shape.integer("Always 0: svcd does not correct the clock"),
        connections: Shape.integer("Connected peers"),
        connections_in: Shape.integer("Inbound peers"),
        connections_out: Shape.integer("Outbound peers"),
        networkactive: Shape.boolean("Whether the network is on"),
        networks: Shape.array(Shape.object({
          name: Shape.string("ipv4, ipv6, onion, i2p or cjdns"),
          limited: Shape.boolean("Whether the node does not use this network"),
          reachable: Shape.boolean("Whether the node can connect to its peers"),
          proxy: Shape.string("The proxy, if any"),
          proxy_randomize_credentials: Shape.boolean("Whether each connection uses its own proxy credentials")
        })),
        relayfee: Shape.amount(`Minimum fee rate for relay, ${FEE}`),
        incrementalfee: Shape.amount(`Additional fee rate of a replacement, ${FEE}`),
        localaddresses: Shape.array(Shape.object({
          address: Shape.string("An address of this node"),
          port: Shape.integer("Its port"),
          score: Shape.integer("Confidence in this address")
        })),
        warnings: Shape.array(Shape.string("A warning"))
      })
    }],
    examples: [[]],
    handler: () =>
      Effect.gen(function*() {
        const { inbound, outbound } = yield* peers.count
        const { incrementalFeeRate, minRelayFeeRate } = mempool.info()
        const proxy = peers.proxy ?? ""
        const reachable = (name: string): boolean =>
          name === "ipv4" || name === "ipv6" || (name === "onion" && proxy !== "")
        const locals = yield* peers.localAddresses
        return {
          version: versionNumber(version),
          subversion: peers.userAgent,
          protocolversion: PROTOCOL_VERSION,
          localservices: hex64(peers.services),
          localservicesnames: serviceNames(peers.services),
          localrelay: true,
          timeoffset: 0,
          connections: inbound + outbound,
          connections_in: inbound,
          connections_out: outbound,
          networkactive: yield* peers.active,
          networks: PEER_NETWORKS.map((name) => ({
            name,
            limited: !reachable(name),
            reachable: reachable(name),
            proxy: reachable(name) ? proxy : "",
            proxy_randomize_credentials: reachable(name) && proxy !== ""
          })),
          relayfee: new Amount(minRelayFeeRate),
          incrementalfee: new Amount(incrementalFeeRate),
          localaddresses: locals.map(({ address, port, score }) => ({ address, port, score })),
          warnings: []
        }
      })
  })

  return [getnetworkinfo]
}

export const networkMethods: Effect.Effect<ReadonlyArray<Method>, never, Chain | PeerManager | Mempool> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const peers = yield* PeerManager
    const mempool = yield* Mempool
    return [
      ...connectionMethods(peers),
      ...addedMethods(peers, chain.params.network.name === "regtest"),
      ...banMethods(peers),
      ...knownAddressMethods(peers),
      ...summaryMethods(peers, mempool)
    ]
  }
)
