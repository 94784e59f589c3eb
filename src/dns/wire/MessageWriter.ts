import type { Bytes } from "../../protocol/bytes.ts"
import type { DnsRecord, RecordSet } from "../records.ts"
import { briefBytes } from "./briefBytes.ts"
import { CLASSES, HEADER_BYTES, MAX_MESSAGE_BYTES, META_TYPES } from "./codes.ts"
import type { MessageQuestion } from "./message.ts"
import { lowerCaseName, ROOT } from "./name.ts"
import { writeRecordData } from "./recordData.ts"
import { WireWriter } from "./WireWriter.ts"

export interface MessageHead {
  readonly id: number
  /** The second word of the header, with the lower four bits of the response code. */
  readonly flags: number
  readonly question: MessageQuestion | undefined
}

/** The OPT record of a message of ours (RFC 6891). */
export interface OptRecord {
  /** The bytes that this side takes over UDP. */
  readonly size: number
  /** The response code's bits above the lower four. */
  readonly extendedRcode: number
  readonly dnssec: boolean
  readonly options: ReadonlyArray<EdnsOption>
  /** The message is padded to a multiple of so many bytes (RFC 8467), within its limit. */
  readonly padTo?: number
}

export interface EdnsOption {
  readonly code: number
  readonly data: Bytes
}

export type MessageSection = "answer" | "authority" | "additional"

/** What records of a set have in common. */
export type SetHead = Pick<RecordSet, "owner" | "type" | "ttl">

const DO_FLAG = 0x8000

/** Bytes of an OPT record without options. */
const OPT_BYTES = 11

const PADDING = 12

/** Without padding. */
export const optBytes = ({ options }: OptRecord): number =>
  options.reduce((sum, { data }) => sum + 4 + data.length, OPT_BYTES)

/** The option that brings a message of `size` bytes to a multiple of `padTo`; `undefined` if it fits without or cannot. */
const paddingFor = (
  { limit, padTo, size }: { readonly size: number; readonly padTo: number; readonly limit: number }
) => {
  const target = Math.min(Math.ceil((size + 4) / padTo) * padTo, limit)
  return target < size + 4 ? undefined : { code: PADDING, data: new Uint8Array(target - size - 4) }
}

/** Writes an OPT record behind a message of `size` bytes. */
export const writeOpt = (
  writer: WireWriter,
  opt: OptRecord,
  { limit, size }: { readonly size: number; readonly limit: number }
): void => {
  const length = optBytes(opt)
  const padding = opt.padTo === undefined ? undefined : paddingFor({ size: size + length, padTo: opt.padTo, limit })
  const options = padding === undefined ? opt.options : [...opt.options, padding]
  writer.binary(ROOT).u16(META_TYPES.OPT).u16(opt.size).u8(opt.extendedRcode).u8(0).u16(opt.dnssec ? DO_FLAG : 0)
  writer.u16(length - OPT_BYTES + (padding === undefined ? 0 : 4 + padding.data.length))
  for (const { code, data } of options) writer.u16(code).u16(data.length).bytes(data)
}

/**
 * Writes one message after another into the same memory: `start`, then the records, section by section, then `bytes`.
 * What would exceed the limit is not written.
 */
export class MessageWriter {
  private readonly writer = new WireWriter({ capacity: 4096, compresses: true })
  private readonly counts = { answer: 0, authority: 0, additional: 0 }
  private limit = MAX_MESSAGE_BYTES
  private class: number = CLASSES.IN

  /** Bytes so far. */
  get size(): number {
    return this.writer.size
  }

  /** `limit` counts the whole message. */
  start({ flags, id, question }: MessageHead, limit: number = MAX_MESSAGE_BYTES): this {
    this.limit = limit
    this.class = question?.class === CLASSES.CH ? CLASSES.CH : CLASSES.IN
    const { counts, writer } = this
    counts.answer = counts.authority = counts.additional = 0
    writer.clear().u16(id).u16(flags).u16(question === undefined ? 0 : 1).u16(0).u32(0)
    if (question === undefined) return this
    writer.binary(question.asked).u16(question.type).u16(question.class)
    writer.pointInto(lowerCaseName(question.asked), HEADER_BYTES)
    return this
  }

  /** Returns whether the record found room. */
  record(section: MessageSection, set: SetHead, record: DnsRecord): boolean {
    const { writer } = this
    const start = writer.size
    writer.name(set.owner).u16(set.type).u16(this.class).u32(set.ttl).u16(0)
    const data = writer.size
    writeRecordData(writer, record)
    const length = writer.size - data
    if (writer.size > this.limit || length > 0xffff) {
      writer.truncate(start)
      return false
    }
    writer.setU16(data - 2, length)
    this.counts[section] += 1
    return true
  }

  /** Returns whether all records found room. Those that did are in the message. */
  set(section: MessageSection, set: RecordSet): boolean {
    for (const record of set.records) if (!this.record(section, set, record)) return false
    return true
  }

  /** The OPT record, the last one but for TSIG. Returns whether it found room. */
  opt(opt: OptRecord): boolean {
    const { limit, writer } = this
    if (writer.size + optBytes(opt) > limit) return false
    writeOpt(writer, opt, { size: writer.size, limit })
    this.counts.additional += 1
    return true
  }

  /** The message, in `briefBytes`. */
  bytes(): Uint8Array<ArrayBuffer> {
    const { counts, writer } = this
    writer.setU16(6, counts.answer)
    writer.setU16(8, counts.authority)
    writer.setU16(10, counts.additional)
    const message = briefBytes(writer.size)
    message.set(writer.written())
    return message
  }
}
