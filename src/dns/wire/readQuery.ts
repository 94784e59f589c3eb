import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import type { DnsQuery, QueryEdns } from "../query.ts"
import {
  CLASSES,
  FLAGS,
  HEADER_BYTES,
  META_TYPES,
  opcodeOf,
  OPCODES,
  PLAIN_UDP_BYTES,
  type RcodeName
} from "./codes.ts"
import { lowerCaseName, type WireName } from "./name.ts"
import { endOfName, endOfPlainName } from "./readName.ts"

/** What a message from a client is. */
export type QueryRead =
  | { readonly _tag: "Query"; readonly query: DnsQuery }
  | QueryFault
  /** Without an answer: whoever sent this is not a client. */
  | { readonly _tag: "Drop"; readonly reason: "short" | "response" }

/** An answer without records says so, with the question if that can be read. */
export interface QueryFault {
  readonly _tag: "Fault"
  readonly rcode: Extract<RcodeName, "FORMERR" | "NOTIMP" | "REFUSED">
  readonly reason: string
  readonly id: number
  /** The second word of the header. */
  readonly flags: number
  /** The offset behind the question; 12 without one. */
  readonly questionEnd: number
}

/** Codes of EDNS options. */
const NSID = 3
const COOKIE = 10
const PADDING = 12

/** RFC 7873, section 5.2.2: the client's part alone, or with 8 to 32 bytes of a server. */
const isCookieLength = (length: number): boolean => length === 8 || (length >= 16 && length <= 40)

const DO_FLAG = 0x8000

const u16 = (bytes: Bytes, at: number): number => (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0)

/** The end of the record that begins at an offset with a name of this end; -1 if the record is cut off. */
const endOfRecord = (bytes: Bytes, nameEnd: number): number => {
  const data = nameEnd + 10
  if (nameEnd < 0 || data > bytes.length) return -1
  const end = data + u16(bytes, nameEnd + 8)
  return end > bytes.length ? -1 : end
}

/** Reads the OPT record whose type is at an offset. The text says what is wrong. */
const readEdns = (bytes: Bytes, typeAt: number): QueryEdns | string => {
  const end = typeAt + 10 + u16(bytes, typeAt + 8)
  let wantsNsid = false
  let pads = false
  let cookie: Bytes | undefined
  for (let at = typeAt + 10; at < end;) {
    const code = u16(bytes, at)
    const length = u16(bytes, at + 2)
    const next = at + 4 + length
    if (next > end) return "an EDNS option is cut off"
    if (code === NSID) wantsNsid = true
    if (code === PADDING) pads = true
    if (code === COOKIE && cookie === undefined) {
      if (!isCookieLength(length)) return `a cookie of ${length} bytes`
      cookie = bytes.subarray(at + 4, next)
    }
    at = next
  }
  return {
    version: bytes[typeAt + 5] ?? 0,
    size: Math.max(PLAIN_UDP_BYTES, u16(bytes, typeAt + 2)),
    dnssec: (u16(bytes, typeAt + 6) & DO_FLAG) !== 0,
    wantsNsid,
    pads,
    cookie
  }
}

interface Trailer {
  readonly edns: QueryEdns | undefined
  readonly tsigAt: number | undefined
}

/** The records behind the question: only OPT and TSIG matter. The text says what is wrong. */
const readTrailer = (bytes: Bytes, questionEnd: number): Trailer | string => {
  const before = u16(bytes, 6) + u16(bytes, 8)
  const records = before + u16(bytes, 10)
  let edns: QueryEdns | undefined
  let tsigAt: number | undefined
  let at = questionEnd
  for (let i = 0; i < records; i++) {
    const typeAt = endOfName(bytes, at)
    const end = endOfRecord(bytes, typeAt)
    if (end < 0) return "a record is cut off"
    const type = u16(bytes, typeAt)
    // RFC 8945, section 5.1: the last record, or the message is malformed.
    if (tsigAt !== undefined) return "a record behind TSIG"
    if (type === META_TYPES.TSIG && i < before) return "TSIG in a wrong section"
    if (type === META_TYPES.TSIG) tsigAt = at
    if (type === META_TYPES.OPT && i >= before) {
      if (edns !== undefined) return "two OPT records"
      if (bytes[at] !== 0) return "an OPT record with a name"
      const read = readEdns(bytes, typeAt)
      if (typeof read === "string") return read
      edns = read
    }
    at = end
  }
  return at === bytes.length ? { edns, tsigAt } : "bytes behind the message"
}

/** Types that are never asked for: they belong to messages (RFC 6895, section 3.1). */
const NEVER_ASKED: ReadonlySet<number> = new Set([0, META_TYPES.OPT, META_TYPES.TKEY, META_TYPES.TSIG])

const isKnownClass = (number: number): boolean => number === CLASSES.IN || number === CLASSES.CH

/** Reads what came from a client. Never throws. */
export const readQuery = (bytes: Bytes): QueryRead => {
  if (bytes.length < HEADER_BYTES) return { _tag: "Drop", reason: "short" }
  const flags = u16(bytes, 2)
  if ((flags & FLAGS.QR) !== 0) return { _tag: "Drop", reason: "response" }
  const id = u16(bytes, 0)
  const nameEnd = u16(bytes, 4) === 1 ? endOfPlainName(bytes, HEADER_BYTES) : -1
  const isRead = nameEnd >= 0 && nameEnd + 4 <= bytes.length
  const questionEnd = isRead ? nameEnd + 4 : HEADER_BYTES
  const fault = (rcode: "FORMERR" | "NOTIMP" | "REFUSED", reason: string): QueryRead => ({
    _tag: "Fault",
    rcode,
    reason,
    id,
    flags,
    questionEnd
  })
  const opcode = opcodeOf(flags)
  if (opcode === OPCODES.NOTIFY || opcode === OPCODES.UPDATE) return fault("REFUSED", `opcode ${opcode}`)
  if (opcode !== OPCODES.QUERY) return fault("NOTIMP", `opcode ${opcode}`)
  if (!isRead) return fault("FORMERR", "not one whole question")
  const type = u16(bytes, nameEnd)
  const trailer = readTrailer(bytes, questionEnd)
  if (typeof trailer === "string") return fault("FORMERR", trailer)
  if (NEVER_ASKED.has(type)) return fault("FORMERR", `type ${type}`)
  const number = u16(bytes, nameEnd + 2)
  if (!isKnownClass(number)) return fault("REFUSED", `class ${number}`)
  const name = lowerCaseName(binaryString(bytes.subarray(HEADER_BYTES, nameEnd)) as WireName)
  return {
    _tag: "Query",
    query: {
      bytes,
      id,
      opcode,
      wantsRecursion: (flags & FLAGS.RD) !== 0,
      checkingDisabled: (flags & FLAGS.CD) !== 0,
      question: { name, type, class: number },
      questionEnd,
      edns: trailer.edns,
      tsigAt: trailer.tsigAt
    }
  }
}
