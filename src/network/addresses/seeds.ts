import * as Effect from "effect/Effect"
import { promises as dns } from "node:dns"
import { unixTime } from "../../base/clock.ts"
import { below, type Random, shuffled } from "../../base/random.ts"
import type { Network } from "../../protocol/networks.ts"
import type { KnownAddress } from "../peerInfo.ts"
import { parseAddress, parseEndpoint } from "../wire/addressText.ts"
import { Services } from "../wire/messages/version.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import type { AddressBook } from "./AddressBook.ts"

/**
 * The first addresses: from names that stand for nodes, and from a list (reference/protocol.md 1.2; upstream
 * `net.cpp`).
 */

const DAY = 86_400

/** What nodes that a seed names have to offer. */
const WANTED_SERVICES = Services.network | Services.witness

/** Most addresses that one name may give: no seed is to fill the book alone. */
const MAX_PER_SEED = 32
const SEEDS_AT_ONCE = 3
/** Full outbound peers that are enough to need no seeds. */
const ENOUGH_PEERS = 2
/** With as many addresses there is time to try them first. */
const MANY_ADDRESSES = 1000
const STEP_SECONDS = 11
const WAIT_WITH_MANY_SECONDS = 300

/** Asks for the addresses of a name; none where it has none, or nobody answers in time. */
export type Resolve = (name: string) => Effect.Effect<ReadonlyArray<NetAddress>>

/** How long a name may take. The system goes on asking, on one of few threads: so only one is asked at a time. */
const LOOKUP_LIMIT = "20 seconds"

/** Asks the system. */
export const lookUp: Resolve = (name) =>
  Effect.tryPromise(() => dns.lookup(name, { all: true })).pipe(
    Effect.timeout(LOOKUP_LIMIT),
    Effect.map((results) =>
      results.slice(0, MAX_PER_SEED).flatMap(({ address }) => {
        const parsed = parseAddress(address)
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
  /** Whether peers are called through a proxy: then no name is resolved here. */
  readonly proxied: boolean
  /** How many full outbound peers there are. */
  readonly fullOutbound: Effect.Effect<number>
  /** Whether the network is on. */
  readonly active: Effect.Effect<boolean>
  /** Calls a node by name, only to ask it for addresses. Does not wait for it. */
  readonly fetchFrom: (host: string, port: number) => Effect.Effect<void>
}

/** A name without the dot at its end, which means nothing to a proxy. */
const bareName = (seed: string): string => seed.replace(/\.$/, "")

/**
 * Waits before more seeds are asked, and returns whether there are enough peers meanwhile. With a book to choose from
 * that is seldom needed: so it is kept from the seeds who we are, and they have less say in whom we call.
 */
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

/** Asks one seed, and returns how many addresses it gave. */
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
      // It may not know the filter: then one of its nodes is asked.
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
  })

/**
 * Asks the DNS seeds of the network: all where no address is known, else three at a time as long as there are too few
 * peers. Ends when that is done. Source: upstream `net.cpp`, `ThreadDNSAddressSeed`.
 */
export const seedAddresses = (options: SeedingOptions): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { active, book, network, random } = options
    let found = 0
    let atOnce = book.size === 0 ? network.dnsSeeds.length : 0
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
  }).pipe(Effect.withSpan("seedAddresses"))

/** The fixed seeds as addresses that were last seen one to two weeks ago: everything else is rather called. */
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

/** How long the other ways to find addresses have. */
const BEFORE_FIXED_SEEDS = "1 minute"

/**
 * Takes the fixed seeds after a minute, for each network of which no address is known by then.
 * Source: upstream `net.cpp`, `ThreadOpenConnections`.
 */
export const fixedSeedsLater = (options: SeedingOptions): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Effect.sleep(BEFORE_FIXED_SEEDS)
    const { book, network, random } = options
    const now = yield* unixTime
    const known = book.counts()
    const seeds = fixedSeedAddresses(network, random, now).filter(({ address }) => !known.has(address.network))
    if (seeds.length === 0) return
    const addresses = book.add(seeds, { seed: "fixed" }, { now })
    yield* Effect.logInfo("using the fixed seed addresses: no other address is known", { addresses })
  }).pipe(Effect.withSpan("fixedSeedsLater"))
