import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import type { RecordSet } from "../records.ts"
import { briefBytes } from "./briefBytes.ts"
import { FLAGS, HEADER_BYTES, MAX_MESSAGE_BYTES } from "./codes.ts"
import type { MessageQuestion } from "./message.ts"
import { MessageWriter, type OptRecord, writeOpt } from "./MessageWriter.ts"
import type { WireName } from "./name.ts"
import { WireWriter } from "./WireWriter.ts"

/** An answer as a cache may keep a copy of it: for all queries with the same question, apart from id, letters, RD, CD and OPT. */
export interface ResponseBody {
  /** The message without OPT. */
  readonly bytes: Bytes
  /** Whether records did not find room: the message has TC and the question alone. */
  readonly isCut: boolean
}

export interface ResponseParts {
  /** Any query with this question. */
  readonly query: AskedBytes
  /** AA and RA, as `FLAGS`. */
  readonly flags: number
  /** The lower four bits of the response code. OPT has the others. */
  readonly rcode: number
  readonly answer: ReadonlyArray<RecordSet>
  readonly authority: ReadonlyArray<RecordSet>
  readonly additional: ReadonlyArray<RecordSet>
  /** For the whole message, with the room for OPT taken off. */
  readonly limit: number
}

/** A query, of which the header and the question count. */
export interface AskedBytes {
  readonly bytes: Bytes
  /** The offset behind the question; 12 if the answer repeats none. */
  readonly questionEnd: number
}

/** Bits of the header that an answer takes from its query: opcode, RD, CD. */
const COPIED_FLAGS = 0x7800 | FLAGS.RD | FLAGS.CD

const u16 = (bytes: Bytes, at: number): number => (bytes[at] ?? 0) << 8 | (bytes[at + 1] ?? 0)

/** The question in the letters of the query; `undefined` if the answer repeats none. */
export const askedQuestion = ({ bytes, questionEnd }: AskedBytes): MessageQuestion | undefined =>
  questionEnd === HEADER_BYTES ? undefined : {
    asked: binaryString(bytes.subarray(HEADER_BYTES, questionEnd - 4)) as WireName,
    type: u16(bytes, questionEnd - 4),
    class: u16(bytes, questionEnd - 2)
  }

const writer = new MessageWriter()

/** Writes all records, or none and TC if they do not fit (RFC 2181, section 9). */
export const writeResponse = (parts: ResponseParts): ResponseBody => {
  const { additional, answer, authority, query } = parts
  const flags = FLAGS.QR | (u16(query.bytes, 2) & COPIED_FLAGS) | parts.flags | (parts.rcode & 15)
  const question = askedQuestion(query)
  writer.start({ id: u16(query.bytes, 0), flags, question }, parts.limit)
  const fits = answer.every((set) => writer.set("answer", set)) &&
    authority.every((set) => writer.set("authority", set)) &&
    additional.every((set) => writer.set("additional", set))
  if (!fits) writer.start({ id: u16(query.bytes, 0), flags: flags | FLAGS.TC, question })
  return { bytes: writer.bytes(), isCut: !fits }
}

const tail = new WireWriter()

/** The answer to one query. It is the body with the id, letters and flags of the query, followed by OPT. */
export const responseTo = (
  { bytes, questionEnd }: AskedBytes,
  body: ResponseBody,
  opt: OptRecord | undefined
): Uint8Array<ArrayBuffer> => {
  tail.clear()
  if (opt !== undefined) writeOpt(tail, opt, { size: body.bytes.length, limit: MAX_MESSAGE_BYTES })
  const whole = briefBytes(body.bytes.length + tail.size)
  whole.set(body.bytes)
  if (opt !== undefined) {
    whole.set(tail.written(), body.bytes.length)
    const additional = u16(body.bytes, 10) + 1
    whole[10] = additional >>> 8
    whole[11] = additional
  }
  whole[0] = bytes[0] ?? 0
  whole[1] = bytes[1] ?? 0
  const flags = (u16(body.bytes, 2) & ~COPIED_FLAGS) | (u16(bytes, 2) & COPIED_FLAGS)
  whole[2] = flags >>> 8
  whole[3] = flags
  for (let at = HEADER_BYTES; at < questionEnd; at++) whole[at] = bytes[at] ?? 0
  return whole
}
