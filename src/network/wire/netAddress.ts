import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import type { Reader } from "../../protocol/Reader.ts"
import type { Writer } from "../../protocol/Writer.ts"

/** The networks whose addresses can be gossiped (BIP 155). */
export type AddressNetwork = "ipv4" | "ipv6" | "torv3" | "i2p" | "cjdns"

/** Where a node is, without its port. */
export interface NetAddress {
  readonly network: AddressNetwork
  /** 4 bytes of IPv4, 16 of IPv6 and CJDNS, 32 of Tor (the service's public key) and I2P (the destination's hash). */
  readonly bytes: Bytes
}

/** An address of a network that we know nothing of: never used and never passed on (BIP 155). */
export interface UnknownAddress {
  readonly network: "unknown"
  /** The network's number in BIP 155. */
  readonly id: number
  readonly bytes: Bytes
}

/** Longest address of any network (BIP 155). */
const MAX_ADDRESS_SIZE = 512

const NETWORKS: Readonly<Record<AddressNetwork, { readonly id: number; readonly size: number }>> = {
  ipv4: { id: 1, size: 4 },
  ipv6: { id: 2, size: 16 },
  // 3 was the second version of Tor's addresses: no longer in use, and to be ignored.
  torv3: { id: 4, size: 32 },
  i2p: { id: 5, size: 32 },
  cjdns: { id: 6, size: 16 }
}

/** What an IPv6 address that stands for an IPv4 address begins with: ::ffff:0:0/96. */
export const IPV4_MAPPED = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)

export const hasPrefix = (bytes: Bytes, prefix: Bytes): boolean => equal(bytes.subarray(0, prefix.length), prefix)

/** Whether the 16 bytes of an `addr` message can hold an address. */
export const fitsAddr = ({ network }: NetAddress | UnknownAddress): boolean => network === "ipv4" || network === "ipv6"

/** Takes 16 bytes as `version` and `addr` carry them: an IPv6 address or, mapped into one, an IPv4 address. */
export const fromIpv6 = (bytes: Bytes): NetAddress =>
  hasPrefix(bytes, IPV4_MAPPED)
    ? { network: "ipv4", bytes: bytes.subarray(IPV4_MAPPED.length) }
    : { network: "ipv6", bytes }

/** The 16 bytes of an address in `version` and `addr`: zeros for one that does not fit, as upstream writes. */
export const toIpv6 = (address: NetAddress | UnknownAddress): Uint8Array => {
  const bytes = new Uint8Array(16)
  if (address.network === "ipv6") bytes.set(address.bytes)
  else if (address.network === "ipv4") {
    bytes.set(IPV4_MAPPED)
    bytes.set(address.bytes, IPV4_MAPPED.length)
  }
  return bytes
}

/**
 * Reads an address as in `addrv2` (BIP 155): network, length, bytes. Throws `DecodeError` for the wrong length of a
 * known network and for more than 512 bytes of any.
 */
export const readAddress = (reader: Reader): NetAddress | UnknownAddress => {
  const id = reader.u8("network")
  const size = reader.compactSize("address", MAX_ADDRESS_SIZE)
  for (const network of ADDRESS_NETWORKS) {
    if (NETWORKS[network].id !== id) continue
    if (NETWORKS[network].size !== size) reader.fail("address", `${size} bytes are no address of ${network}`)
    return { network, bytes: reader.bytes(size, "address") }
  }
  return { network: "unknown", id, bytes: reader.bytes(size, "address") }
}

export const ADDRESS_NETWORKS: ReadonlyArray<AddressNetwork> = ["ipv4", "ipv6", "torv3", "i2p", "cjdns"]

export const writeAddress = (writer: Writer, address: NetAddress | UnknownAddress): void => {
  writer.u8(address.network === "unknown" ? address.id : NETWORKS[address.network].id).varBytes(address.bytes)
}

/** An address with its port as a key for maps. */
export const endpointKey = ({ bytes, network }: NetAddress, port: number): string =>
  `${network}:${port}:${binaryString(bytes)}`
