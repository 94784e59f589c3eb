import { sipHashHalves, type SipKey } from "../../base/siphash.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import type { KnownAddress } from "../peerInfo.ts"
import { endpointKey, type NetAddress } from "../wire/netAddress.ts"
import { networkGroup } from "../wire/netGroup.ts"

// An address of the book, its history and possible slots (reference/protocol.md 6.10; upstream `addrman.cpp`). Seconds
// since 1970; 0 means never.

export const NEW_BUCKETS = 1024
export const TRIED_BUCKETS = 256
export const BUCKET_SIZE = 64

const TRIED_BUCKETS_PER_GROUP = 8
const NEW_BUCKETS_PER_SOURCE_GROUP = 64

const DAY = 86_400

/** A peer, or a name for seeds. */
export type AddressSource = NetAddress | { readonly seed: string }

export interface BookEntry {
  readonly key: string
  readonly address: NetAddress
  readonly port: number
  services: bigint
  /** When a source last reported the address as seen. */
  time: number
  readonly source: string
  lastTry: number
  lastSuccess: number
  lastCounted: number
  attempts: number
  tried: boolean
  /** The new buckets that contain it; empty for a tried address. */
  readonly buckets: Array<number>
  at: number
}

export interface BookAddress extends KnownAddress {
  readonly source: string
  readonly lastTry: number
  readonly lastSuccess: number
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

export const newBookEntry = ({ address, port, services, time }: KnownAddress, source: string): BookEntry => ({
  key: endpointKey(address, port),
  // Copied, as a view would keep the whole message in memory.
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

/** Source: upstream `addrman.cpp`, `AddrInfo::IsTerrible`. */
export const isTerrible = (entry: BookEntry, now: number): boolean => {
  // A connection attempt may be in progress.
  if (now - entry.lastTry <= NEVER_TERRIBLE_AFTER_TRY) return false
  if (entry.time > now + FUTURE || now - entry.time > HORIZON) return true
  if (entry.lastSuccess === 0 && entry.attempts >= RETRIES_WITHOUT_SUCCESS) return true
  return now - entry.lastSuccess > FAILING_SPAN && entry.attempts >= MAX_FAILURES
}

const RECENT_TRY = 600

/** Probability that a drawn address is accepted. Source: upstream `addrman.cpp`, `AddrInfo::GetChance`. */
export const chanceOf = ({ attempts, lastTry }: BookEntry, now: number): number =>
  (now - lastTry < RECENT_TRY ? 0.01 : 1) * 0.66 ** Math.min(attempts, 8)

/** Only the last part may contain `|`. */
const hashBelow = (key: SipKey, count: number, ...parts: ReadonlyArray<string | number>): number =>
  sipHashHalves(key, fromBinaryString(parts.join("|")))[0] % count

export const triedBucket = (key: SipKey, entry: BookEntry): number => {
  const slot = hashBelow(key, TRIED_BUCKETS_PER_GROUP, "address", entry.key)
  return hashBelow(key, TRIED_BUCKETS, "tried", networkGroup(entry.address), slot)
}

/** The source's group limits the slots that one source can fill. */
export const newBucket = (key: SipKey, entry: BookEntry, source: string): number => {
  const slot = hashBelow(key, NEW_BUCKETS_PER_SOURCE_GROUP, "groups", networkGroup(entry.address), source)
  return hashBelow(key, NEW_BUCKETS, "new", slot, source)
}

export const slotOf = (
  key: SipKey,
  entry: BookEntry,
  { bucket, table }: { readonly table: "new" | "tried"; readonly bucket: number }
): number => bucket * BUCKET_SIZE + hashBelow(key, BUCKET_SIZE, table, bucket, entry.key)
