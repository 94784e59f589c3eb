import { sha3_256 } from "@noble/hashes/sha3.js"
import { type Bytes, concat, equal } from "../../protocol/bytes.ts"
import { fromIpv6, type NetAddress } from "./netAddress.ts"

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567"

/** RFC 4648, lower case, without padding. */
const encodeBase32 = (bytes: Bytes): string => {
  let text = ""
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    for (; bits >= 5; bits -= 5) text += BASE32[(value >> (bits - 5)) & 31]
  }
  return bits === 0 ? text : text + BASE32[(value << (5 - bits)) & 31]
}

/** `undefined` for other characters, or for set bits beyond the last byte. */
const decodeBase32 = (text: string): Uint8Array | undefined => {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8))
  let bits = 0
  let value = 0
  let at = 0
  for (const character of text) {
    const digit = BASE32.indexOf(character)
    if (digit < 0) return undefined
    value = ((value << 5) | digit) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = value >> bits
    }
  }
  return (value & ((1 << bits) - 1)) === 0 ? bytes : undefined
}

const ONION_VERSION = 3
const ONION_PREFIX = new TextEncoder().encode(".onion checksum")

/** Key, checksum and version: the content of an onion service name (BIP 155, appendix B). */
const onionBytes = (key: Bytes): Uint8Array => {
  const checksum = sha3_256(concat(ONION_PREFIX, key, Uint8Array.of(ONION_VERSION))).subarray(0, 2)
  return concat(key, checksum, Uint8Array.of(ONION_VERSION))
}

/** As RFC 5952 recommends: lower case, no leading zeros, the longest run of two or more zero groups as `::`. */
const formatIpv6 = (bytes: Bytes): string => {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0))
  let start = 0
  let length = 0
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > length) [start, length] = [i, end - i]
  }
  const text = (part: ReadonlyArray<number>): string => part.map((group) => group.toString(16)).join(":")
  return length < 2 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`
}

/** Without a port, as in the reference node. */
export const formatNetAddress = ({ bytes, network }: NetAddress): string => {
  switch (network) {
    case "ipv4":
      return bytes.join(".")
    case "ipv6":
    case "cjdns":
      return formatIpv6(bytes)
    case "torv3":
      return `${encodeBase32(onionBytes(bytes))}.onion`
    case "i2p":
      return `${encodeBase32(bytes)}.b32.i2p`
  }
}

export const formatEndpoint = (address: NetAddress, port: number): string => {
  const text = formatNetAddress(address)
  return address.network === "ipv6" || address.network === "cjdns" ? `[${text}]:${port}` : `${text}:${port}`
}

const OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
const IPV4 = new RegExp(`^${OCTET}\\.${OCTET}\\.${OCTET}\\.${OCTET}$`)

const parseIpv4 = (text: string): Uint8Array | undefined => {
  const parts = IPV4.exec(text)
  return parts === null ? undefined : Uint8Array.from(parts.slice(1), Number)
}

/** Groups have up to four digits; the last may be an IPv4 address. */
const parseGroups = (text: string, last: boolean): ReadonlyArray<number> | undefined => {
  if (text === "") return []
  const bytes: Array<number> = []
  const groups = text.split(":")
  for (const [i, group] of groups.entries()) {
    const ipv4 = last && i === groups.length - 1 ? parseIpv4(group) : undefined
    if (ipv4 !== undefined) bytes.push(...ipv4)
    else if (/^[0-9a-f]{1,4}$/.test(group)) {
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff)
    } else return undefined
  }
  return bytes
}

const parseIpv6 = (text: string): Uint8Array | undefined => {
  if (text.length > 45) return undefined
  const [before = "", after, ...more] = text.split("::")
  if (more.length > 0) return undefined
  const head = parseGroups(before, after === undefined)
  const tail = parseGroups(after ?? "", true)
  if (head === undefined || tail === undefined) return undefined
  const size = head.length + tail.length
  // `::` stands for at least one group of zeros.
  if (after === undefined ? size !== 16 : size > 14) return undefined
  return Uint8Array.from([...head, ...new Array<number>(16 - size).fill(0), ...tail])
}

const parseOnion = (name: string): NetAddress | undefined => {
  const bytes = name.length === 56 ? decodeBase32(name) : undefined
  const key = bytes?.slice(0, 32)
  return bytes === undefined || key === undefined || !equal(onionBytes(key), bytes)
    ? undefined
    : { network: "torv3", bytes: key }
}

const parseI2p = (name: string): NetAddress | undefined => {
  const bytes = name.length === 52 ? decodeBase32(name) : undefined
  return bytes === undefined ? undefined : { network: "i2p", bytes }
}

/** Includes Tor services and I2P destinations. CJDNS counts as IPv6. */
export const parseNetAddress = (text: string): NetAddress | undefined => {
  const lower = text.toLowerCase()
  if (lower.endsWith(".onion")) return parseOnion(lower.slice(0, -".onion".length))
  if (lower.endsWith(".b32.i2p")) return parseI2p(lower.slice(0, -".b32.i2p".length))
  const ipv4 = parseIpv4(lower)
  if (ipv4 !== undefined) return { network: "ipv4", bytes: ipv4 }
  const ipv6 = parseIpv6(lower)
  return ipv6 === undefined ? undefined : fromIpv6(ipv6)
}

/** The port is optional; `undefined` for anything else. IPv6 with a port needs brackets. */
export const parseEndpoint = (
  text: string,
  defaultPort: number
): { readonly address: NetAddress; readonly port: number } | undefined => {
  const parts = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([0-9]{1,5}))?$/.exec(text)
  const [, bracketed, plain, digits] = parts ?? []
  const address = parseNetAddress(bracketed ?? plain ?? text)
  const port = digits === undefined ? defaultPort : Number(digits)
  if (address === undefined || port > 0xffff) return undefined
  // Only IPv6 may have brackets. Checks the text, as an IPv4-mapped address is parsed as IPv4.
  if (bracketed !== undefined && !bracketed.includes(":")) return undefined
  return { address, port }
}
