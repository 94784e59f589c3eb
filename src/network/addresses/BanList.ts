import { RollingFilter } from "../../base/RollingFilter.ts"
import { sipKey } from "../../base/siphash.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Ban } from "../peerInfo.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { compareSubnets, contains, formatSubnet, parseSubnet, type Subnet } from "./subnet.ts"

/** Discouraged addresses remembered, and the rate of false positives (reference/protocol.md 6.11). */
const DISCOURAGED = 50_000
const FALSE_POSITIVES = 0.000_001

interface Entry {
  readonly subnet: Subnet
  readonly created: number
  readonly until: number
}

/**
 * Addresses that may not connect: ranges banned by the operator until a time, and addresses discouraged until the
 * restart because a peer there misbehaved (reference/protocol.md 6.11; upstream `banman.cpp`). Times are seconds since
 * 1970.
 */
export class BanList {
  private readonly bans = new Map<string, Entry>()
  private readonly discouraged: RollingFilter

  /** The 16-byte key keeps attackers from constructing addresses that collide with discouraged ones. */
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
   * Bans a range or address. `already` if this exact range, or any range around a single address, is banned; `invalid`
   * if the text is neither. Source: upstream `rpc/net.cpp`, `setban`.
   */
  ban(
    text: string,
    { now, until }: { readonly until: number; readonly now: number }
  ): "banned" | "already" | "invalid" {
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

  unban(text: string): "unbanned" | "unknown" | "invalid" {
    const subnet = parseSubnet(text)
    if (subnet === undefined) return "invalid"
    return this.bans.delete(formatSubnet(subnet)) ? "unbanned" : "unknown"
  }

  /** The active bans in the reference node's order. Removes expired ones. */
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

  /** Removes all bans but keeps discouraged addresses, as the reference node does. */
  clear(): void {
    this.bans.clear()
  }

  /** Discourages the address of a misbehaving peer. Beyond 50,000 addresses, the oldest are dropped. */
  discourage(address: NetAddress): void {
    this.discouraged.add(address.bytes)
  }

  isDiscouraged(address: NetAddress): boolean {
    return this.discouraged.has(address.bytes)
  }
}
