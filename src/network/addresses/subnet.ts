import { type Bytes, compare } from "../../protocol/bytes.ts"
import { formatNetAddress, parseNetAddress } from "../wire/addressText.ts"
import { ADDRESS_NETWORKS, type NetAddress } from "../wire/netAddress.ts"
import { isValid } from "../wire/netGroup.ts"

/** A range, or a single address outside IPv4 and IPv6. Source: upstream `netaddress.cpp`, `CSubNet`. */
export interface Subnet {
  readonly address: NetAddress
  /** Length of the common prefix in bits. */
  readonly bits: number
}

const hasRanges = ({ network }: NetAddress): boolean => network === "ipv4" || network === "ipv6"

const masked = (bytes: Bytes, bits: number): Uint8Array =>
  Uint8Array.from(bytes, (byte, at) => byte & ~(0xff >>> Math.max(0, Math.min(8, bits - 8 * at))))

export const subnetOf = (address: NetAddress): Subnet => ({ address, bits: 8 * address.bytes.length })

/** Prefix length of a mask such as `255.255.0.0`; `undefined` if ones follow zeros. */
const maskBits = (mask: Bytes): number | undefined => {
  let bits = 0
  while (bits < 8 * mask.length && ((mask[bits >>> 3] ?? 0) & (0x80 >>> (bits & 7))) !== 0) bits++
  return compare(masked(mask.map(() => 0xff), bits), mask) === 0 ? bits : undefined
}

const bitsOf = (address: NetAddress, text: string): number | undefined => {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) <= 8 * address.bytes.length ? Number(text) : undefined
  const mask = parseNetAddress(text)
  return mask === undefined || mask.network !== address.network ? undefined : maskBits(mask.bytes)
}

/**
 * An address, or a range such as `192.0.2.0/24` or `192.0.2.0/255.255.255.0`, but no host name. Source: upstream
 * `netbase.cpp`, `LookupSubNet`.
 */
export const parseSubnet = (text: string): Subnet | undefined => {
  const slash = text.lastIndexOf("/")
  const host = slash < 0 ? text : text.slice(0, slash)
  const address = parseNetAddress(/^\[.*\]$/.test(host) ? host.slice(1, -1) : host)
  if (address === undefined) return undefined
  if (slash < 0) return subnetOf(address)
  const bits = hasRanges(address) ? bitsOf(address, text.slice(slash + 1)) : undefined
  return bits === undefined
    ? undefined
    : { address: { network: address.network, bytes: masked(address.bytes, bits) }, bits }
}

/** As the reference node shows it: a single IPv4 address as `192.0.2.1/32`, a Tor service without a length. */
export const formatSubnet = ({ address, bits }: Subnet): string =>
  hasRanges(address) ? `${formatNetAddress(address)}/${bits}` : formatNetAddress(address)

export const contains = ({ address, bits }: Subnet, other: NetAddress): boolean =>
  other.network === address.network && isValid(other) && compare(masked(other.bytes, bits), address.bytes) === 0

/** The reference node's order: by network, address, and mask. */
export const compareSubnets = (a: Subnet, b: Subnet): number =>
  ADDRESS_NETWORKS.indexOf(a.address.network) - ADDRESS_NETWORKS.indexOf(b.address.network) ||
  compare(a.address.bytes, b.address.bytes) ||
  a.bits - b.bits
