import { sign } from "node:crypto"
import { compare, equal } from "../../protocol/bytes.ts"
import type { DnsRecord, RecordSet, ServerRecord } from "../records.ts"
import { CLASSES } from "../wire/codes.ts"
import { firstLabel, labelCount, type WireName } from "../wire/name.ts"
import { canonicalData, writeRecordData, writeSignatureHead } from "../wire/recordData.ts"
import { WireWriter } from "../wire/WireWriter.ts"
import { ALGORITHM, type ZoneKey } from "./zoneKey.ts"

export type RrsigRecord = Extract<ServerRecord, { readonly type: "RRSIG" }>

/** Seconds that a signature is valid before it is made, for clocks that are slow, and behind. */
export const INCEPTION_BEFORE = 3_600
export const VALID_SECONDS = 14 * 86_400

/** A wildcard's asterisk does not count (RFC 4034, section 3.1.3), whether the set comes from it or belongs to it. */
const signedLabels = (name: WireName): number => labelCount(name) - (firstLabel(name) === "*" ? 1 : 0)

const sortedData = (records: ReadonlyArray<DnsRecord>): ReadonlyArray<Uint8Array> => {
  const sorted = records.map(canonicalData).sort(compare)
  return sorted.filter((data, i) => i === 0 || !equal(data, sorted[i - 1] ?? data))
}

const body = new WireWriter()

/** The only record of a set, as most are: nothing to sort, so nothing to copy. */
const writeOnly = ({ owner, ttl, type, wildcard = owner }: RecordSet, record: DnsRecord): void => {
  body.binary(wildcard).u16(type).u16(CLASSES.IN).u32(ttl).u16(0)
  const start = body.size
  writeRecordData(body, record)
  body.setU16(start - 2, body.size - start)
}

/**
 * The records in canonical form (RFC 4034, section 6.3), under the name of their wildcard if they come from one: what is
 * signed behind the head of the signature. A view, valid until the next call.
 */
export const canonicalSet = (set: RecordSet): Uint8Array => {
  body.clear()
  const { owner, records, ttl, type, wildcard = owner } = set
  const [first] = records
  if (first !== undefined && records.length === 1) writeOnly(set, first)
  else {
    for (const data of sortedData(records)) {
      body.binary(wildcard).u16(type).u16(CLASSES.IN).u32(ttl).u16(data.length).bytes(data)
    }
  }
  return body.written()
}

export interface SetSigner {
  readonly key: ZoneKey
  readonly keyTag: number
  readonly zone: WireName
}

const whole = new WireWriter()

/** Signs a set, given as `canonicalSet`, at a time in seconds since 1970. */
export const signSet = (
  { owner, ttl, type, wildcard = owner }: RecordSet,
  canonical: Uint8Array,
  { key, keyTag, now, zone }: SetSigner & { readonly now: number }
): RrsigRecord => {
  const head = {
    type: "RRSIG" as const,
    covered: type,
    algorithm: ALGORITHM,
    labels: signedLabels(wildcard),
    originalTtl: ttl,
    expiration: now + VALID_SECONDS,
    inception: now - INCEPTION_BEFORE,
    keyTag,
    signer: zone
  }
  const bytes = writeSignatureHead(whole.clear(), head).bytes(canonical).written()
  const signature = sign("sha256", bytes, { key: key.private, dsaEncoding: "ieee-p1363" })
  return { ...head, signature: new Uint8Array(signature) }
}
