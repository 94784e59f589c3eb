import { toHex } from "../protocol/bytes.ts"
import { type HostText, type RecordData, recordText, TYPE_NUMBERS } from "../values/records.ts"
import type { DnsAnswer } from "./answer.ts"
import type { DomainRecord, DomainStatus } from "./domainRecord.ts"
import type { DnsRecord, RecordSet, ServerRecord } from "./records.ts"
import { ANY_TYPE } from "./recordTypes.ts"
import { wireNameText } from "./wire/name.ts"

/** DNS answers in the form for programs and JSON. */

const UTF8 = new TextDecoder()

/** One record of a value. */
export const domainRecordOf = (
  { name, ttl }: { readonly name: HostText; readonly ttl: number },
  record: RecordData
): DomainRecord => {
  const data = recordText(record)
  switch (record.type) {
    case "A":
    case "AAAA":
      return { name, type: record.type, ttl, data, address: data }
    case "CNAME":
    case "DNAME":
    case "NS":
      return { name, type: record.type, ttl, data, target: record.target }
    case "MX":
      return { name, type: "MX", ttl, data, preference: record.preference, target: record.target }
    case "SRV": {
      const { port, priority, target, weight } = record
      return { name, type: "SRV", ttl, data, priority, weight, port, target }
    }
    case "TXT":
      return { name, type: "TXT", ttl, data, strings: record.strings.map((bytes) => UTF8.decode(bytes)) }
    case "TLSA": {
      const { matchingType, selector, usage } = record
      return { name, type: "TLSA", ttl, data, usage, selector, matchingType, association: toHex(record.data) }
    }
    case "DS": {
      const { algorithm, digest, digestType, keyTag } = record
      return { name, type: "DS", ttl, data, keyTag, algorithm, digestType, digest: toHex(digest) }
    }
    case "SSHFP": {
      const { algorithm, fingerprint, fingerprintType } = record
      return { name, type: "SSHFP", ttl, data, algorithm, fingerprintType, fingerprint: toHex(fingerprint) }
    }
    case "LOC":
      return { name, type: "LOC", ttl, data }
    case "opaque":
      return { name, type: `TYPE${record.number}`, ttl, data }
  }
}

const SERVER_TYPES: ReadonlySet<string> = new Set<ServerRecord["type"]>(["SOA", "DNSKEY", "NSEC", "RRSIG", "HINFO"])

const isOfServer = (record: DnsRecord): record is ServerRecord => SERVER_TYPES.has(record.type)

/** Omits records of the zone itself, such as SOA. */
const recordsIn = ({ owner, records, ttl }: RecordSet): ReadonlyArray<DomainRecord> =>
  records.flatMap((record) => isOfServer(record) ? [] : [domainRecordOf({ name: wireNameText(owner), ttl }, record)])

const recordsOf = (sets: ReadonlyArray<RecordSet>): ReadonlyArray<DomainRecord> => sets.flatMap(recordsIn)

export interface AnsweredHost {
  readonly status: DomainStatus
  readonly records: ReadonlyArray<DomainRecord>
}

/** `type` is the queried type number. */
export const answeredHost = (
  { additional, answer, authority, outside, rcode }: DnsAnswer,
  type: number
): AnsweredHost => {
  const records = recordsOf(answer)
  if (rcode === "NXDOMAIN" || rcode === "YXDOMAIN") return { status: "no-name", records }
  if (authority.some((set) => set.type === TYPE_NUMBERS.NS)) {
    return { status: "delegated", records: [...records, ...recordsOf(authority), ...recordsOf(additional)] }
  }
  if (outside !== undefined) return { status: "alias-outside", records }
  const isFound = answer.some((set) => set.type === type || type === ANY_TYPE)
  return { status: isFound ? "records" : "no-data", records }
}
