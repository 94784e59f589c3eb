import { binaryString } from "../../protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../values/records.ts"
import type { Question } from "../answer.ts"
import type { DnsRecord, RecordSet } from "../records.ts"
import { CLASSES, META_TYPES } from "../wire/codes.ts"
import type { MessageRecord } from "../wire/message.ts"
import { isAtOrBelow, lowerCaseName, type WireName, wireNameOfHost } from "../wire/name.ts"

// What of another server's records belongs to an answer. Pure.

/** Aliases followed within one message. */
const MAX_ALIASES = 16

/** Consecutive records of one owner and type are a set, with the lowest of their TTLs (RFC 2181, section 5.2). */
export const foreignSets = (records: ReadonlyArray<MessageRecord>): Array<RecordSet> => {
  const groups: Array<[MessageRecord, ...Array<MessageRecord>]> = []
  for (const record of records) {
    if (record.class !== CLASSES.IN || record.type === META_TYPES.OPT || record.type === META_TYPES.TSIG) continue
    const last = groups.at(-1)
    if (last !== undefined && last[0].owner === record.owner && last[0].type === record.type) last.push(record)
    else groups.push([record])
  }
  return groups.map((group) => ({
    owner: group[0].owner,
    type: group[0].type,
    ttl: group.reduce((least, { ttl }) => Math.min(least, ttl), group[0].ttl),
    records: group.map(({ data, type }) => ({ type: "opaque", number: type, data })),
    signs: false
  }))
}

/** The name that a record of NS, CNAME or DNAME holds, in lower case. */
export const hostTarget = (record: DnsRecord): WireName | undefined => {
  switch (record.type) {
    case "CNAME":
    case "DNAME":
    case "NS":
      return wireNameOfHost(record.target)
    case "opaque":
      return lowerCaseName(binaryString(record.data) as WireName)
    default:
      return undefined
  }
}

/** The type that the signatures of a set cover. */
const coveredBy = ({ records: [record], type }: RecordSet): number | undefined => {
  if (type !== TYPE_NUMBERS.RRSIG) return undefined
  if (record?.type === "RRSIG") return record.covered
  return record?.type === "opaque" ? (record.data[0] ?? 0) << 8 | (record.data[1] ?? 0) : undefined
}

export interface AliasChain {
  /** The sets that lead from the question to its end, and those at the end. Other sets have no place in the answer. */
  readonly sets: ReadonlyArray<RecordSet>
  /** The name at which no further alias is known. */
  readonly end: WireName
  /** Whether the end has records of the wanted type. */
  readonly isFound: boolean
}

/** `isTold` decides for which names the records of this server count. */
export const followAliases = (
  { name, type }: Question,
  sets: ReadonlyArray<RecordSet>,
  isTold: (name: WireName) => boolean
): AliasChain => {
  const kept = new Set<RecordSet>()
  let end = name
  const keep = (owner: WireName, wanted: number): boolean => {
    const found = sets.filter((set) => set.owner === owner && (set.type === wanted || coveredBy(set) === wanted))
    for (const set of found) kept.add(set)
    return found.some((set) => set.type === wanted)
  }
  for (let i = 0; i <= MAX_ALIASES && isTold(end); i++) {
    if (type === META_TYPES.ANY) {
      const all = sets.filter(({ owner }) => owner === end)
      return { sets: [...kept, ...all], end, isFound: all.length > 0 }
    }
    if (keep(end, type)) return { sets: [...kept], end, isFound: true }
    const alias = sets.find((set) => set.owner === end && set.type === TYPE_NUMBERS.CNAME)
    const target = alias?.records[0] && hostTarget(alias.records[0])
    if (target === undefined) break
    for (const { owner, type: set } of sets) {
      if (set === TYPE_NUMBERS.DNAME && owner !== end && isAtOrBelow(end, owner) && isTold(owner)) keep(owner, set)
    }
    keep(end, TYPE_NUMBERS.CNAME)
    end = target
  }
  return { sets: [...kept], end, isFound: false }
}
