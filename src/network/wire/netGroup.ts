import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { hasPrefix, IPV4_MAPPED, type NetAddress, type UnknownAddress } from "./netAddress.ts"

/** Types of addresses, and groups that probably have one operator (upstream `netaddress.cpp`, `netgroup.cpp`). */

interface Range {
  readonly prefix: ReadonlyArray<number>
  readonly bits: number
}

const inRange = (bytes: Bytes, { bits, prefix }: Range): boolean => {
  for (let i = 0; 8 * i < bits; i++) {
    const mask = bits - 8 * i >= 8 ? 0xff : (0xff << (8 - (bits - 8 * i))) & 0xff
    if (((bytes[i] ?? 0) & mask) !== ((prefix[i] ?? 0) & mask)) return false
  }
  return true
}

const LOCAL_IPV4: ReadonlyArray<Range> = [{ prefix: [127], bits: 8 }, { prefix: [0], bits: 8 }]

const UNROUTABLE_IPV4: ReadonlyArray<Range> = [
  ...LOCAL_IPV4,
  // Private networks (RFC 1918).
  { prefix: [10], bits: 8 },
  { prefix: [172, 16], bits: 12 },
  { prefix: [192, 168], bits: 16 },
  // Carrier-grade translation (RFC 6598), link local (RFC 3927), benchmarks (RFC 2544).
  { prefix: [100, 64], bits: 10 },
  { prefix: [169, 254], bits: 16 },
  { prefix: [198, 18], bits: 15 },
  // Documentation (RFC 5737).
  { prefix: [192, 0, 2], bits: 24 },
  { prefix: [198, 51, 100], bits: 24 },
  { prefix: [203, 0, 113], bits: 24 },
  // Broadcast.
  { prefix: [255, 255, 255, 255], bits: 32 }
]

/** Unspecified addresses, or encodings of other address types. */
const INVALID_IPV6: ReadonlyArray<Range> = [
  { prefix: [], bits: 128 },
  // Documentation (RFC 3849).
  { prefix: [0x20, 0x01, 0x0d, 0xb8], bits: 32 },
  { prefix: Array.from(IPV4_MAPPED), bits: 96 },
  // Tor version 2 as wrapped by OnionCat; source markers in the reference node's address book.
  { prefix: [0xfd, 0x87, 0xd8, 0x7e, 0xeb, 0x43], bits: 48 },
  { prefix: [0xfd, 0x6b, 0x88, 0xc0, 0x87, 0x24], bits: 48 }
]

const LOCAL_IPV6: Range = { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], bits: 128 }

const UNROUTABLE_IPV6: ReadonlyArray<Range> = [
  ...INVALID_IPV6,
  LOCAL_IPV6,
  // Link local (RFC 4862), unique local (RFC 4193), ORCHID (RFC 4843, RFC 7343).
  { prefix: [0xfe, 0x80, 0, 0, 0, 0, 0, 0], bits: 64 },
  { prefix: [0xfc], bits: 7 },
  { prefix: [0x20, 0x01, 0x00, 0x10], bits: 28 },
  { prefix: [0x20, 0x01, 0x00, 0x20], bits: 28 }
]

/** IPv6 ranges with an embedded IPv4 address: its offset, and whether its bits are inverted. */
const TUNNELS: ReadonlyArray<Range & { readonly at: number; readonly inverted: boolean }> = [
  // RFC 6052, RFC 6145, 6to4 (RFC 3964), Teredo (RFC 4380).
  { prefix: [0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], bits: 96, at: 12, inverted: false },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], bits: 96, at: 12, inverted: false },
  { prefix: [0x20, 0x02], bits: 16, at: 2, inverted: false },
  { prefix: [0x20, 0x01, 0, 0], bits: 32, at: 12, inverted: true }
]

/** he.net assigns many networks from one range: 2001:470::/32. */
const HE_NET = Uint8Array.of(0x20, 0x01, 0x04, 0x70)

const CJDNS_PREFIX = 0xfc

/** Including addresses of a private network. */
export const isValid = (address: NetAddress | UnknownAddress): address is NetAddress => {
  const { bytes, network } = address
  switch (network) {
    case "unknown":
      return false
    case "ipv4":
      return !bytes.every((byte) => byte === 0) && !bytes.every((byte) => byte === 0xff)
    case "ipv6":
      return !INVALID_IPV6.some((range) => inRange(bytes, range))
    case "cjdns":
      return bytes[0] === CJDNS_PREFIX
    case "torv3":
    case "i2p":
      return true
  }
}

export const isLocal = ({ bytes, network }: NetAddress): boolean =>
  network === "ipv4"
    ? LOCAL_IPV4.some((range) => inRange(bytes, range))
    : network === "ipv6" && inRange(bytes, LOCAL_IPV6)

/** Only publicly routable addresses are relayed. */
export const isRoutable = (address: NetAddress | UnknownAddress): address is NetAddress => {
  if (!isValid(address)) return false
  const { bytes, network } = address
  if (network === "ipv4") return !UNROUTABLE_IPV4.some((range) => inRange(bytes, range))
  if (network === "ipv6") return !UNROUTABLE_IPV6.some((range) => inRange(bytes, range))
  return true
}

/** Native or embedded. */
export const linkedIpv4 = (address: NetAddress): Bytes | undefined => {
  if (!isRoutable(address)) return undefined
  const { bytes, network } = address
  if (network === "ipv4") return bytes
  const tunnel = network === "ipv6" ? TUNNELS.find((range) => inRange(bytes, range)) : undefined
  if (tunnel === undefined) return undefined
  const inner = bytes.slice(tunnel.at, tunnel.at + 4)
  return tunnel.inverted ? inner.map((byte) => ~byte) : inner
}

/** The rest of the last byte is ones. */
const firstBits = (bytes: Bytes, bits: number): Bytes => {
  const group = bytes.slice(0, Math.ceil(bits / 8))
  const last = group.length - 1
  if (bits % 8 !== 0) group[last] = (group[last] ?? 0) | (0xff >> (bits % 8))
  return group
}

/**
 * Addresses that probably have one operator: /16 of IPv4, even if embedded in IPv6; /32 of IPv6, /36 in he.net's range;
 * the first 4 bits of keys in Tor, I2P and CJDNS. Unroutable addresses share one group. Source: upstream
 * `netgroup.cpp`, `GetGroup`.
 */
export const networkGroup = (address: NetAddress): string => {
  if (!isRoutable(address)) return "unroutable"
  const ipv4 = linkedIpv4(address)
  if (ipv4 !== undefined) return `ipv4:${toHex(firstBits(ipv4, 16))}`
  const { bytes, network } = address
  const bits = network === "ipv6" ? hasPrefix(bytes, HE_NET) ? 36 : 32 : network === "cjdns" ? 12 : 4
  return `${network}:${toHex(firstBits(bytes, bits))}`
}

/** The group charged for a peer's cost: `networkGroup`, or as many bits of an unroutable address. */
export const chargedGroup = (address: NetAddress): string => {
  if (isRoutable(address)) return networkGroup(address)
  const { bytes, network } = address
  return `${network}:${toHex(firstBits(bytes, network === "ipv4" ? 16 : 32))}`
}
