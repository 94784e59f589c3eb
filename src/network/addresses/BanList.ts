import { RollingFilter } from "../../base/RollingFilter.ts"
import { sipKey } from "../../base/siphash.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Ban } from "../peerInfo.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { compareSubnets, contains, formatSubnet, parseSubnet, type Subnet } from "./subnet.ts"

/**
 * How many addresses are remembered as discouraged, and how often another one is taken for one
 * (reference/protocol.md 6.11).
 */
const DISCOURAGED = 50_000
const FALSE_POSITIVES = 0.000_001

interface Entry {
  readonly subnet: Subnet
  readonly created: number
  readonly until: number
}

/**
 * Which addresses may connect: bans that an operator gave, by range and until a time, and addresses that are discouraged
 * until the restart because a peer there misbehaved (reference/protocol.md 6.11; upstream `banman.cpp`).
 *
 * Times are seconds since 1970.
 */
export class BanList {
  private readonly bans = new Map<string, Entry>()
  private readonly discouraged: RollingFilter

  /** The key, 16 bytes, keeps others from choosing addresses that are taken for discouraged ones. */
  constructor({ bans = [], key }: { readonly key: Bytes; readonly bans?: Iterable<Ban> }) {
    this.discouraged = new RollingFilter({
      capacity: DISCOURAGED,
      falsePositives: FALSE_POSITIVES,
      key: sipKey(key)
    })
    for (const { created, subnet: text, until } of bans) {
      const subnet = parseSubnet(text)
      if (subnet !== undefined) this.bans.set(formatSubnet(subnet), { subnet, created, until })
    }
  }

  /**
   * Bans a range, or an address. `already` where that very range or, for an address alone, any range around it is
   * banned; `invalid` for a text that is neither. Source: upstream `rpc/net.cpp`, `setban`.
   */
  ban(text: string, until: number, now: number): "banned" | "already" | "invalid" {
    const subnet = parseSubnet(text)
    if (subnet === undefined) return "invalid"
    const key = formatSubnet(subnet)
    const held = this.bans.get(key)
    const already = text.includes("/")
      ? held !== undefined && now < held.until
      : this.isBanned(subnet.address, now)
    if (already) return "already"
    this.bans.set(key, { subnet, created: now, until })
    return "banned"
  }

  /** Takes a ban back: that of exactly this range. */
  unban(text: string): "unbanned" | "unknown" | "invalid" {
    const subnet = parseSubnet(text)
    if (subnet === undefined) return "invalid"
    return this.bans.delete(formatSubnet(subnet)) ? "unbanned" : "unknown"
  }

  /** The bans that hold, in the order in which the reference node lists them. Forgets the others. */
  list(now: number): ReadonlyArray<Ban> {
    for (const [key, { until }] of this.bans) if (until <= now) this.bans.delete(key)
    return Array.from(this.bans.values())
      .sort((a, b) => compareSubnets(a.subnet, b.subnet))
      .map(({ created, subnet, until }) => ({ subnet: formatSubnet(subnet), created, until }))
  }

  isBanned(address: NetAddress, now: number): boolean {
    for (const { subnet, until } of this.bans.values()) if (now < until && contains(subnet, address)) return true
    return false
  }

  /** Takes all bans back. Discouraged addresses stay discouraged, as with the reference node. */
  clear(): void {
    this.bans.clear()
  }

  /** Remembers an address whose peer broke the rules; the oldest of more than 50,000 are forgotten. */
  discourage(address: NetAddress): void {
    this.discouraged.add(address.bytes)
  }

  isDiscouraged(address: NetAddress): boolean {
    return this.discouraged.has(address.bytes)
  }
}
