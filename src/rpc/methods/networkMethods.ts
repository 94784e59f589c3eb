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

/** Methods about the network (reference/rpc.md 3.7). */

type Manager = typeof PeerManager.Service

const summaryMethods = (peers: Manager, mempool: typeof Mempool.Service): ReadonlyArray<Method> => {
  const getnetworkinfo = method({
    name: "getnetworkinfo",
    group: "Network",
    summary: "Returns a summary of the network as this node sees it.",
    params: {},
    results: [{
      shape: Shape.object({
        version: Shape.integer("Version of svcd, two digits a part"),
        subversion: Shape.string("What this node calls itself"),
        protocolversion: Shape.integer("Version of the network protocol"),
        localservices: Shape.hex("Services that this node offers, 16 digits"),
        localservicesnames: Shape.array(Shape.string("The same in words")),
        localrelay: Shape.boolean("Whether transactions are relayed"),
        timeoffset: Shape.integer("Seconds that the clock is corrected by: never"),
        connections: Shape.integer("Connected peers"),
        connections_in: Shape.integer("Peers that called this node"),
        connections_out: Shape.integer("Peers that this node called"),
        networkactive: Shape.boolean("Whether there are to be connections"),
        networks: Shape.array(Shape.object({
          name: Shape.string("ipv4, ipv6, onion, i2p or cjdns"),
          limited: Shape.boolean("Whether it is left out"),
          reachable: Shape.boolean("Whether its peers can be called"),
          proxy: Shape.string("The proxy, if any"),
          proxy_randomize_credentials: Shape.boolean("Whether each connection has credentials of its own there")
        })),
        relayfee: Shape.amount(`Least fee rate that is relayed, ${FEE}`),
        incrementalfee: Shape.amount(`What a replacement has to pay on top, ${FEE}`),
        localaddresses: Shape.array(Shape.object({
          address: Shape.string("An address of this node"),
          port: Shape.integer("Its port"),
          score: Shape.integer("How sure that is")
        })),
        warnings: Shape.array(Shape.string("What is wrong"))
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
