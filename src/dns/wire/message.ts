import { type Bytes, concat, fromBinaryString } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import { HEADER_BYTES, META_TYPES } from "./codes.ts"
import { lowerCaseName, type WireName } from "./name.ts"
import { readWireName } from "./readName.ts"

/** A message of another server, or any other that is read whole. `readQuery` is for clients' questions. */
export interface DnsMessage {
  readonly id: number
  /** The second word of the header: `FLAGS`, `opcodeOf`, and the lower bits of the response code. */
  readonly flags: number
  /** With the bits that EDNS adds (RFC 6891, section 6.1.3). */
  readonly rcode: number
  readonly questions: ReadonlyArray<MessageQuestion>
  readonly answer: ReadonlyArray<MessageRecord>
  readonly authority: ReadonlyArray<MessageRecord>
  /** Includes OPT and TSIG. */
  readonly additional: ReadonlyArray<MessageRecord>
}

export interface MessageQuestion {
  /** In the letters of the message; `lowerCaseName` for comparisons. */
  readonly asked: WireName
  readonly type: number
  readonly class: number
}

export interface MessageRecord {
  /** In lower case. */
  readonly owner: WireName
  readonly type: number
  /** The UDP size for OPT. */
  readonly class: number
  /** Seconds: 0 if the first bit is set (RFC 2181, section 8). For OPT the bits are as they came. */
  readonly ttl: number
  /** With all names in full. A view of the message where it has none. */
  readonly data: Bytes
  /** Where the record begins in the message. */
  readonly at: number
}

/** The names in the data of types that may compress them (RFC 3597, section 4): bytes before the first name, and count. */
const NAMES_IN_DATA: ReadonlyMap<number, { readonly before: number; readonly names: number }> = new Map([
  // MD, MF, MB, MG, MR, PTR, then MINFO, RP, AFSDB, RT, PX, KX.
  ...[TYPE_NUMBERS.NS, TYPE_NUMBERS.CNAME, TYPE_NUMBERS.DNAME, 3, 4, 7, 8, 9, 12].map((type) =>
    [type, { before: 0, names: 1 }] as const
  ),
  ...[TYPE_NUMBERS.SOA, 14, 17].map((type) => [type, { before: 0, names: 2 }] as const),
  ...[TYPE_NUMBERS.MX, 18, 21, 36].map((type) => [type, { before: 2, names: 1 }] as const),
  [26, { before: 2, names: 2 }],
  [TYPE_NUMBERS.SRV, { before: 6, names: 1 }]
])

const truncated = (field: string, at: number): never => {
  throw new DecodeError({ field, reason: "cut off", kind: "truncated" }, at)
}

const word = (bytes: Bytes, at: number): number => (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0)

const number32 = (bytes: Bytes, at: number): number => word(bytes, at) * 0x10000 + word(bytes, at + 2)

interface DataPlace {
  readonly type: number
  readonly start: number
  readonly end: number
}

/** The data of a record, with the names that may be compressed in full. */
const expandedData = (bytes: Bytes, { end, start, type }: DataPlace): Bytes => {
  const layout = NAMES_IN_DATA.get(type)
  if (layout === undefined) return bytes.subarray(start, end)
  const parts: Array<Bytes> = [bytes.subarray(start, start + layout.before)]
  let at = start + layout.before
  for (let i = 0; i < layout.names; i++) {
    if (at >= end) return truncated("data", at)
    const read = readWireName(bytes, at)
    parts.push(fromBinaryString(read.name))
    at = read.end
  }
  if (at > end) return truncated("data", at)
  return concat(...parts, bytes.subarray(at, end))
}

const readRecord = (bytes: Bytes, at: number): { readonly record: MessageRecord; readonly end: number } => {
  const { end: nameEnd, name } = readWireName(bytes, at)
  const start = nameEnd + 10
  if (start > bytes.length) return truncated("record", at)
  const end = start + word(bytes, nameEnd + 8)
  if (end > bytes.length) return truncated("data", start)
  const type = word(bytes, nameEnd)
  const ttl = number32(bytes, nameEnd + 4)
  const record = {
    owner: lowerCaseName(name),
    type,
    class: word(bytes, nameEnd + 2),
    ttl: ttl > 0x7fffffff && type !== META_TYPES.OPT ? 0 : ttl,
    data: expandedData(bytes, { type, start, end }),
    at
  }
  return { record, end }
}

/** Reads all sections. Throws `DecodeError`. Bytes behind the message are an error. */
export const readMessage = (bytes: Bytes): DnsMessage => {
  if (bytes.length < HEADER_BYTES) return truncated("header", bytes.length)
  let at = HEADER_BYTES
  const questions: Array<MessageQuestion> = []
  for (let i = word(bytes, 4); i > 0; i--) {
    const { end, name } = readWireName(bytes, at)
    if (end + 4 > bytes.length) return truncated("question", at)
    questions.push({ asked: name, type: word(bytes, end), class: word(bytes, end + 2) })
    at = end + 4
  }
  const section = (count: number): ReadonlyArray<MessageRecord> => {
    const records: Array<MessageRecord> = []
    for (let i = 0; i < count; i++) {
      const { end, record } = readRecord(bytes, at)
      records.push(record)
      at = end
    }
    return records
  }
  const answer = section(word(bytes, 6))
  const authority = section(word(bytes, 8))
  const additional = section(word(bytes, 10))
  if (at < bytes.length) throw new DecodeError({ field: "message", reason: "bytes behind the last record" }, at)
  const flags = word(bytes, 2)
  const extended = additional.find(({ type }) => type === META_TYPES.OPT)?.ttl ?? 0
  return {
    id: word(bytes, 0),
    flags,
    rcode: (flags & 15) | extended >>> 24 << 4,
    questions,
    answer,
    authority,
    additional
  }
}
