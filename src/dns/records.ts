import type { Bytes } from "../protocol/bytes.ts"
import type { RecordData } from "../values/records.ts"
import type { WireName } from "./wire/name.ts"

/** Record sets as answers hold them. */

/** Records that no value of a name holds: those of the apex, of DNSSEC, and the answer to ANY. */
export type ServerRecord =
  | {
    readonly type: "SOA"
    readonly mname: WireName
    readonly rname: WireName
    readonly serial: number
    readonly refresh: number
    readonly retry: number
    readonly expire: number
    readonly minimum: number
  }
  | { readonly type: "DNSKEY"; readonly flags: number; readonly algorithm: number; readonly key: Bytes }
  /** The types in ascending order. */
  | { readonly type: "NSEC"; readonly next: WireName; readonly types: ReadonlyArray<number> }
  | {
    readonly type: "RRSIG"
    readonly covered: number
    readonly algorithm: number
    readonly labels: number
    readonly originalTtl: number
    readonly expiration: number
    readonly inception: number
    readonly keyTag: number
    readonly signer: WireName
    readonly signature: Bytes
  }
  | { readonly type: "HINFO"; readonly cpu: string; readonly os: string }

export type DnsRecord = RecordData | ServerRecord

export interface RecordSet {
  readonly owner: WireName
  /** The number of the type. */
  readonly type: number
  /** Seconds. */
  readonly ttl: number
  readonly records: ReadonlyArray<DnsRecord>
  /** Whether the zone signs the set: false for NS and glue of a delegation, and for a CNAME that DNAME implies. */
  readonly signs: boolean
  /** The wildcard that the set comes from; its signature is that of the wildcard (RFC 4035, section 5.3.2). */
  readonly wildcard?: WireName
  /** Whether this object is in the answers to many questions: its signatures are then remembered with it. */
  readonly isShared?: boolean
}
