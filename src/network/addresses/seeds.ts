import * as Effect from "effect/Effect"
import { type Address, formatHostPort } from "../../base/addresses.ts"
import { unixTime } from "../../base/clock.ts"
import { below, type Random, shuffled } from "../../base/random.ts"
import type { Network } from "../../protocol/networks.ts"
import { Transport } from "../connect/Transport.ts"
import type { KnownAddress } from "../peerInfo.ts"
import { parseEndpoint, parseNetAddress } from "../wire/addressText.ts"
import { Services } from "../wire/messages/version.ts"
import type { AddressNetwork, NetAddress } from "../wire/netAddress.ts"
import type { AddressBook } from "./AddressBook.ts"

/** See reference/protocol.md 1.2; upstream `net.cpp`. */

const DAY = 86_400

const WANTED_SERVICES = Services.network | Services.witness

/** So that no seed fills the book alone. */
const MAX_PER_SEED = 32
const SEEDS_AT_ONCE = 3
/** With this many full outbound peers, seeds are unnecessary. */
const ENOUGH_PEERS = 2
/** With this many known addresses, the node tries them first. */
const MANY_ADDRESSES = 1000
const STEP_SECONDS = 11
const WAIT_WITH_MANY_SECONDS = 300

/** Seconds between two seed nodes, and for all of them before the DNS seeds. */
const SEED_NODE_STEP_SECONDS = 10
const SEED_NODES_FIRST_SECONDS = 30

/** Empty if the name has no address or the lookup times out. */
export type Resolve = (name: string) => Effect.Effect<ReadonlyArray<NetAddress>>

/** After the limit, a lookup still occupies one of the system's few threads, so lookups run one at a time. */
const LOOKUP_LIMIT = "20 seconds"

export const lookUp: Resolve = (name) =>
  Effect.flatMap(Transport, ({ resolve }) => resolve(name)).pipe(
    Effect.timeout(LOOKUP_LIMIT),
    Effect.map((results) =>
      results.slice(0, MAX_PER_SEED).flatMap((address) => {
        const parsed = parseNetAddress(address)
        return parsed === undefined ? [] : [parsed]
      })
    ),
    Effect.catchAll((error) =>
      Effect.as(Effect.logDebug("DNS seed does not answer", { seed: name, reason: error._tag }), [])
    )
  )

export interface SeedingOptions {
  readonly network: Pick<Network, "dnsSeeds" | "fixedSeeds" | "defaultP2pPort">
  readonly book: AddressBook
  readonly random: Random
  readonly resolve: Resolve
  /** A node with a proxy does not resolve names itself. */
  readonly proxied: boolean
  readonly fullOutbound: Effect.Effect<number>
  readonly active: Effect.Effect<boolean>
  readonly seedNodes: ReadonlyArray<Address>
  readonly force: boolean
  /** Whether there are sources of addresses besides the fixed seeds. */
  readonly otherSources: boolean
  readonly networks: ReadonlySet<AddressNetwork>
  readonly fetchFrom: (host: string, port: number) => Effect.Effect<void>
}

/** Without the final dot, which means nothing to a proxy. */
const bareName = (seed: string): string => seed.replace(/\.$/, "")

/** After a wait. A filled book seldom needs seeds, which then learn less about this node. */
const enoughPeers = ({ book, fullOutbound }: SeedingOptions): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    if (book.size === 0) return false
    let left = book.size >= MANY_ADDRESSES ? WAIT_WITH_MANY_SECONDS : STEP_SECONDS
    while (left > 0) {
      const step = Math.min(STEP_SECONDS, left)
      yield* Effect.sleep(`${step} seconds`)
      left -= step
      if ((yield* fullOutbound) >= ENOUGH_PEERS) return true
    }
    return false
  })

