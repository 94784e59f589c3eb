import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { unixTime } from "../base/clock.ts"
import { randomBytes, secureRandom } from "../base/random.ts"
import { Chain } from "../chain/Chain.ts"
import type { ChainSink } from "../chain/ChainSink.ts"
import { Indexes } from "../chain/indexes/Indexes.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { Settings } from "../config/settings.ts"
import type { Mempool } from "../mempool/Mempool.ts"
import * as AddressStore from "../network/addresses/AddressStore.ts"
import * as Gossip from "../network/addresses/gossip.ts"
import { ownAddressFor } from "../network/addresses/ownAddress.ts"
import { messageTable } from "../network/messageTable.ts"
import { ownServices } from "../network/ownServices.ts"
import { PeerHandlers } from "../network/PeerHandlers.ts"
import * as PeerManager from "../network/PeerManager.ts"
import * as Relay from "../network/relay/Relay.ts"
import * as FilterServer from "../network/serve/FilterServer.ts"
import * as Server from "../network/serve/Server.ts"
import * as SyncManager from "../network/sync/SyncManager.ts"

/** Interval at which addresses are passed on. */
const GOSSIP_TICK = "1 second"

/** Age of the tip, in spacings, up to which peers with few blocks are good enough (reference/protocol.md 6.3). */
const NEAR_TIP_SECONDS = 144 * 600

/** What is put together from the settings for the network. */
type NetworkSettings = Pick<
  Settings,
  | "addPeers"
  | "listen"
  | "maxInbound"
  | "maxOutbound"
  | "maxPeers"
  | "network"
  | "peerBlockFilters"
  | "proxy"
  | "userAgentComment"
  | "whitebind"
  | "whitelist"
  | "whitelistForceRelay"
  | "whitelistRelay"
>

/** The port that the node announces to peers. A listener with the permission `noban` has none (upstream `GetListenPort`). */
const announcedPort = ({ listen, whitebind }: NetworkSettings): number | undefined =>
  (listen ?? whitebind.find(({ implicit, permissions }) => !implicit && !permissions.includes("noban"))?.address)?.port

/** The parts that handle the messages of peers: sync, relay, serving, addresses. */
const makeHandlers = (
  settings: NetworkSettings,
  peersFile: string
): Effect.Effect<
  typeof PeerHandlers.Service,
  never,
  Chain | ChainSink | Indexes | SyncStatus | Mempool | Scope.Scope
> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const status = yield* SyncStatus
    const clock = yield* Effect.clock
    const now = (): number => Math.floor(clock.unsafeCurrentTimeMillis() / 1000)
    const random = secureRandom()
    const store = yield* AddressStore.make({ path: peersFile, random, allowLocal: settings.network === "regtest" })
    const sync = yield* SyncManager.make()
    const relay = yield* Relay.make({ random })
    const server = yield* Server.make({ transactionFor: relay.transactionFor, served: sync.served })
    const index = settings.peerBlockFilters ? (yield* Indexes).filters : undefined
    const filters = index === undefined ? undefined : yield* FilterServer.make(index)
    const services = (): bigint => ownServices(chain.tree.losses, { filters: filters !== undefined })
    let downloading = true
    const listenPort = announcedPort(settings)
    const gossip = Gossip.make({
      book: store.book,
      bans: store.bans,
      random,
      key: randomBytes(random, 16),
      now,
      get services() {
        return services()
      },
      ownAddress: (peer) =>
        listenPort === undefined
          ? undefined
          : ownAddressFor(peer, {
            local: [],
            listenPort,
            discover: settings.proxy === undefined,
            random
          }),
      initialDownload: () => downloading,
      reachable: (network) =>
        network === "ipv4" || network === "ipv6" || (network === "torv3" && settings.proxy !== undefined)
    })
    yield* Effect.gen(function*() {
      downloading = yield* status.initialDownload
      gossip.tick(yield* unixTime)
    }).pipe(Effect.repeat(Schedule.spaced(GOSSIP_TICK)), Effect.forkScoped)
    const { tree } = chain
    return {
      handlers: [sync, relay, server, gossip],
      messages: messageTable({
        sync: sync.messages,
        relay: relay.messages,
        server: server.messages,
        filters,
        gossip: gossip.messages
      }),
      store,
      info: (peer) => ({ sync: sync.syncOf(peer), relay: relay.relayOf(peer), gossip: gossip.gossipOf(peer) }),
      lastAnnouncement: sync.lastAnnouncement,
      orphans: relay.orphans,
      services,
      startHeight: () => tree.height(tree.tip()),
      nearTip: () => tree.time(tree.tip()) > now() - NEAR_TIP_SECONDS,
      needExtraPeer: sync.staleTip
    }
  })

/** The network of a node: finds peers, exchanges messages with them, and follows, serves and relays what they have. */
export const layer = (settings: NetworkSettings, peersFile: string) =>
  Layer.unwrapEffect(Effect.map(Chain, ({ params }) =>
    PeerManager.layer({
      network: params.network,
      listen: settings.listen,
      whitebind: settings.whitebind,
      whitelist: settings.whitelist,
      whitelistRelay: settings.whitelistRelay,
      whitelistForceRelay: settings.whitelistForceRelay,
      maxPeers: settings.maxPeers,
      maxInbound: settings.maxInbound,
      maxOutbound: settings.maxOutbound,
      addPeers: settings.addPeers,
      proxy: settings.proxy,
      userAgentComment: settings.userAgentComment
    }).pipe(Layer.provide(Layer.scoped(PeerHandlers, makeHandlers(settings, peersFile))))))
