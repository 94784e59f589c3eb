import { fromBinaryString } from "../protocol/bytes.ts"
import { type NameKey, nameKeyOfAscii } from "../protocol/keys.ts"
import { type RecordData, TYPE_NUMBERS } from "../values/records.ts"
import type { DomainZone, ZoneNode } from "../values/zone.ts"
import type { RecordSet, ServerRecord } from "./records.ts"
import { META_TYPES } from "./wire/codes.ts"
import {
  ancestorName,
  isAtOrBelow,
  labelCount,
  MAX_NAME_BYTES,
  wireLabels,
  type WireName,
  wireNameOfHost,
  wireNameText
} from "./wire/name.ts"
import { type Apex, apexSets, apexTypes, OWN_LABEL, ownHosts, SECONDS, soaSet } from "./zone/apex.ts"
import { denials } from "./zone/denial.ts"
import { type Absent, type Existing, findPlace, typesOf, type ZonePlace } from "./zone/place.ts"
import { inOrigin } from "./zone/suffix.ts"

export type { Apex }

/** What the zone `bit.` answers: RFC 1034 section 4.3.2 with DNAME (RFC 6672) and wildcards (RFC 4592). */

export interface Question {
  readonly name: WireName
  readonly type: number
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

export interface AnswerChoices {
  /** DO: whether the answer has NSEC records as proof, and DS in referrals. The zone must be signed. */
  readonly proof: boolean
  /** Whether ANY gives one HINFO instead of all sets (RFC 8482), as over UDP. */
  readonly minimalAny?: boolean
}

/** Yields the label below the origin whose zone is wanted, and takes it; `undefined` if the name does not exist. */
export type AnswerWork = Generator<string, DnsAnswer, DomainZone | undefined>

/** Aliases that are followed within the zone. */
const MOST_STEPS = 8

/** RFC 8482, section 4.2. */
const ANY_HINFO: ServerRecord = { type: "HINFO", cpu: "RFC8482", os: "" }

/** A label below the apex is too short for what `Existing` needs them for. */
const NOTHING_BELOW: ReadonlyMap<string, ZoneNode> = new Map()

/** What all answers at one serial have in common. */
interface ApexFacts {
  readonly existing: Existing
  readonly deny: ReturnType<typeof denials>
}

const factsByApex = new WeakMap<Apex, ApexFacts>()

const factsOf = (apex: Apex): ApexFacts => {
  const known = factsByApex.get(apex)
  if (known !== undefined) return known
  const { origin } = apex
  const facts = {
    existing: { name: origin, types: apexTypes(apex), below: NOTHING_BELOW },
    deny: denials(origin)
  }
  factsByApex.set(apex, facts)
  return facts
}

/** An answer in the making. */
interface Draft {
  rcode: Rcode
  authoritative: boolean
  readonly answer: Array<RecordSet>
  readonly authority: Array<RecordSet>
  readonly additional: Array<RecordSet>
  readonly sources: Set<NameKey>
  isCut: boolean
  outside: WireName | undefined
}

/** One name on the way, and all that the answer has so far. */
interface Lookup {
  readonly apex: Apex
  readonly question: Question
  readonly choices: AnswerChoices
  readonly draft: Draft
  readonly deny: ReturnType<typeof denials>
  /** Seconds of the records at this name. */
  readonly ttl: number
}

/** The sets of a name that exists. `standsIn`: the name that the wildcard answers for. */
interface Held {
  readonly existing: Existing
  readonly sets: ReadonlyArray<RecordSet>
  readonly standsIn: Absent | undefined
}

/** Adds NSEC records, each once. */
const prove = ({ choices, draft: { authority } }: Lookup, proof: () => ReadonlyArray<RecordSet>): void => {
  for (const set of choices.proof ? proof() : []) {
    if (!authority.some(({ owner, type }) => type === set.type && owner === set.owner)) authority.push(set)
  }
}

/** The SOA of a negative answer, with the seconds for which resolvers remember it (RFC 2308, section 3). */
const addSoa = ({ apex, draft }: Lookup): void => {
  draft.authority.push(soaSet(apex, SECONDS.negative))
}

const addMissing = (lookup: Lookup, absent: Absent): void => {
  lookup.draft.rcode = "NXDOMAIN"
  addSoa(lookup)
  prove(lookup, () => lookup.deny.without(absent))
}

/** Adds what a name has. Returns where an alias leads. */
const addHeld = (lookup: Lookup, { existing, sets, standsIn }: Held): WireName | undefined => {
  const { apex, choices, deny, draft, question: { name, type }, ttl } = lookup
  const wildcard = standsIn === undefined ? {} : { wildcard: existing.name }
  const put = (...found: ReadonlyArray<RecordSet>): void => {
    for (const set of found) draft.answer.push({ ...set, owner: name, ...wildcard })
  }
  if (standsIn !== undefined) prove(lookup, () => [deny.over(standsIn)])
  if ((type === META_TYPES.ANY || type === TYPE_NUMBERS.RRSIG) && sets.length > 0) {
    put(
      ...choices.minimalAny === true
        ? [{ owner: name, type: TYPE_NUMBERS.HINFO, ttl, records: [ANY_HINFO], signs: true }]
        : sets
    )
    return undefined
  }
  if (type === TYPE_NUMBERS.NSEC && apex.keys.length > 0) {
    put(deny.at(existing))
    return undefined
  }
  const alias = type === TYPE_NUMBERS.CNAME ? undefined : sets.find((set) => set.type === TYPE_NUMBERS.CNAME)
  const wanted = alias ?? sets.find((set) => set.type === type)
  if (wanted === undefined) {
    addSoa(lookup)
    prove(lookup, () => [deny.at(existing)])
    return undefined
  }
  put(wanted)
  const [record] = wanted.records
  return alias !== undefined && record?.type === "CNAME" ? wireNameOfHost(record.target) : undefined
}

/** Adds what a DNAME above the name says. Returns where the name leads. */
const addMoved = (
  { apex: { origin }, draft, question: { name, type }, ttl }: Lookup,
  { owner, records }: Extract<ZonePlace, { readonly _tag: "Moved" }>
): WireName | undefined => {
  const moved = inOrigin(records, origin)
  const [first] = moved
  if (first?.type !== "DNAME") return undefined
  draft.answer.push({ owner, type: TYPE_NUMBERS.DNAME, ttl, records: moved, signs: true })
  const target = `${name.slice(0, name.length - owner.length)}${wireNameOfHost(first.target)}` as WireName
  if (target.length > MAX_NAME_BYTES) {
    draft.rcode = "YXDOMAIN"
    return undefined
  }
  draft.answer.push({ owner: name, type: TYPE_NUMBERS.CNAME, ttl, records: [aliasRecord(target)], signs: false })
  // The alias itself was asked for (RFC 1034, section 4.3.2, step 3a).
  return type === TYPE_NUMBERS.CNAME || type === META_TYPES.ANY ? undefined : target
}

/** A question may have any bytes, even those that the text of a host cannot have. */
const aliasRecord = (target: WireName): RecordData => {
  const text = wireNameText(target)
  return wireNameOfHost(text) === target
    ? { type: "CNAME", target: text }
    : { type: "opaque", number: TYPE_NUMBERS.CNAME, data: fromBinaryString(target) }
}

/** Addresses of the servers at and below a cut (RFC 9471). */
const glueOf = (
  { apex: { origin }, ttl }: Lookup,
  { node, owner }: { readonly node: ZoneNode; readonly owner: WireName }
): ReadonlyArray<RecordSet> =>
  inOrigin(node.sets.get(TYPE_NUMBERS.NS) ?? [], origin).flatMap((server) => {
    const host = server.type === "NS" ? wireNameOfHost(server.target) : undefined
    if (host === undefined || !isAtOrBelow(host, owner)) return []
    const labels = wireLabels(host).slice(0, labelCount(host) - labelCount(owner))
    const found = labels.reduceRight<ZoneNode | undefined>((at, label) => at?.below.get(label), node)
    return [TYPE_NUMBERS.A, TYPE_NUMBERS.AAAA].flatMap((type) => {
      const records = found?.sets.get(type)
      return records === undefined ? [] : [{ owner: host, type, ttl, records, signs: false }]
    })
  })

const addReferral = (lookup: Lookup, cut: Extract<ZonePlace, { readonly _tag: "Cut" }>): void => {
  const { apex: { origin }, choices, deny, draft, ttl } = lookup
  const { node, owner } = cut
  // AA is about the first name of the answer, which an alias makes this zone's.
  if (draft.answer.length === 0) draft.authoritative = false
  const servers = inOrigin(node.sets.get(TYPE_NUMBERS.NS) ?? [], origin)
  draft.authority.push({ owner, type: TYPE_NUMBERS.NS, ttl, records: servers, signs: false })
  const keys = node.sets.get(TYPE_NUMBERS.DS)
  if (keys === undefined) prove(lookup, () => [deny.at({ name: owner, types: typesOf(node), below: node.below })])
  else if (choices.proof) draft.authority.push({ owner, type: TYPE_NUMBERS.DS, ttl, records: keys, signs: true })
  draft.additional.push(...glueOf(lookup, cut))
}

const heldBy = (
  { apex: { origin }, question: { name }, ttl }: Lookup,
  { node, wildcard }: Extract<ZonePlace, { readonly _tag: "Found" }>
): Held => ({
  existing: { name: wildcard?.name ?? name, types: typesOf(node), below: node.below },
  sets: [...node.sets].map(([type, records]) => ({
    owner: name,
    type,
    ttl,
    records: inOrigin(records, origin),
    signs: true
  })),
  standsIn: wildcard?.absent
})

/** Adds what is at the name. Returns where an alias leads. */
const addPlace = (lookup: Lookup, place: ZonePlace): WireName | undefined => {
  switch (place._tag) {
    case "Found":
      return addHeld(lookup, heldBy(lookup, place))
    case "Moved":
      return addMoved(lookup, place)
    case "Cut":
      return void addReferral(lookup, place)
    case "Missing":
      return void addMissing(lookup, place.absent)
  }
}

/** Adds one name on the way. Returns where an alias leads. */
function* addName(lookup: Lookup): Generator<string, WireName | undefined, DomainZone | undefined> {
  const { apex, draft, question: { name } } = lookup
  const depth = labelCount(apex.origin) + 1
  const labels = wireLabels(name)
  const label = labels[labels.length - depth]
  const { existing } = factsOf(apex)
  if (label === undefined) return addHeld(lookup, { existing, sets: apexSets(apex), standsIn: undefined })
  if (apex.ownHosts && label === OWN_LABEL) {
    const own = { ...lookup, ttl: SECONDS.ownHosts }
    return addPlace(own, findPlace({ top: ownHosts(apex), depth }, lookup.question))
  }
  const zone = yield label
  if (zone === undefined) {
    const key = nameKeyOfAscii(`d/${label}`)
    if (key !== undefined) draft.sources.add(key)
    addMissing(lookup, { name: ancestorName(name, labels.length - depth), encloser: existing })
    return undefined
  }
  for (const source of zone.sources) draft.sources.add(source)
  draft.isCut ||= zone.isCut
  return addPlace(lookup, findPlace({ top: zone.top, depth }, lookup.question))
}

/** Answers a question about a name in lower case. A name outside the zone is refused. */
export function* answerOf(apex: Apex, question: Question, choices: AnswerChoices): AnswerWork {
  const draft: Draft = {
    rcode: "NOERROR",
    authoritative: true,
    answer: [],
    authority: [],
    additional: [],
    sources: new Set(),
    isCut: false,
    outside: undefined
  }
  if (!isAtOrBelow(question.name, apex.origin)) {
    return { ...draft, rcode: "REFUSED", authoritative: false, sources: [] }
  }
  const { deny } = factsOf(apex)
  const seen = new Set<WireName>()
  for (let name: WireName | undefined = question.name; name !== undefined && seen.size <= MOST_STEPS;) {
    seen.add(name)
    const next: WireName | undefined = yield* addName({
      apex,
      question: { name, type: question.type },
      choices,
      draft,
      deny,
      ttl: apex.ttl
    })
    if (next === undefined || seen.has(next)) break
    if (!isAtOrBelow(next, apex.origin)) {
      draft.outside = next
      break
    }
    name = next
  }
  return { ...draft, sources: [...draft.sources] }
}
