import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { type Address, formatHostPort } from "../../base/addresses.ts"
import { unixTime } from "../../base/clock.ts"
import { reasonOf } from "../../base/errorCode.ts"
import type { Random } from "../../base/random.ts"
import type { ProxyAddress, ProxyRoutes } from "../../config/proxies.ts"
import type { PeerSettings } from "../../config/settings.ts"
import type { Network } from "../../protocol/networks.ts"
import type { AddressStore } from "../addresses/AddressStore.ts"
import { connectThrough, type ProxyCredentials } from "../addresses/socks5.ts"
import { PeerUnreachable } from "../errors.ts"
import { type ConnectionType, NO_PERMISSIONS } from "../Peer.ts"
import type { PeerConnection } from "../peer/PeerConnection.ts"
import { parseNetAddress } from "../wire/addressText.ts"
import { type AddressNetwork, endpointKey, type NetAddress } from "../wire/netAddress.ts"
import { isRoutable } from "../wire/netGroup.ts"
import { type ConnectionOutcome, type Connections, socketAddress } from "./Connections.ts"
import type { PermissionRules } from "./permissions.ts"
import type { SlotLimits } from "./slots.ts"
import { type PeerStream, Transport } from "./Transport.ts"

interface Proxies {
  readonly routes: ProxyRoutes
  /** A login per connection, for which Tor makes separate circuits; `undefined` for no login. */
  readonly credentials: (() => ProxyCredentials) | undefined
}

type PeerRoute =
  | { readonly type: "direct" }
  | { readonly type: "proxy"; readonly proxy: ProxyAddress }
  | { readonly type: "none"; readonly reason: string }

const DIRECT: PeerRoute = { type: "direct" }
const NO_ONIONS: PeerRoute = { type: "none", reason: "onion addresses need a proxy: see -proxy and -onion" }
const NO_I2P: PeerRoute = { type: "none", reason: "svcd does not connect to I2P" }

const through = (proxy: ProxyAddress | undefined, otherwise: PeerRoute): PeerRoute =>
  proxy === undefined ? otherwise : { type: "proxy", proxy }

/**
 * A proxy reaches no local address. Onion-like names are never looked up. Source: upstream `net.cpp`, `ConnectNode`.
 */
export const routeTo = (routes: ProxyRoutes, host: string): PeerRoute => {
  const address = parseNetAddress(host)
  const name = host.toLowerCase().replace(/\.$/, "")
  if (address?.network === "torv3" || name.endsWith(".onion")) return through(routes.onion, NO_ONIONS)
  if (address?.network === "i2p" || name.endsWith(".i2p")) return NO_I2P
  if (address === undefined) return through(routes.names, DIRECT)
  return isRoutable(address) ? through(routes[address.network], DIRECT) : DIRECT
}

const direct = (
  target: Address,
  limit: Duration.Duration
): Effect.Effect<PeerStream, PeerUnreachable, Scope.Scope> => {
  const unreachable = (code: string) => new PeerUnreachable({ peer: formatHostPort(target), reason: reasonOf(code) })
  return Effect.flatMap(Transport, ({ dial }) => dial(target)).pipe(
    Effect.mapError(({ code }) => unreachable(code)),
    Effect.timeoutFail({ duration: limit, onTimeout: () => unreachable("ETIMEDOUT") })
  )
}

interface Dialled {
  readonly socket: PeerStream
  /** The socket of a proxied connection does not know the peer's address. */
  readonly proxied: boolean
}

/** `limit` is for the TCP connection (reference/protocol.md 6.5); a proxy has its own. */
const dial = (
  target: Address,
  { limit, proxies: { credentials, routes } }: { readonly proxies: Proxies; readonly limit: Duration.Duration }
): Effect.Effect<Dialled, PeerUnreachable, Scope.Scope> =>
  Effect.suspend(() => {
    const route = routeTo(routes, target.host)
    if (route.type === "none") return new PeerUnreachable({ peer: formatHostPort(target), reason: route.reason })
    const proxied = route.type === "proxy"
    const socket = proxied
      ? connectThrough(route.proxy, target, credentials === undefined ? {} : { credentials: credentials() })
      : direct(target, limit)
    return Effect.map(socket, (socket) => ({ socket, proxied })).pipe(
      Effect.withSpan("svcd.network.dial", { attributes: { proxied } })
    )
  })

/** Milliseconds. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000

/** Milliseconds. */
const LASTING = 60_000

export const nextPause = (pause: number, outcome: ConnectionOutcome | undefined): number =>
  outcome !== undefined && outcome.hello !== undefined && !outcome.disconnection.misbehaving &&
    outcome.lasted >= LASTING
    ? FIRST_PAUSE
    : Math.min(LONGEST_PAUSE, 2 * pause)

interface ManualOptions {
  readonly name: string
  /** `undefined` if the peer is already connected. */
  readonly call: Effect.Effect<ConnectionOutcome | undefined, PeerUnreachable>
  readonly whenActive: Effect.Effect<void>
  readonly wanted: () => boolean
}

