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
 * Ranges that the operator banned, and addresses of misbehaving peers, discouraged until the restart
 * (reference/protocol.md 6.11; upstream `banman.cpp`). Seconds since 1970.
 */
export class BanList {
  private readonly bans = new Map<string, Entry>()
  private readonly discouraged: RollingFilter

  /** The 16-byte key prevents constructed collisions with discouraged addresses. */
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

  /** `already` covers a single address in a banned range. Source: upstream `rpc/net.cpp`, `setban`. */
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

  /** In the reference node's order, without expired bans. */
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

  clear(): void {
    this.bans.clear()
  }

  /** Beyond 50,000 addresses, the oldest are dropped. */
  discourage(address: NetAddress): void {
    this.discouraged.add(address.bytes)
  }

  isDiscouraged(address: NetAddress): boolean {
    return this.discouraged.has(address.bytes)
  }
}
