import { type Bytes, toHex } from "../protocol/bytes.ts"
import { ipv6Text } from "./hosts.ts"
import { locText } from "./loc.ts"

/** The DNS records that values of names can hold, as data. `recordText` prints them as a zone file has them. */

/** Numbers of the types (IANA, "Domain Name System (DNS) Parameters"). */
export const TYPE_NUMBERS = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  DNAME: 39,
  DS: 43,
  SSHFP: 44,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  TLSA: 52
} as const

/**
 * A host in a record: an absolute DNS name in lower case that ends in a dot, such as `www.example.bit.`, or `.` alone.
 * Its labels have letters, digits, `-` and `_`, so no label holds a dot.
 */
export type HostText = string

/** One record of a value. Bytes are those of the record's data on the wire. */
export type RecordData =
  | { readonly type: "A"; readonly address: Bytes }
  | { readonly type: "AAAA"; readonly address: Bytes }
  | { readonly type: "CNAME" | "DNAME" | "NS"; readonly target: HostText }
  | {
    readonly type: "DS"
    readonly keyTag: number
    readonly algorithm: number
    readonly digestType: number
    readonly digest: Bytes
  }
  | {
    readonly type: "SRV"
    readonly priority: number
    readonly weight: number
    readonly port: number
    readonly target: HostText
  }
  | { readonly type: "MX"; readonly preference: number; readonly target: HostText }
  | {
    readonly type: "TLSA"
    readonly usage: number
    readonly selector: number
    readonly matchingType: number
    readonly data: Bytes
  }
  /** Each string has at most 255 bytes. */
  | { readonly type: "TXT"; readonly strings: ReadonlyArray<Bytes> }
  /** RFC 1876: the 16 bytes on the wire. */
  | { readonly type: "LOC"; readonly data: Bytes }
  | {
    readonly type: "SSHFP"
    readonly algorithm: number
    readonly fingerprintType: number
    readonly fingerprint: Bytes
  }
  /** From the item `o` (IFA-0001): a record of any type, as RFC 3597 prints it. */
  | { readonly type: "opaque"; readonly number: number; readonly data: Bytes }

/** The number of a record's type. */
export const typeNumberOf = (record: RecordData): number =>
  record.type === "opaque" ? record.number : TYPE_NUMBERS[record.type]

/** `A`, `TLSA`; `TYPE65` for an opaque record (RFC 3597, section 5). */
export const recordTypeText = (record: RecordData): string =>
  record.type === "opaque" ? `TYPE${record.number}` : record.type

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A character string of a zone file, in quotes (RFC 1035, section 5.1). */
const characterString = (bytes: Bytes): string => {
  let text = ""
  for (const byte of bytes) {
    if (byte < 0x20 || byte > 0x7e) text += `\\${byte.toString().padStart(3, "0")}`
    else text += byte === QUOTE || byte === BACKSLASH ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte)
  }
  return `"${text}"`
}

/** The data as in a zone file, in one line of printable ASCII: `10 mail.example.bit.` */
export const recordText = (record: RecordData): string => {
  switch (record.type) {
    case "A":
      return record.address.join(".")
    case "AAAA":
      return ipv6Text(record.address)
    case "CNAME":
    case "DNAME":
    case "NS":
      return record.target
    case "DS":
      return `${record.keyTag} ${record.algorithm} ${record.digestType} ${toHex(record.digest)}`
    case "SRV":
      return `${record.priority} ${record.weight} ${record.port} ${record.target}`
    case "MX":
      return `${record.preference} ${record.target}`
    case "TLSA":
      return `${record.usage} ${record.selector} ${record.matchingType} ${toHex(record.data)}`
    case "TXT":
      return record.strings.map(characterString).join(" ")
    case "LOC":
      return locText(record.data)
    case "SSHFP":
      return `${record.algorithm} ${record.fingerprintType} ${toHex(record.fingerprint)}`
    case "opaque":
      return record.data.length === 0 ? "\\# 0" : `\\# ${record.data.length} ${toHex(record.data)}`
  }
}