/** Only the first failure in a row is a warning. */
const callForever = ({ call, name, wanted, whenActive }: ManualOptions): Effect.Effect<void> =>
  Effect.gen(function*() {
    let pause = FIRST_PAUSE
    let failures = 0
    while (wanted()) {
      yield* whenActive
      const outcome = yield* call.pipe(
        Effect.catchTag("PeerUnreachable", ({ reason }) => {
          failures += 1
          const facts = { peer: name, reason }
          const entry = failures === 1
            ? Effect.logWarning("peer cannot be reached", facts)
            : Effect.logDebug("peer cannot be reached", facts)
          return Effect.as(entry, undefined)
        })
      )
      if (outcome?.self === true) {
        return yield* Effect.logWarning("self connection: this peer is the node itself, not connecting again", {
          peer: name
        })
      }
      if (outcome?.hello !== undefined) failures = 0
      const lasting = nextPause(pause, outcome)
      // After a good connection, starts with the first pause. Otherwise the pause grows.
      yield* Effect.sleep(lasting === FIRST_PAUSE ? FIRST_PAUSE : pause)
      pause = lasting
    }
  })

export interface PeerManagerOptions extends PeerSettings {
  readonly network: Pick<Network, "magic" | "defaultP2pPort" | "dnsSeeds" | "fixedSeeds">
  readonly proxies: ProxyRoutes
  readonly networks: ReadonlySet<AddressNetwork>
  readonly random?: Random
}

/** Placeholder for peers that a proxy reaches by name. */
const SOMEWHERE: NetAddress = { network: "ipv6", bytes: new Uint8Array(16) }

interface AddedPeer {
  readonly target: Address
  fiber: Fiber.RuntimeFiber<void> | undefined
}

export interface Net {
  readonly options: PeerManagerOptions
  readonly limits: SlotLimits
  readonly rules: PermissionRules
  readonly connections: Connections
  readonly proxies: Proxies
  readonly store: AddressStore
  readonly gate: Effect.Latch
  readonly isActive: () => boolean
  readonly added: Map<string, AddedPeer>
  readonly spawn: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  readonly manualSlots: Effect.Semaphore
}

interface CallOptions {
  readonly type: ConnectionType
  readonly name?: string
  readonly expectedServices?: bigint
}

export const call = (
  { connections, isActive, options, proxies, rules, store }: Net,
  target: Address,
  { expectedServices = 0n, name = formatHostPort(target), type }: CallOptions
): Effect.Effect<ConnectionOutcome, PeerUnreachable> =>
  Effect.gen(function*() {
    const { proxied, socket } = yield* dial(target, { proxies, limit: Duration.millis(options.connectTimeout) })
    if (!isActive()) return yield* new PeerUnreachable({ peer: name, reason: "network activity is disabled" })
    const address = (proxied ? parseNetAddress(target.host) : socketAddress(socket.remoteAddress)) ?? SOMEWHERE
    const outcome = yield* connections.run(socket, {
      type,
      address,
      port: target.port,
      name,
      permissions: type === "manual" ? rules.manual(address) : NO_PERMISSIONS,
      expectedServices
    })
    if (outcome.hello !== undefined && type !== "block-relay-only") {
      store.book.connected(address, target.port, yield* unixTime)
    }
    return outcome
  }).pipe(Effect.scoped)

export const connectionTo = (
  { connections }: Net,
  name: string,
  { host, port }: Address
): PeerConnection | undefined => {
  const address = parseNetAddress(host)
  const key = address === undefined ? undefined : endpointKey(address, port)
  return connections.all.find(({ facts }) =>
    facts.name === name || (key !== undefined && endpointKey(facts.address, facts.port) === key)
  )
}

export const callManually = (
  net: Net,
  name: string,
  target: Address
): Effect.Effect<ConnectionOutcome | undefined, PeerUnreachable> =>
  Effect.suspend(() =>
    connectionTo(net, name, target) === undefined
      ? call(net, target, { type: "manual", name })
      : Effect.succeed(undefined)
  ).pipe(net.manualSlots.withPermits(1))

/** If not `callable`, the peer is only listed. */
export const addNode = (
  net: Net,
  { callable = true, name, target }: { readonly name: string; readonly target: Address; readonly callable?: boolean }
): void => {
  const added: AddedPeer = { target, fiber: undefined }
  net.added.set(name, added)
  if (!callable) return
  added.fiber = net.spawn(callForever({
    name,
    call: callManually(net, name, target),
    whenActive: net.gate.await,
    wanted: () => net.added.get(name) === added
  }))
}

/** Keeps the connection. */
export const removeNode = (net: Net, name: string): boolean => {
  const added = net.added.get(name)
  if (added === undefined) return false
  net.added.delete(name)
  // While a connection exists, the fiber ends with it.
  if (connectionTo(net, name, added.target) === undefined) added.fiber?.unsafeInterruptAsFork(added.fiber.id())
  return true
}
