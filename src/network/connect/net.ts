import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { type Address, formatAddress } from "../../base/addresses.ts"
import { unixTime } from "../../base/clock.ts"
import type { Random } from "../../base/random.ts"
import type { Network } from "../../protocol/networks.ts"
import type { AddressStore } from "../addresses/AddressStore.ts"
import type { Resolve } from "../addresses/seeds.ts"
import { PeerUnreachable } from "../errors.ts"
import type { ConnectionType } from "../Peer.ts"
import type { Connection } from "../peer/Connection.ts"
import { parseAddress } from "../wire/addressText.ts"
import { endpointKey, type NetAddress } from "../wire/netAddress.ts"
import { type Connections, type Outcome, socketAddress } from "./Connections.ts"
import { dial, type Proxy } from "./dial.ts"
import { callForever } from "./Manual.ts"
import type { SlotLimits } from "./slots.ts"

export interface PeerManagerOptions {
  readonly network: Pick<Network, "magic" | "defaultP2pPort" | "dnsSeeds" | "fixedSeeds">
  /** `undefined`: nowhere. An empty host is every interface, port 0 any free one. */
  readonly listen: Address | undefined
  /** 0: nobody is called or let in. */
  readonly maxPeers: number
  readonly maxInbound: number
  readonly maxOutbound: number
  /** Where there are any, these are called and nobody else. */
  readonly addPeers: ReadonlyArray<Address>
  readonly proxy: Address | undefined
  readonly userAgentComment: string | undefined
  /** For tests. */
  readonly random?: Random
  /** For tests: where names of seeds are looked up. */
  readonly resolve?: Resolve
}

/** For peers that a proxy calls by name: where they are is not known. */
const SOMEWHERE: NetAddress = { network: "ipv6", bytes: new Uint8Array(16) }

/** A peer that the operator named, with what calls it. */
interface AddedPeer {
  readonly target: Address
  fiber: Fiber.RuntimeFiber<void> | undefined
}

/** What the parts below share. */
export interface Net {
  readonly options: PeerManagerOptions
  readonly limits: SlotLimits
  readonly connections: Connections
  readonly proxy: Proxy | undefined
  readonly store: AddressStore
  readonly gate: Effect.Latch
  readonly isActive: () => boolean
  readonly added: Map<string, AddedPeer>
  readonly spawn: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  readonly manualSlots: Effect.Semaphore
}

interface CallOptions {
  readonly type: ConnectionType
  /** As it is to be shown; the address itself where there is none. */
  readonly name?: string
  readonly expectedServices?: bigint
}

/** Calls a peer and runs the connection to its end. */
export const call = (
  { connections, isActive, proxy, store }: Net,
  target: Address,
  { expectedServices = 0n, name = formatAddress(target), type }: CallOptions
): Effect.Effect<Outcome, PeerUnreachable> =>
  Effect.gen(function*() {
    const socket = yield* dial(target, proxy)
    if (!isActive()) return yield* new PeerUnreachable({ peer: name, reason: "network activity is disabled" })
    const address = (proxy === undefined ? socketAddress(socket.remoteAddress) : parseAddress(target.host)) ?? SOMEWHERE
    const outcome = yield* connections.run(socket, { type, address, port: target.port, name, expectedServices })
    if (outcome.hello !== undefined && type !== "block-relay-only") {
      store.book.connected(address, target.port, yield* unixTime)
    }
    return outcome
  }).pipe(Effect.scoped)

/** The connection to a peer that the operator named, whoever made it. */
export const connectionTo = ({ connections }: Net, name: string, { host, port }: Address): Connection | undefined => {
  const address = parseAddress(host)
  const key = address === undefined ? undefined : endpointKey(address, port)
  return connections.all.find(({ facts }) =>
    facts.name === name || (key !== undefined && endpointKey(facts.address, facts.port) === key)
  )
}

/** Calls a peer that the operator named, unless it is connected. */
export const callManually = (
  net: Net,
  name: string,
  target: Address
): Effect.Effect<Outcome | undefined, PeerUnreachable> =>
  Effect.suspend(() =>
    connectionTo(net, name, target) === undefined
      ? call(net, target, { type: "manual", name })
      : Effect.succeed(undefined)
  ).pipe(net.manualSlots.withPermits(1))

/** Has a peer called from now on; where there is no way to call it, it is kept on the list all the same. */
export const addNode = (net: Net, name: string, target: Address, callable = true): void => {
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

/** Has a peer no longer called; the connection stays. False where it was not added. */
export const removeNode = (net: Net, name: string): boolean => {
  const added = net.added.get(name)
  if (added === undefined) return false
  net.added.delete(name)
  // Where there is a connection, what made it ends together with it.
  if (connectionTo(net, name, added.target) === undefined) added.fiber?.unsafeInterruptAsFork(added.fiber.id())
  return true
}
