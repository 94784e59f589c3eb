import { sipHashHalves, type SipKey } from "../../base/siphash.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import type { KnownAddress } from "../peerInfo.ts"
import { endpointKey, type NetAddress } from "../wire/netAddress.ts"
import { networkGroup } from "../wire/netGroup.ts"

/**
 * An address of the book, what became of it, and where in the tables it may stand (reference/protocol.md 6.10; upstream
 * `addrman.cpp`). All times are seconds since 1970; 0 stands for never.
 */

/** The tables (reference/protocol.md 6.10). */
export const NEW_BUCKETS = 1024
export const TRIED_BUCKETS = 256
export const BUCKET_SIZE = 64

/** Over how many buckets the addresses of one group, or from sources of one group, are spread. */
const TRIED_BUCKETS_PER_GROUP = 8
const NEW_BUCKETS_PER_SOURCE_GROUP = 64

const DAY = 86_400

/** Who told us of an address: a peer, or a name that stands for seeds. */
export type AddressSource = NetAddress | { readonly seed: string }

export interface BookEntry {
  readonly key: string
  readonly address: NetAddress
  readonly port: number
  services: bigint
  /** When somebody said that it was seen. */
  time: number
  /** The group of who first told us. */
  readonly source: string
  lastTry: number
  lastSuccess: number
  /** When a failure was counted last. */
  lastCounted: number
  /** Failures since the last success. */
  attempts: number
  tried: boolean
  /** The new buckets that it is in, each once; none of a tried address. */
  readonly buckets: Array<number>
  /** Where it stands in the list of all. */
  at: number
}

/** An entry as others see it. */
export interface BookAddress extends KnownAddress {
  readonly source: string
  readonly lastTry: number
  readonly lastSuccess: number
  /** Failures since the last success. */
  readonly attempts: number
  readonly tried: boolean
}

export const shown = (
  { address, attempts, lastSuccess, lastTry, port, services, source, time, tried }: BookEntry
): BookAddress => ({
  address,
  port,
  services,
  time,
  source,
  lastTry,
  lastSuccess,
  attempts,
  tried
})

export const newEntry = ({ address, port, services, time }: KnownAddress, source: string): BookEntry => ({
  key: endpointKey(address, port),
  // A copy: what a message holds would keep all of it in memory.
  address: { network: address.network, bytes: Uint8Array.from(address.bytes) },
  port,
  services,
  time,
  source,
  lastTry: 0,
  lastSuccess: 0,
  lastCounted: 0,
  attempts: 0,
  tried: false,
  buckets: [],
  at: 0
})

export const sourceGroup = (source: AddressSource): string =>
  "seed" in source ? `seed:${source.seed}` : networkGroup(source)

const NEVER_TERRIBLE_AFTER_TRY = 60
const FUTURE = 600
const HORIZON = 30 * DAY
const RETRIES_WITHOUT_SUCCESS = 3
const MAX_FAILURES = 10
const FAILING_SPAN = 7 * DAY

/** Whether an address is not worth its place. Source: upstream `addrman.cpp`, `AddrInfo::IsTerrible`. */
export const isTerrible = (entry: BookEntry, now: number): boolean => {
  // It may be called right now.
  if (now - entry.lastTry <= NEVER_TERRIBLE_AFTER_TRY) return false
  if (entry.time > now + FUTURE || now - entry.time > HORIZON) return true
  if (entry.lastSuccess === 0 && entry.attempts >= RETRIES_WITHOUT_SUCCESS) return true
  return now - entry.lastSuccess > FAILING_SPAN && entry.attempts >= MAX_FAILURES
}

const RECENT_TRY = 600

/** How likely an address is taken when it is come upon. Source: upstream `addrman.cpp`, `AddrInfo::GetChance`. */
export const chanceOf = ({ attempts, lastTry }: BookEntry, now: number): number =>
  (now - lastTry < RECENT_TRY ? 0.01 : 1) * 0.66 ** Math.min(attempts, 8)

/** A number below `count` that only who has the key can foresee. What comes before the last part has no `|`. */
const hashBelow = (key: SipKey, count: number, ...parts: ReadonlyArray<string | number>): number =>
  sipHashHalves(key, fromBinaryString(parts.join("|")))[0] % count

/** The bucket of a tried address. */
export const triedBucket = (key: SipKey, entry: BookEntry): number => {
  const slot = hashBelow(key, TRIED_BUCKETS_PER_GROUP, "address", entry.key)
  return hashBelow(key, TRIED_BUCKETS, "tried", networkGroup(entry.address), slot)
}

/** The bucket of a new address that a source of this group told us of: what one source fills is limited. */
export const newBucket = (key: SipKey, entry: BookEntry, source: string): number => {
  const slot = hashBelow(key, NEW_BUCKETS_PER_SOURCE_GROUP, "groups", networkGroup(entry.address), source)
  return hashBelow(key, NEW_BUCKETS, "new", slot, source)
}

/** Where in the table of all buckets' slots an address stands. */
export const slotOf = (key: SipKey, table: "new" | "tried", bucket: number, entry: BookEntry): number =>
  bucket * BUCKET_SIZE + hashBelow(key, BUCKET_SIZE, table, bucket, entry.key)
