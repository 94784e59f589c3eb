import type { NameKey } from "../protocol/keys.ts"
import type { DomainZone } from "../values/zone.ts"
import type { RecordSet, ServerRecord } from "./records.ts"
import type { WireName } from "./wire/name.ts"

/** What the zone `bit.` answers: RFC 1034 section 4.3.2 with DNAME (RFC 6672) and wildcards (RFC 4592). */

export interface Question {
  readonly name: WireName
  readonly type: number
}

/** The zone's own records, and where it stands. */
export interface Apex {
  /** `bit.`, or `bit.example.org.` for a suffix. */
  readonly origin: WireName
  readonly soa: Extract<ServerRecord, { readonly type: "SOA" }>
  readonly servers: ReadonlyArray<WireName>
  /** Empty without DNSSEC. */
  readonly keys: ReadonlyArray<Extract<ServerRecord, { readonly type: "DNSKEY" }>>
  /** Whether `this.x--nmc` and `aia.x--nmc` exist. */
  readonly ownHosts: boolean
  /** Seconds, for records of names. */
  readonly ttl: number
}

export type Rcode = "NOERROR" | "NXDOMAIN" | "YXDOMAIN" | "REFUSED"

export interface DnsAnswer {
  readonly rcode: Rcode
  readonly authoritative: boolean
  readonly answer: ReadonlyArray<RecordSet>
  readonly authority: ReadonlyArray<RecordSet>
  readonly additional: ReadonlyArray<RecordSet>
  /** Names whose change can change the answer. */
  readonly sources: ReadonlyArray<NameKey>
  /** Whether a zone was cut by limits. */
  readonly isCut: boolean
  /** The alias target outside the zone, where the answer ends. */
  readonly outside: WireName | undefined
}

/** Yields the label below the origin whose zone is wanted, and takes it; `undefined` if the name does not exist. */
export type AnswerWork = Generator<string, DnsAnswer, DomainZone | undefined>
