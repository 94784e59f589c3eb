import type { Reader } from "../../../protocol/Reader.ts"
import type { Writer } from "../../../protocol/Writer.ts"
import {
  codec,
  type CountLimit,
  emptyCodec,
  readCompactNumber,
  readList,
  readPort,
  writeCompactNumber,
  writePort
} from "../codec.ts"
import { fromIpv6, type NetAddress, readAddress, toIpv6, type UnknownAddress, writeAddress } from "../netAddress.ts"

/** Protocol: upstream `net_processing.cpp`, `MAX_ADDR_TO_SEND`. */
export const MAX_ADDRESSES = 1000

export interface AddressEntry {
  /** When it was last seen: seconds since 1970. */
  readonly time: number
  readonly services: bigint
  readonly address: NetAddress | UnknownAddress
  readonly port: number
}

export interface Addr {
  readonly type: "addr"
  readonly addresses: ReadonlyArray<AddressEntry>
}

const LIMIT: CountLimit = { most: MAX_ADDRESSES, consequence: "misbehaving" }

const ENTRIES = { field: "addresses", smallest: 30, limit: LIMIT }

/** An address of an unknown network may be empty. */
const V2_ENTRIES = { field: "addresses", smallest: 9, limit: LIMIT }

const readEntry = (reader: Reader): AddressEntry => ({
  time: reader.u32("time"),
  services: reader.u64("services"),
  address: fromIpv6(reader.bytes(16, "address")),
  port: readPort(reader)
})

const writeEntry = (writer: Writer, { address, port, services, time }: AddressEntry): void => {
  writer.u32(time).u64(services).bytes(toIpv6(address))
  writePort(writer, port)
}

export const addr = codec<Addr>(
  (reader) => ({ type: "addr", addresses: readList(reader, ENTRIES, readEntry) }),
  (writer, { addresses }) => {
    writer.compactSize(addresses.length)
    for (const entry of addresses) writeEntry(writer, entry)
  }
)

/** BIP 155. */
export interface AddrV2 {
  readonly type: "addrv2"
  readonly addresses: ReadonlyArray<AddressEntry>
}

const readV2Entry = (reader: Reader): AddressEntry => ({
  time: reader.u32("time"),
  services: readCompactNumber(reader, "services"),
  address: readAddress(reader),
  port: readPort(reader)
})

const writeV2Entry = (writer: Writer, { address, port, services, time }: AddressEntry): void => {
  writer.u32(time)
  writeCompactNumber(writer, services)
  writeAddress(writer, address)
  writePort(writer, port)
}

export const addrv2 = codec<AddrV2>(
  (reader) => ({ type: "addrv2", addresses: readList(reader, V2_ENTRIES, readV2Entry) }),
  (writer, { addresses }) => {
    writer.compactSize(addresses.length)
    for (const entry of addresses) writeV2Entry(writer, entry)
  }
)

export interface GetAddr {
  readonly type: "getaddr"
}

export const getaddr = emptyCodec<GetAddr>({ type: "getaddr" })
