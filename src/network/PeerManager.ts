import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type Address, formatHostPort } from "../base/addresses.ts"
import { unixTime } from "../base/clock.ts"
import { secureRandom } from "../base/entropy.ts"
import { fewATurn } from "../base/fewATurn.ts"
import type { BindFailed } from "../base/listening.ts"
import { Budget } from "../base/MemoryBudget.ts"
import { bytesFrom, type Random } from "../base/random.ts"
import type { Grant } from "../config/permissions.ts"
import { ownUserAgent } from "../config/userAgent.ts"
import { misbehavingPeers } from "../metrics/metrics.ts"
import { askSeedNodes, fixedSeedsLater, lookUp, seedAddresses, type SeedingOptions } from "./addresses/seeds.ts"
import { isolatingCredentials } from "./addresses/socks5.ts"
import { Automatic } from "./connect/Automatic.ts"
import { Connections } from "./connect/Connections.ts"
import { admit } from "./connect/Inbound.ts"
import { addNode, call, type Net, type PeerManagerOptions } from "./connect/net.ts"
import { PermissionRules } from "./connect/permissions.ts"
import { nodeAddress, service } from "./connect/service.ts"
import { slotLimits } from "./connect/slots.ts"
import { type PeerStream, Transport } from "./connect/Transport.ts"
import { Pace } from "./peer/Pace.ts"
import { OUTBOX_LIMITS } from "./peer/PeerConnection.ts"
import { ownTime } from "./peer/threadTime.ts"
import { Turns } from "./peer/Turns.ts"
import type { PeerControl } from "./PeerControl.ts"
import { PeerHandlers } from "./PeerHandlers.ts"
import { isLocal } from "./wire/netGroup.ts"

/** Connections accepted per turn of the event loop, and the maximum that may wait. */
const ACCEPTED_A_TURN = 1
const MOST_WAITING = 256

/** The system delivers all pending connections at once, and each takes a millisecond. */
const inTurns = (accept: (stream: PeerStream) => void): Effect.Effect<typeof accept, never, Scope.Scope> =>
  Effect.suspend(() => {
    const line = fewATurn(ACCEPTED_A_TURN)
    let closed = false
    const add = (stream: PeerStream): void => {
      if (line.length >= MOST_WAITING) return void stream.destroy()
      line.add(() => closed ? void stream.destroy() : accept(stream))
    }
    return Effect.acquireRelease(Effect.succeed(add), () =>
      Effect.sync(() => {
        closed = true
      }))
  })

/** Time limit for an addr-fetch peer (upstream `net_processing.cpp`). */
const FETCH_LIMIT = "5 minutes"

const nonceFrom = (random: Random) => (): bigint => {
  const bytes = bytesFrom(random, 8)
  // Never 0, which means no nonce.
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0) | 1n
}

const accepting = (
  net: Net,
  { handlers, now, random }: {
    readonly handlers: typeof PeerHandlers.Service
    readonly random: Random
    readonly now: () => number
  }
) => {
  const secret = bytesFrom(random, 16)
  return (grant: Grant | undefined) => {
    const inbound = {
      connections: net.connections,
      limits: net.limits,
      bans: net.store.bans,
      secret,
      info: handlers.info,
      rules: net.rules,
      grant
    }
    return (socket: PeerStream): void => {
      const admission = net.isActive() ? admit(socket, inbound, now()) : undefined
      if (admission?.type === "admitted") {
        net.spawn(Effect.asVoid(net.connections.run(socket, admission.plan)))
        return
      }
      socket.destroy()
      if (admission !== undefined) {
        const { peer, reason } = admission
        net.spawn(Effect.logDebug("connection refused", { peer, reason }))
      }
    }
  }
}

const listenAll = (
  { options }: Net,
  acceptFor: (grant: Grant | undefined) => (socket: PeerStream) => void
): Effect.Effect<ReadonlyArray<Address>, BindFailed, Scope.Scope> =>
  Effect.forEach(
    [
      ...(options.listen === undefined ? [] : [{ address: options.listen, grant: undefined }]),
      ...options.whitebind.map(
        (grant) => ({ address: grant.address, grant })
      )
    ],
    ({ address, grant }) =>
      inTurns(acceptFor(grant)).pipe(
        Effect.flatMap((accept) => Effect.flatMap(Transport, (transport) => transport.listen(address, accept))),
        Effect.tap((bound) => Effect.logInfo("listening for peers", { address: formatHostPort(bound) }))
      )
  )

const seedingOf = (net: Net, random: Random): SeedingOptions => {
  const { connections, options, store } = net
  const { defaultP2pPort } = options.network
  return {
    network: options.network,
    book: store.book,
    random,
    resolve: lookUp,
    proxied: options.proxies.names !== undefined,
    seedNodes: options.seedNodes.flatMap((node) => nodeAddress(node, defaultP2pPort) ?? []),
    force: options.forceDnsSeed,
    otherSources: options.dnsSeed || options.seedNodes.length > 0,
    networks: options.networks,
    fullOutbound: Effect.sync(() => connections.peers.filter(({ type }) => type === "outbound-full-relay").length),
    active: Effect.sync(net.isActive),
    fetchFrom: (host: string, port: number) =>
      Effect.sync(() =>
        void net.spawn(
          call(net, { host, port }, { type: "addr-fetch" }).pipe(
            Effect.timeout(FETCH_LIMIT),
            Effect.catchAll((error) =>
              Effect.logDebug("seed cannot be reached", { seed: host, reason: error.message })
            ),
            Effect.asVoid
          )
        )
      )
  }
}

