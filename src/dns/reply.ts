import { type Bytes, concat, EMPTY } from "../protocol/bytes.ts"
import { TYPE_NUMBERS } from "../values/records.ts"
import type { DnsAnswer } from "./answer.ts"
import type { DnsClient } from "./exchange.ts"
import type { ZoneSigner } from "./parts.ts"
import type { DnsQuery } from "./query.ts"
import type { RecordSet } from "./records.ts"
import { briefBytes } from "./wire/briefBytes.ts"
import { CLASSES, FLAGS, MAX_MESSAGE_BYTES, PLAIN_UDP_BYTES, type RcodeName, RCODES } from "./wire/codes.ts"
import { optBytes, type OptRecord } from "./wire/MessageWriter.ts"
import { writeRecordData } from "./wire/recordData.ts"
import { type AskedBytes, type ResponseBody, responseTo, writeResponse } from "./wire/response.ts"
import { WireWriter } from "./wire/WireWriter.ts"

/** Messages of the responder. */

/** Bytes that this side takes and sends over UDP: they pass every network whole (DNS Flag Day 2020). */
export const UDP_BYTES = 1_232

/** RFC 8467, section 4.1. */
const PADDED_BYTES = 468

/** Codes of EDNS options. */
const NSID = 3
const COOKIE = 10
const EXTENDED_ERROR = 15

/** RFC 8914. */
export interface ExtendedError {
  readonly code: typeof EXTENDED_ERRORS[keyof typeof EXTENDED_ERRORS]
  readonly text: string
}

export const EXTENDED_ERRORS = { other: 0, notReady: 14, networkError: 23 } as const

const encoder = new TextEncoder()

export interface OptFacts {
  readonly rcode: RcodeName
  readonly error?: ExtendedError | undefined
  readonly serverId: string | undefined
  readonly cookie: (cookie: Bytes, client: DnsClient) => Bytes
}

/** The OPT record of an answer; `undefined` if the query has none. */
export const optFor = (
  { edns }: Pick<DnsQuery, "edns">,
  client: DnsClient,
  { cookie, error, rcode, serverId }: OptFacts
): OptRecord | undefined => {
  if (edns === undefined) return undefined
  const isEncrypted = client.transport === "tls" || client.transport === "https"
  const options = []
  if (edns.wantsNsid && serverId !== undefined) options.push({ code: NSID, data: encoder.encode(serverId) })
  if (edns.cookie !== undefined) options.push({ code: COOKIE, data: cookie(edns.cookie, client) })
  if (error !== undefined) {
    options.push({ code: EXTENDED_ERROR, data: concat(Uint8Array.of(0, error.code), encoder.encode(error.text)) })
  }
  const opt = { size: UDP_BYTES, extendedRcode: RCODES[rcode] >> 4, dnssec: edns.dnssec, options }
  return edns.pads && isEncrypted ? { ...opt, padTo: PADDED_BYTES } : opt
}

/** Bytes of the longest answer that the client takes. */
export const answerLimit = ({ edns }: Pick<DnsQuery, "edns">, { transport }: DnsClient): number =>
  transport === "udp" ? Math.min(edns?.size ?? PLAIN_UDP_BYTES, UDP_BYTES) : MAX_MESSAGE_BYTES

/** The question alone, with TC (RFC 2181, section 9). */
const withoutRecords = ({ bytes }: ResponseBody, { questionEnd }: AskedBytes): ResponseBody => {
  const cut = bytes.slice(0, questionEnd)
  cut[2] = (cut[2] ?? 0) | FLAGS.TC >> 8
  cut.fill(0, 6, 12)
  return { bytes: cut, isCut: true }
}

/** The message for one query, cut if the client does not take all of it. */
export const fitted = (
  query: Pick<DnsQuery, "bytes" | "edns" | "questionEnd">,
  client: DnsClient,
  { body, isRecursive, opt }: {
    readonly body: ResponseBody
    readonly opt: OptRecord | undefined
    /** RA: whether this client may have questions answered by other servers. */
    readonly isRecursive: boolean
  }
): Uint8Array<ArrayBuffer> => {
  const size = body.bytes.length + (opt === undefined ? 0 : optBytes(opt))
  const reply = responseTo(query, size > answerLimit(query, client) ? withoutRecords(body, query) : body, opt)
  if (isRecursive) reply[3] = (reply[3] ?? 0) | FLAGS.RA
  return reply
}

/** An answer without records. */
export const emptyBody = (query: AskedBytes, rcode: RcodeName): ResponseBody =>
  writeResponse({
    query,
    flags: 0,
    rcode: RCODES[rcode],
    answer: [],
    authority: [],
    additional: [],
    limit: MAX_MESSAGE_BYTES
  })

/** Sets with their signatures behind them. */
const signed = (sets: ReadonlyArray<RecordSet>, signer: ZoneSigner | undefined): ReadonlyArray<RecordSet> =>
  signer === undefined ? sets : sets.flatMap((set) => set.signs ? [set, signer.signatures(set)] : [set])

const soaWriter = new WireWriter()

/** The end of a negative answer, and the records in it. */
export interface SoaTail {
  readonly bytes: Bytes
  readonly count: number
}

const NO_TAIL: SoaTail = { bytes: EMPTY, count: 0 }

/** SOA with its signatures as bytes that do not depend on what is before them. */
export const soaTail = (soa: RecordSet, signer: ZoneSigner | undefined): SoaTail => {
  soaWriter.clear()
  let count = 0
  for (const set of signed([soa], signer)) {
    for (const record of set.records) {
      soaWriter.binary(set.owner).u16(set.type).u16(CLASSES.IN).u32(set.ttl).u16(0)
      const start = soaWriter.size
      writeRecordData(soaWriter, record)
      soaWriter.setU16(start - 2, soaWriter.size - start)
      count += 1
    }
  }
  return { bytes: soaWriter.toBytes(), count }
}

/**
 * A whole answer of the zone, with SOA at its end where it is a negative one, so that the serial can be renewed there.
 * `tailOf`: the tail for its SOA, if it is known.
 */
export const answerBody = (
  query: AskedBytes,
  { additional, answer, authoritative, authority, rcode }: Omit<DnsAnswer, "isCut" | "outside" | "sources">,
  { signer, tailOf = (soa) => soaTail(soa, signer) }: {
    readonly signer: ZoneSigner | undefined
    readonly tailOf?: (soa: RecordSet) => SoaTail
  }
): { readonly body: ResponseBody; readonly soaBytes: number } => {
  const soa = authority.find(({ type }) => type === TYPE_NUMBERS.SOA)
  const tail = soa === undefined ? NO_TAIL : tailOf(soa)
  const body = writeResponse({
    query,
    flags: authoritative ? FLAGS.AA : 0,
    rcode: RCODES[rcode],
    answer: signed(answer, signer),
    authority: signed(authority.filter((set) => set !== soa), signer),
    additional: signed(additional, signer),
    limit: MAX_MESSAGE_BYTES - tail.bytes.length
  })
  if (body.isCut || soa === undefined) return { body, soaBytes: 0 }
  const bytes = briefBytes(body.bytes.length + tail.bytes.length)
  bytes.set(body.bytes)
  bytes.set(tail.bytes, body.bytes.length)
  const count = ((bytes[8] ?? 0) << 8 | (bytes[9] ?? 0)) + tail.count
  bytes[8] = count >> 8
  bytes[9] = count
  return { body: { ...body, bytes }, soaBytes: tail.bytes.length }
}
