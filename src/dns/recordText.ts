import { encodeBase64 } from "../protocol/base64.ts"
import { fromBinaryString } from "../protocol/bytes.ts"
import { recordText } from "../values/records.ts"
import type { DnsRecord, ServerRecord } from "./records.ts"
import { wordOfType } from "./recordTypes.ts"
import { wireNameText } from "./wire/name.ts"

/** A time of a signature: `20270131235959` (RFC 4034, section 3.2). */
const timeText = (seconds: number): string => new Date(1000 * seconds).toISOString().replace(/\D/g, "").slice(0, 14)

const quoted = (text: string): string => recordText({ type: "TXT", strings: [fromBinaryString(text)] })

const serverRecordText = (record: ServerRecord): string => {
  switch (record.type) {
    case "SOA": {
      const numbers = [record.serial, record.refresh, record.retry, record.expire, record.minimum]
      return `${wireNameText(record.mname)} ${wireNameText(record.rname)} ${numbers.join(" ")}`
    }
    case "DNSKEY":
      return `${record.flags} 3 ${record.algorithm} ${encodeBase64(record.key)}`
    case "NSEC":
      return `${wireNameText(record.next)} ${record.types.map(wordOfType).join(" ")}`
    case "RRSIG": {
      const numbers = [record.algorithm, record.labels, record.originalTtl]
      const times = [timeText(record.expiration), timeText(record.inception)]
      return [
        wordOfType(record.covered),
        ...numbers,
        ...times,
        record.keyTag,
        wireNameText(record.signer),
        encodeBase64(record.signature)
      ].join(" ")
    }
    case "HINFO":
      return `${quoted(record.cpu)} ${quoted(record.os)}`
  }
}

/** The data of a record as in a zone file, in one line. */
export const dnsRecordText = (record: DnsRecord): string => {
  switch (record.type) {
    case "SOA":
    case "DNSKEY":
    case "NSEC":
    case "RRSIG":
    case "HINFO":
      return serverRecordText(record)
    default:
      return recordText(record)
  }
}