const findPeers = (net: Net, handlers: typeof PeerHandlers.Service, random: Random) =>
  Effect.gen(function*() {
    const { connections, limits, options, store } = net
    const automatic = new Automatic({
      connections,
      limits,
      store,
      random,
      networks: options.networks,
      active: net.isActive,
      nearTip: handlers.nearTip,
      needExtraPeer: handlers.needExtraPeer,
      sync: (peer) => handlers.info(peer).sync,
      lastAnnouncement: handlers.lastAnnouncement,
      call: (target, type, expectedServices) => call(net, target, { type, expectedServices }),
      spawn: net.spawn
    }, yield* unixTime)
    const seeding = seedingOf(net, random)
    net.spawn(automatic.run)
    net.spawn(askSeedNodes(seeding))
    if (options.dnsSeed) net.spawn(seedAddresses(seeding))
    if (options.fixedSeeds) net.spawn(fixedSeedsLater(seeding))
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => store.setAnchors(connections.peers.filter(({ type }) => type === "block-relay-only")))
    )
  })

const logDefect = (defect: unknown): Effect.Effect<void> =>
  Effect.logError("network task failed unexpectedly", Cause.die(defect))

const make = (
  options: PeerManagerOptions
): Effect.Effect<PeerControl, BindFailed, PeerHandlers | Budget | Scope.Scope> =>
  Effect.gen(function*() {
    const handlers = yield* PeerHandlers
    const { store } = handlers
    const budget = yield* Budget
    const random = options.random ?? secureRandom()
    const clock = yield* Effect.clock
    const now = (): number => Math.floor(clock.unsafeCurrentTimeMillis() / 1000)
    const monotonic = (): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    const totals = { sent: 0, received: 0, upload: handlers.upload }
    const userAgent = ownUserAgent(options.userAgentComments)
    let met = false
    let active = true

    const run = yield* FiberSet.makeRuntime<never, void>()
    const connections = new Connections({
      context: {
        magic: options.network.magic,
        handlers: handlers.handlers,
        messages: handlers.messages,
        totals,
        nonce: nonceFrom(random),
        outbox: OUTBOX_LIMITS,
        pace: new Pace(monotonic()),
        turns: new Turns(monotonic),
        meter: ownTime(),
        budget,
        peerTimeout: options.peerTimeout * 1000,
        pardoned: ({ id, name }, { reason }) => {
          misbehavingPeers.increase()
          run(
            Effect.logWarning("misbehaving peer not disconnected: it has the noban permission", {
              peer: name,
              id,
              reason
            })
          )
        }
      },
      introduce: () => ({
        services: handlers.services(),
        userAgent,
        startHeight: handlers.startHeight(),
        nearTip: handlers.nearTip(),
        blocksOnly: options.blocksOnly
      }),
      opened: (_, { address, hello, inbound, port }) => {
        met = true
        if (inbound) return
        store.book.setServices(address, port, hello.services)
        store.book.good(address, port, now())
      },
      misbehaved: ({ address, type }) => {
        if (type !== "manual" && !isLocal(address)) store.bans.discourage(address)
      }
    })
    const limits = slotLimits({
      ...options,
      listening: options.listen !== undefined || options.whitebind.length > 0,
      configured: options.bootstrapPeers.length
    })
    const net: Net = {
      options,
      limits,
      rules: new PermissionRules(options),
      connections,
      store,
      proxies: {
        routes: options.proxies,
        credentials: options.proxyRandomize ? isolatingCredentials(random) : undefined
      },
      gate: yield* Effect.makeLatch(true),
      isActive: () => active,
      added: new Map(),
      // The fiber set is interrupted after the listener closes, which closes all connections.
      spawn: (effect) => run(Effect.catchAllDefect(effect, logDefect)),
      manualSlots: yield* Effect.makeSemaphore(limits.manual)
    }

    if (options.maxPeers > 0) {
      for (const target of options.bootstrapPeers) addNode(net, { name: formatHostPort(target), target })
      if (limits.fullRelay > 0) yield* findPeers(net, handlers, random)
      else if (options.dnsSeed && options.bootstrapPeers.length > 0) net.spawn(seedAddresses(seedingOf(net, random)))
    }
    const [bound] = limits.inbound === 0
      ? []
      : yield* listenAll(net, accepting(net, { handlers, random, now }))
    return service(net, handlers, {
      bound,
      totals,
      setActive: (value) => {
        active = value
      },
      met: () => met
    })
  }).pipe(Effect.annotateLogs("subsystem", "network"))

export class PeerManager extends Context.Tag("svcd/PeerManager")<PeerManager, PeerControl>() {}

/** Listens and connects as configured. On release, frees the port, then closes connections without a message. */
export const layer = (
  options: PeerManagerOptions
): Layer.Layer<PeerManager, BindFailed, PeerHandlers | Budget> => Layer.scoped(PeerManager, make(options))
