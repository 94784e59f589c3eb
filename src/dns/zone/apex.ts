import { type RecordData, TYPE_NUMBERS } from "../../values/records.ts"
import type { ZoneNode } from "../../values/zone.ts"
import type { RecordSet, ServerRecord } from "../records.ts"
import { nameOfLabels, type WireName, wireNameText } from "../wire/name.ts"

/** The records that the zone has without any name: those of the apex, and the hosts of Encaya's certificates. */

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

/** Seconds that resolvers keep records which do not come from values. */
export const SECONDS = { apex: 86_400, keys: 3_600, negative: 60, ownHosts: 600 } as const

/** The label below the apex that no name can have. */
export const OWN_LABEL = "x--nmc"

const OWN_ADDRESS = Uint8Array.of(127, 127, 127, 127)

export interface ApexSettings {
  readonly origin: WireName
  /** The primary first; empty for a host of the zone's own. */
  readonly servers: ReadonlyArray<WireName>
  /** Seconds, for records of names. */
  readonly ttl: number
}

/** The apex at a serial. Secondaries look for a new one every ten minutes, and after two hours they know nothing. */
export const makeApex = ({ origin, servers, ttl }: ApexSettings) => {
  const own = nameOfLabels(["this", OWN_LABEL], origin) ?? origin
  const named = servers.length === 0 ? [own] : servers
  const mname = named[0] ?? own
  const rname = nameOfLabels(["hostmaster"], mname) ?? mname
  const timers = { refresh: 600, retry: 600, expire: 7_200, minimum: SECONDS.negative }
  return (serial: number, keys: Apex["keys"] = []): Apex => ({
    origin,
    soa: { type: "SOA", mname, rname, serial, ...timers },
    servers: named,
    keys,
    ownHosts: servers.length === 0,
    ttl
  })
}

/** SOA with the TTL of the zone. */
export const soaSet = ({ origin, soa }: Apex, ttl: number = SECONDS.apex): RecordSet => ({
  owner: origin,
  type: TYPE_NUMBERS.SOA,
  ttl,
  records: [soa],
  signs: true
})

/** The types of the apex, without those of proofs. */
export const apexTypes = ({ keys }: Apex): ReadonlyArray<number> =>
  keys.length === 0
    ? [TYPE_NUMBERS.SOA, TYPE_NUMBERS.NS]
    : [TYPE_NUMBERS.SOA, TYPE_NUMBERS.NS, TYPE_NUMBERS.DNSKEY]

/** The sets of the apex. */
export const apexSets = (apex: Apex): ReadonlyArray<RecordSet> => {
  const { keys, origin, servers } = apex
  const targets = servers.map((server): RecordData => ({ type: "NS", target: wireNameText(server) }))
  return [
    soaSet(apex),
    { owner: origin, type: TYPE_NUMBERS.NS, ttl: SECONDS.apex, records: targets, signs: true },
    ...keys.length === 0
      ? []
      : [{ owner: origin, type: TYPE_NUMBERS.DNSKEY, ttl: SECONDS.keys, records: keys, signs: true }]
  ]
}

const leaf = (type: number, record: RecordData): ZoneNode => ({ sets: new Map([[type, [record]]]), below: new Map() })

/** The node of `x--nmc`. */
export const ownHosts = ({ origin }: Apex): ZoneNode => {
  const target = `this.${OWN_LABEL}.${wireNameText(origin)}`
  return {
    sets: new Map(),
    below: new Map([
      ["this", leaf(TYPE_NUMBERS.A, { type: "A", address: OWN_ADDRESS })],
      ["aia", leaf(TYPE_NUMBERS.CNAME, { type: "CNAME", target })]
    ])
  }
}