const askSeed = (options: SeedingOptions, seed: string): Effect.Effect<number> =>
  Effect.gen(function*() {
    const { book, fetchFrom, network: { defaultP2pPort }, proxied, random, resolve } = options
    yield* Effect.logDebug("asking a DNS seed", { seed: bareName(seed) })
    if (proxied) {
      yield* fetchFrom(bareName(seed), defaultP2pPort)
      return 0
    }
    const host = `x${WANTED_SERVICES.toString(16)}.${seed}`
    const found = (yield* resolve(host)).slice(0, MAX_PER_SEED)
    if (found.length === 0) {
      // The seed may not support the service filter, so one of its nodes is asked.
      yield* fetchFrom(bareName(seed), defaultP2pPort)
      return 0
    }
    const now = yield* unixTime
    const addresses = found.map((address): KnownAddress => ({
      address,
      port: defaultP2pPort,
      services: WANTED_SERVICES,
      time: now - 3 * DAY - below(random, 4 * DAY)
    }))
    book.add(addresses, { seed: host }, { now })
    return found.length
  }).pipe(Effect.withSpan("svcd.network.askSeed", { attributes: { seed: bareName(seed) } }))

/**
 * One at a time in random order: the first at once if no address is known. Source: upstream `net.cpp`,
 * `ThreadOpenConnections`.
 */
export const askSeedNodes = (
  { book, fetchFrom, fullOutbound, random, seedNodes }: SeedingOptions
): Effect.Effect<void> =>
  Effect.gen(function*() {
    let waits = book.size > 0
    for (const node of shuffled(random, seedNodes)) {
      if (waits) {
        do yield* Effect.sleep(`${SEED_NODE_STEP_SECONDS} seconds`)
        while ((yield* fullOutbound) >= ENOUGH_PEERS)
      }
      waits = true
      yield* Effect.logInfo("asking a seed node for addresses", { node: formatHostPort(node) })
      yield* fetchFrom(node.host, node.port)
    }
  })

const seedNodesSuffice = ({ fullOutbound, seedNodes }: SeedingOptions): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    if (seedNodes.length === 0) return false
    for (let waited = 0; waited < SEED_NODES_FIRST_SECONDS; waited++) {
      yield* Effect.sleep("1 second")
      if ((yield* fullOutbound) >= ENOUGH_PEERS) return true
    }
    return false
  })

/**
 * All if forced or if no address is known, otherwise three at a time. Source: upstream `net.cpp`,
 * `ThreadDNSAddressSeed`.
 */
export const seedAddresses = (options: SeedingOptions): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { active, book, force, network, random } = options
    let found = 0
    const suffice = yield* seedNodesSuffice(options)
    let atOnce = force || book.size === 0 ? network.dnsSeeds.length : 0
    if (suffice && atOnce === 0) return
    for (const seed of shuffled(random, network.dnsSeeds)) {
      if (atOnce === 0) {
        atOnce = SEEDS_AT_ONCE
        if (yield* enoughPeers(options)) break
      }
      while (!(yield* active)) yield* Effect.sleep("1 second")
      found += yield* askSeed(options, seed)
      atOnce--
    }
    if (network.dnsSeeds.length > 0) yield* Effect.logInfo("DNS seeds done", { addresses: found })
  })

/** Dated one to two weeks ago, so that the node prefers all others. */
export const fixedSeedAddresses = (
  network: SeedingOptions["network"],
  random: Random,
  now: number
): ReadonlyArray<KnownAddress> =>
  network.fixedSeeds.flatMap((text) => {
    const endpoint = parseEndpoint(text, network.defaultP2pPort)
    const time = now - 7 * DAY - below(random, 7 * DAY)
    return endpoint === undefined ? [] : [{ ...endpoint, services: WANTED_SERVICES, time }]
  })

const BEFORE_FIXED_SEEDS = "1 minute"

/**
 * For each network without an address: after a minute, or at once without other sources (upstream `net.cpp`,
 * `ThreadOpenConnections`).
 */
export const fixedSeedsLater = (options: SeedingOptions): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { book, network, networks, otherSources, random } = options
    if (otherSources) yield* Effect.sleep(BEFORE_FIXED_SEEDS)
    const now = yield* unixTime
    const known = book.counts()
    const seeds = fixedSeedAddresses(network, random, now).filter(({ address }) =>
      networks.has(address.network) && !known.has(address.network)
    )
    if (seeds.length === 0) return
    const addresses = book.add(seeds, { seed: "fixed" }, { now })
    yield* Effect.logInfo("using the fixed seed addresses: no other address is known", { addresses })
  })
