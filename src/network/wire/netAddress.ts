import { binaryString, type Bytes, equal } from "../../protocol/bytes.ts"
import type { Reader } from "../../protocol/Reader.ts"
import type { Writer } from "../../protocol/Writer.ts"

/** Networks whose addresses can be relayed (BIP 155). */
export type AddressNetwork = "ipv4" | "ipv6" | "torv3" | "i2p" | "cjdns"

export interface NetAddress {
  readonly network: AddressNetwork
  /** 4 bytes of IPv4, 16 of IPv6 and CJDNS, 32 of Tor (the service's public key) and I2P (the destination's hash). */
  readonly bytes: Bytes
}

/** Never used or relayed (BIP 155). */
export interface UnknownAddress {
  readonly network: "unknown"
  /** The network's number in BIP 155. */
  readonly id: number
  readonly bytes: Bytes
}

/** Maximum size of an address of any network (BIP 155). */
const MAX_ADDRESS_SIZE = 512

const NETWORKS: Readonly<Record<AddressNetwork, { readonly id: number; readonly size: number }>> = {
  ipv4: { id: 1, size: 4 },
  ipv6: { id: 2, size: 16 },
  // 3 was Tor version 2, obsolete and ignored.
  torv3: { id: 4, size: 32 },
  i2p: { id: 5, size: 32 },
  cjdns: { id: 6, size: 16 }
}

/** ::ffff:0:0/96. */
export const IPV4_MAPPED = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)

export const hasPrefix = (bytes: Bytes, prefix: Bytes): boolean => equal(bytes.subarray(0, prefix.length), prefix)

export const fitsAddr = ({ network }: NetAddress | UnknownAddress): boolean => network === "ipv4" || network === "ipv6"

/** Decodes the 16 bytes of `version` and `addr`: an IPv6 or mapped IPv4 address. */
export const fromIpv6 = (bytes: Bytes): NetAddress =>
  hasPrefix(bytes, IPV4_MAPPED)
    ? { network: "ipv4", bytes: bytes.subarray(IPV4_MAPPED.length) }
    : { network: "ipv6", bytes }

/** The 16 bytes of an address in `version` and `addr`; zeros if it does not fit, as upstream. */
export const toIpv6 = (address: NetAddress | UnknownAddress): Uint8Array => {
  const bytes = new Uint8Array(16)
  if (address.network === "ipv6") bytes.set(address.bytes)
  else if (address.network === "ipv4") {
    bytes.set(IPV4_MAPPED)
    bytes.set(address.bytes, IPV4_MAPPED.length)
  }
  return bytes
}

/** BIP 155. Throws `DecodeError` for a wrong length, or more than 512 bytes. */
export const readAddress = (reader: Reader): NetAddress | UnknownAddress => {
  const id = reader.u8("network")
  const size = reader.compactSize("address", MAX_ADDRESS_SIZE)
  for (const network of ADDRESS_NETWORKS) {
    if (NETWORKS[network].id !== id) continue
    if (NETWORKS[network].size !== size) {
      reader.fail({ field: "address", reason: `${size} bytes are not an address of ${network}` })
    }
    return { network, bytes: reader.bytes(size, "address") }
  }
  return { network: "unknown", id, bytes: reader.bytes(size, "address") }
}

export const ADDRESS_NETWORKS: ReadonlyArray<AddressNetwork> = ["ipv4", "ipv6", "torv3", "i2p", "cjdns"]

export const writeAddress = (writer: Writer, address: NetAddress | UnknownAddress): void => {
  writer.u8(address.network === "unknown" ? address.id : NETWORKS[address.network].id).varBytes(address.bytes)
}

export const endpointKey = ({ bytes, network }: NetAddress, port: number): string =>
  `${network}:${port}:${binaryString(bytes)}`
