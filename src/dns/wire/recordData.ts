import { fromBinaryString } from "../../protocol/bytes.ts"
import type { DnsRecord, ServerRecord } from "../records.ts"
import { wireNameOfHost } from "./name.ts"
import { WireWriter } from "./WireWriter.ts"

/** DNSKEY, protocol: the only value (RFC 4034, section 2.1.2). */
const DNSSEC_PROTOCOL = 3

/**
 * Types that a node has, in ascending order, as windows of 256 types with a bit for each (RFC 4034, section 4.1.2). Throws
 * where the order is another one.
 */
const writeTypes = (writer: WireWriter, types: ReadonlyArray<number>): void => {
  const typeAt = (index: number): number => types[index] ?? 0
  if (types.some((type, i) => i > 0 && type < typeAt(i - 1))) {
    throw new RangeError(`types of NSEC out of order: ${types.join()}`)
  }
  for (let at = 0; at < types.length;) {
    const window = typeAt(at) >>> 8
    let end = at
    while (end < types.length && typeAt(end) >>> 8 === window) end++
    const last = (typeAt(end - 1) & 0xff) >>> 3
    writer.u8(window).u8(last + 1)
    for (let octet = 0; octet <= last; octet++) {
      let bits = 0
      for (; at < end && (typeAt(at) & 0xff) >>> 3 === octet; at++) bits |= 0x80 >>> (typeAt(at) & 7)
      writer.u8(bits)
    }
  }
}

/** The fields of a signature in front of it: they are signed with the set (RFC 4034, section 3.1.8.1). */
export const writeSignatureHead = (
  writer: WireWriter,
  head: Omit<Extract<ServerRecord, { readonly type: "RRSIG" }>, "signature">
): WireWriter =>
  writer.u16(head.covered).u8(head.algorithm).u8(head.labels).u32(head.originalTtl).u32(head.expiration)
    .u32(head.inception).u16(head.keyTag).binary(head.signer)

const writeServerData = (writer: WireWriter, record: ServerRecord): void => {
  switch (record.type) {
    case "SOA":
      writer.name(record.mname).name(record.rname).u32(record.serial).u32(record.refresh).u32(record.retry)
        .u32(record.expire).u32(record.minimum)
      return
    case "DNSKEY":
      writer.u16(record.flags).u8(DNSSEC_PROTOCOL).u8(record.algorithm).bytes(record.key)
      return
    case "NSEC":
      return writeTypes(writer.binary(record.next), record.types)
    case "RRSIG":
      writeSignatureHead(writer, record).bytes(record.signature)
      return
    case "HINFO":
      writer.characterString(fromBinaryString(record.cpu)).characterString(fromBinaryString(record.os))
      return
  }
}

/**
 * Writes the data of a record, without its length. A writer that compresses does so with names of the types of RFC 1035
 * alone (RFC 3597, section 4); any other writes the canonical form (RFC 4034, section 6.2), as all names are in lower case.
 */
export const writeRecordData = (writer: WireWriter, record: DnsRecord): void => {
  switch (record.type) {
    case "A":
    case "AAAA":
      writer.bytes(record.address)
      return
    case "CNAME":
    case "NS":
      writer.name(wireNameOfHost(record.target))
      return
    case "DNAME":
      writer.binary(wireNameOfHost(record.target))
      return
    case "DS":
      writer.u16(record.keyTag).u8(record.algorithm).u8(record.digestType).bytes(record.digest)
      return
    case "SRV":
      writer.u16(record.priority).u16(record.weight).u16(record.port).binary(wireNameOfHost(record.target))
      return
    case "MX":
      writer.u16(record.preference).name(wireNameOfHost(record.target))
      return
    case "TLSA":
      writer.u8(record.usage).u8(record.selector).u8(record.matchingType).bytes(record.data)
      return
    case "TXT":
      for (const string of record.strings) writer.characterString(string)
      return
    case "LOC":
    case "opaque":
      writer.bytes(record.data)
      return
    case "SSHFP":
      writer.u8(record.algorithm).u8(record.fingerprintType).bytes(record.fingerprint)
      return
    default:
      return writeServerData(writer, record)
  }
}

/** The canonical form of a record's data (RFC 4034, section 6.2). */
export const canonicalData = (record: DnsRecord): Uint8Array => {
  const writer = new WireWriter({ capacity: 64 })
  writeRecordData(writer, record)
  return writer.toBytes()
}
