import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Address } from "../base/addresses.ts"
import { unixTime } from "../base/clock.ts"
import { secureRandom } from "../base/entropy.ts"
import { peerTime } from "../base/NodeClock.ts"
import { Pulse } from "../base/pulse.ts"
import { bytesFrom, type Random } from "../base/random.ts"
import type { Scheduler } from "../base/Scheduler.ts"
import { Chain } from "../chain/Chain.ts"
import type { ChainSink } from "../chain/ChainSink.ts"
import { Indexes } from "../chain/indexes/Indexes.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { reachableNetworks } from "../config/peerSettings.ts"
import { proxyRoutes } from "../config/proxies.ts"
import type { PeerSettings, Settings } from "../config/settings.ts"
import { TARGET_SPACING } from "../consensus/readerParams.ts"
import { Light } from "../light/Light.ts"
import type { Mempool } from "../mempool/Mempool.ts"
import * as AddressStore from "../network/addresses/AddressStore.ts"
import * as Gossip from "../network/addresses/gossip.ts"
import { ownAddressFor, ownServices } from "../network/addresses/ownAddress.ts"
import type { PeerManagerOptions } from "../network/connect/net.ts"
import { messageTable } from "../network/messageTable.ts"
import { UploadTarget } from "../network/peer/UploadTarget.ts"
import { PeerHandlers } from "../network/PeerHandlers.ts"
import type { PeerRelay } from "../network/peerInfo.ts"
import * as PeerManager from "../network/PeerManager.ts"
import { bloomMessages } from "../network/relay/bloomMessages.ts"
import * as Relay from "../network/relay/Relay.ts"
import * as FilterServer from "../network/serve/FilterServer.ts"
import * as Server from "../network/serve/Server.ts"
import { LIGHT_PACE } from "../network/sync/HeaderSync.ts"
import * as SyncManager from "../network/sync/SyncManager.ts"
import { parseNetAddress } from "../network/wire/addressText.ts"
import { Services } from "../network/wire/messages/version.ts"
import type { AddressNetwork } from "../network/wire/netAddress.ts"
import type { Network } from "../protocol/networks.ts"

/** Milliseconds. */
const GOSSIP_TICK = 1000

/** Age of the tip, in spacings, up to which peers with few blocks are good enough (reference/protocol.md 6.3). */
const NEAR_TIP_SECONDS = 144 * TARGET_SPACING

type NetworkSettings = Pick<Settings, "chain" | "peers">

/** A listener with the permission `noban` is not announced (upstream `GetListenPort`). */
const announcedPort = ({ listen, whitebind }: PeerSettings): number | undefined =>
  (listen ?? whitebind.find(({ implicit, permissions }) => !implicit && !permissions.includes("noban"))?.address)?.port

/** In the words of the protocol. */
const networksOf = (peers: PeerSettings): ReadonlySet<AddressNetwork> =>
  new Set(reachableNetworks(peers).map((network) => network === "onion" ? "torv3" : network))

/** The operator's own addresses, by default with the listener's port. */
const externalAddresses = (peers: PeerSettings, defaultPort: number): ReadonlyArray<Address> =>
  peers.externalAddresses.map(({ host, port }) => ({
    host,
    port: port === 0 ? announcedPort(peers) ?? defaultPort : port
  }))

/** Score of an operator's address (upstream `net.h`, `LOCAL_MANUAL`). */
const MANUAL_SCORE = 4

interface GossipParts {
  readonly network: Network
  readonly store: AddressStore.AddressStore
  readonly random: Random
  readonly services: () => bigint
  readonly initialDownload: Effect.Effect<boolean>
}

const makeGossip = (
  peers: PeerSettings,
  { initialDownload, network, random, services, store }: GossipParts
): Effect.Effect<Gossip.Gossip, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    let downloading = true
    const listenPort = announcedPort(peers)
    const networks = networksOf(peers)
    const local = externalAddresses(peers, network.defaultP2pPort).flatMap(({ host, port }) => {
      const address = parseNetAddress(host)
      return address === undefined ? [] : [{ address, port, score: MANUAL_SCORE }]
    })
    const gossip = Gossip.make({
      book: store.book,
      bans: store.bans,
      random,
      key: bytesFrom(random, 16),
      now: () => Math.floor(clock.unsafeCurrentTimeMillis() / 1000),
      get services() {
        return services()
      },
      ownAddress: (peer) =>
        listenPort === undefined
          ? undefined
          : ownAddressFor(peer, {
            local,
            listenPort,
            discover: peers.discover,
            random
          }),
      initialDownload: () => downloading,
      reachable: (network) => networks.has(network)
    })
    const time = yield* peerTime
    const tick = GOSSIP_TICK * (yield* Pulse)
    yield* Effect.gen(function*() {
      downloading = yield* initialDownload
      gossip.tick(yield* unixTime)
      yield* time.sleep(tick)
    }).pipe(Effect.forever, Effect.forkScoped)
    return gossip
  })

const makeHandlers = (
  { chain: { network, prune }, peers }: NetworkSettings,
  peersFile: string
): Effect.Effect<
  typeof PeerHandlers.Service,
  never,
  Chain | ChainSink | Indexes | Scheduler | SyncStatus | Mempool | Scope.Scope
> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const status = yield* SyncStatus
    const clock = yield* Effect.clock
    const now = (): number => Math.floor(clock.unsafeCurrentTimeMillis() / 1000)
    const random = secureRandom()
    const store = yield* AddressStore.make({ path: peersFile, random, allowLocal: network === "regtest" })
    const { blocksOnly, peerBloomFilters: bloom } = peers
    const upload = new UploadTarget(peers.maxUploadTarget)
    const sync = yield* SyncManager.make({ blocksOnly })
    const relay = yield* Relay.make({ random, blocksOnly, bloom, upload })
    const index = peers.peerBlockFilters ? (yield* Indexes).filters : undefined
    const filters = index === undefined ? undefined : yield* FilterServer.make(index)
    const prunes = prune !== 0
    const services = (): bigint => ownServices(chain.tree.losses, { filters: filters !== undefined, bloom, prunes })
    const server = yield* Server.make({
      transactionFor: relay.transactionFor,
      served: sync.served,
      upload,
      prunes,
      limited: () => (services() & Services.network) === 0n
    })
    const gossip = yield* makeGossip(peers, {
      network: chain.params.network,
      store,
      random,
      services,
      initialDownload: status.initialDownload
    })
    const { tree } = chain
    return {
      handlers: [sync, relay, server, gossip],
      messages: messageTable({
        sync: sync.messages,
        relay: relay.messages,
        server: server.messages,
        filters,
        bloom: bloomMessages(bloom),
        gossip: gossip.messages
      }),
      store,
      info: (peer) => ({ sync: sync.syncOf(peer), relay: relay.relayOf(peer), gossip: gossip.gossipOf(peer) }),
      lastAnnouncement: sync.lastAnnouncement,
      fetchBlock: sync.fetch,
      orphans: relay.orphans,
      services,
      upload,
      startHeight: () => tree.height(tree.tip()),
      nearTip: () => tree.time(tree.tip()) > now() - NEAR_TIP_SECONDS,
      needExtraPeer: sync.staleTip
    }
  })

const managerOptions = ({ peers }: NetworkSettings, network: Network): PeerManagerOptions => ({
  ...peers,
  network,
  proxies: proxyRoutes(peers),
  networks: networksOf(peers),
  externalAddresses: externalAddresses(peers, network.defaultP2pPort)
})

export const layer = (settings: NetworkSettings, peersFile: string) =>
  Layer.unwrapEffect(Effect.map(Chain, ({ params }) =>
    PeerManager.layer(managerOptions(settings, params.network)).pipe(
      Layer.provide(Layer.scoped(PeerHandlers, makeHandlers(settings, peersFile)))
    )))

/** A light node follows the chain, and has nothing to serve or relay. */
const makeLightHandlers = (
  { chain: { network }, peers }: NetworkSettings,
  peersFile: string
): Effect.Effect<typeof PeerHandlers.Service, never, Light | Scope.Scope> =>
  Effect.gen(function*() {
    const { chain, comparing, sink, span, status } = yield* Light
    const clock = yield* Effect.clock
    const random = secureRandom()
    const store = yield* AddressStore.make({ path: peersFile, random, allowLocal: network === "regtest" })
    const sync = yield* SyncManager.makeOver({
      chain,
      sink,
      span,
      comparing,
      pace: LIGHT_PACE,
      // Peers want no announcement from a node that serves no block.
      status: { ...status, initialDownload: Effect.succeed(true) },
      mempool: { entries: () => [] }
    }, { blocksOnly: true })
    const gossip = yield* makeGossip(peers, {
      network: chain.params.network,
      store,
      random,
      services: () => Services.witness,
      initialDownload: status.initialDownload
    })
    const { tree } = chain
    return {
      handlers: [sync, gossip],
      messages: messageTable({ sync: sync.messages, gossip: gossip.messages }),
      store,
      info: (peer) => ({ sync: sync.syncOf(peer), relay: NO_RELAY, gossip: gossip.gossipOf(peer) }),
      lastAnnouncement: sync.lastAnnouncement,
      fetchBlock: sync.fetch,
      orphans: () => [],
      services: () => Services.witness,
      upload: new UploadTarget(0),
      startHeight: () => tree.height(tree.tip()),
      nearTip: () => tree.time(tree.tip()) > clock.unsafeCurrentTimeMillis() / 1000 - NEAR_TIP_SECONDS,
      needExtraPeer: sync.staleTip
    }
  })

const NO_RELAY: PeerRelay = { toAnnounce: 0, lastSequence: 0, lastTransaction: 0 }

/** Finds peers and follows their chain. Accepts no connections. */
export const lightLayer = (settings: NetworkSettings, peersFile: string) =>
  Layer.unwrapEffect(Effect.map(Light, ({ params }) =>
    PeerManager.layer({
      ...managerOptions(settings, params.network),
      listen: undefined,
      whitebind: [],
      maxInbound: 0,
      blocksOnly: true
    }).pipe(Layer.provide(Layer.scoped(PeerHandlers, makeLightHandlers(settings, peersFile))))))
