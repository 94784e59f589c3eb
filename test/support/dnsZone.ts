import { type AnswerChoices, answerOf, type Apex, type DnsAnswer } from "../../src/dns/answer.ts"
import type { RecordSet } from "../../src/dns/records.ts"
import { RCODES } from "../../src/dns/wire/codes.ts"
import { readNameText, type WireName, wireNameText } from "../../src/dns/wire/name.ts"
import { nameKeyOfAscii } from "../../src/protocol/keys.ts"
import { type RecordData, TYPE_NUMBERS, typeNumberOf } from "../../src/values/records.ts"
import type { DomainZone, ZoneNode } from "../../src/values/zone.ts"

/** Zones and answers as texts, for tests. */

export const wire = (text: string): WireName => {
  const name = readNameText(text)
  if (name === undefined) throw new Error(`${text} is not a name`)
  return name
}

const origin = wire("bit.")

export const testApex: Apex = {
  origin,
  soa: {
    type: "SOA",
    mname: wire("ns.example.net."),
    rname: wire("hostmaster.ns.example.net."),
    serial: 1,
    refresh: 600,
    retry: 600,
    expire: 7_200,
    minimum: 60
  },
  servers: [wire("ns.example.net.")],
  keys: [],
  ownHosts: true,
  ttl: 600
}

export const signedApex: Apex = {
  ...testApex,
  keys: [{ type: "DNSKEY", flags: 257, algorithm: 13, key: new Uint8Array(64) }]
}

/** A record as `A 192.0.2.1`, `CNAME b.bit.`, `TXT x`, `NS ns.b.bit.`, `DNAME b.bit.`, `DS`. */
const recordOf = (text: string): RecordData => {
  const [type, data = ""] = text.split(" ")
  switch (type) {
    case "A":
      return { type, address: Uint8Array.from(data.split("."), Number) }
    case "CNAME":
    case "DNAME":
    case "NS":
      return { type, target: data }
    case "TXT":
      return { type, strings: [Buffer.from(data)] }
    case "DS":
      return { type, keyTag: 1, algorithm: 13, digestType: 2, digest: new Uint8Array(32) }
    default:
      throw new Error(`no such type here: ${text}`)
  }
}

interface Growing {
  readonly sets: Map<number, Array<RecordData>>
  readonly below: Map<string, Growing>
}

/** Records by the labels below the domain, such as `www` or `*.deep`; the empty text is the domain itself. */
export type ZoneSpec = Readonly<Record<string, ReadonlyArray<string>>>

export const treeOf = (spec: ZoneSpec): ZoneNode => {
  const top: Growing = { sets: new Map(), below: new Map() }
  for (const [place, records] of Object.entries(spec)) {
    let node = top
    for (const label of place === "" ? [] : place.split(".").reverse()) {
      const next = node.below.get(label) ?? { sets: new Map(), below: new Map() }
      node.below.set(label, next)
      node = next
    }
    for (const record of records.map(recordOf)) {
      const type = typeNumberOf(record)
      node.sets.set(type, [...node.sets.get(type) ?? [], record])
    }
  }
  return top
}

export type ZonesSpec = Readonly<Record<string, ZoneSpec>>

export const zonesOf = (spec: ZonesSpec): ReadonlyMap<string, DomainZone> =>
  new Map(
    Object.entries(spec).map(([label, records]) => {
      const key = nameKeyOfAscii(`d/${label}`)
      return [label, {
        host: `${label}.bit.`,
        top: treeOf(records),
        sources: key === undefined ? [] : [key],
        isCut: false
      }]
    })
  )

export interface Asked extends Partial<AnswerChoices> {
  readonly name: WireName
  readonly type: number
  readonly apex?: Apex
}

export const answerFrom = (zones: ReadonlyMap<string, DomainZone>, asked: Asked): DnsAnswer => {
  const { apex = testApex, minimalAny = false, name, proof = false, type } = asked
  const work = answerOf(apex, { name, type }, { proof, minimalAny })
  let step = work.next()
  while (step.done !== true) step = work.next(zones.get(step.value))
  return step.value
}

const TYPE_TEXTS = new Map<number, string>(Object.entries(TYPE_NUMBERS).map(([text, number]) => [number, text]))

export const typeText = (type: number): string => TYPE_TEXTS.get(type) ?? `TYPE${type}`

export const rcodeText = (rcode: number): string =>
  Object.entries(RCODES).find(([, number]) => number === rcode)?.[0] ?? String(rcode)

const dataText = (record: RecordSet["records"][number]): string => {
  if (record.type === "A") return record.address.join(".")
  if (record.type === "NSEC") return [wireNameText(record.next), ...record.types.map(typeText)].join(" ")
  if (record.type === "TXT") return record.strings.map((each) => Buffer.from(each).toString("latin1")).join(" ")
  if (record.type === "opaque") return Buffer.from(record.data).toString("hex")
  if ("target" in record) return record.target
  return "…"
}

/** The records of a section: `www.a.bit. A 192.0.2.1`, with `unsigned` behind what the zone does not sign. */
export const linesOf = (sets: ReadonlyArray<RecordSet>): ReadonlyArray<string> =>
  sets.flatMap(({ owner, records, signs, type }) =>
    records.map((record) => `${wireNameText(owner)} ${typeText(type)} ${dataText(record)}${signs ? "" : " unsigned"}`)
  )
