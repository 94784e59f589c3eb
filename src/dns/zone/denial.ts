import { TYPE_NUMBERS } from "../../values/records.ts"
import type { RecordSet } from "../records.ts"
import { childName, compareWireNames, firstLabel, parentName, type WireName } from "../wire/name.ts"
import { SECONDS } from "./apex.ts"
import { nsecAround, nsecNext, type NsecSpan } from "./neighbours.ts"
import { type Absent, type Existing, typesOf } from "./place.ts"

/**
 * Proofs that something is not there: NSEC records made for the question, each around one name only (RFC 4470), so that
 * nobody can list the zone with them.
 */

const OWN_TYPES = [TYPE_NUMBERS.RRSIG, TYPE_NUMBERS.NSEC]

interface Link extends NsecSpan {
  readonly types: ReadonlyArray<number>
}

const withOwn = (types: ReadonlyArray<number>): ReadonlyArray<number> =>
  types.length === 0 ? OWN_TYPES : [...types, ...OWN_TYPES].toSorted((a, b) => a - b)

const nsec = ({ next, owner, types }: Link): RecordSet => ({
  owner,
  type: TYPE_NUMBERS.NSEC,
  ttl: SECONDS.negative,
  records: [{ type: "NSEC", next, types: withOwn(types) }],
  signs: true
})

/** The types of a name that is the encloser or beside the absent name: hardly ever one that exists. */
const typesBeside = (name: WireName, { below, name: encloser, types }: Existing): ReadonlyArray<number> => {
  if (name === encloser) return types
  const node = parentName(name) === encloser ? below.get(firstLabel(name) ?? "") : undefined
  return node === undefined ? [] : typesOf(node)
}

/** Whether a name is before the end of a record; the origin is the end of the zone. */
const isBefore = (name: WireName, next: WireName, origin: WireName): boolean =>
  next === origin || compareWireNames(name, next) < 0

/** One over all that both cover; `undefined` if they do not overlap. */
const joined = ([a, b]: readonly [NsecSpan, NsecSpan], origin: WireName): NsecSpan | undefined => {
  if (!isBefore(a.owner, b.next, origin) || !isBefore(b.owner, a.next, origin)) return undefined
  const { owner } = compareWireNames(a.owner, b.owner) <= 0 ? a : b
  const { next } = a.next === origin || !isBefore(a.next, b.next, origin) ? a : b
  return { owner, next }
}

/** The NSEC around the wildcard of an encloser. */
interface WildcardDenial {
  readonly encloser: Existing
  readonly span: NsecSpan
  readonly set: RecordSet
}

/** Proofs for a zone with this origin. */
export const denials = (origin: WireName) => {
  const at = ({ name, types }: Existing): RecordSet => nsec({ owner: name, next: nsecNext(name, origin), types })

  const between = ({ next, owner }: NsecSpan, encloser: Existing): RecordSet =>
    nsec({ owner, next, types: typesBeside(owner, encloser) })

  const over = ({ encloser, name }: Absent): RecordSet => between(nsecAround(name, origin), encloser)

  /** That of the apex is in the answer for each name that does not exist. */
  let ofApex: WildcardDenial | undefined
  const besides = (wildcard: WireName, encloser: Existing): WildcardDenial => {
    if (ofApex?.encloser === encloser) return ofApex
    const span = nsecAround(wildcard, origin)
    const isShared = encloser.name === origin
    const made = { encloser, span, set: { ...between(span, encloser), isShared } }
    if (isShared) ofApex = made
    return made
  }

  return {
    /** At a name: it has no other types. */
    at,
    /** Around a name: it does not exist, and nothing is below it. */
    over,
    /**
     * RFC 4035, section 3.1.3.2: neither the name nor the wildcard beside it exists. One record where those of both would
     * overlap: validators take the ends of a record for names that exist, and an end of the one might be at or below the
     * name that the other denies. The NSEC around `*.bit`, for one, ends at `*\000.bit`.
     */
    without: ({ encloser, name }: Absent): ReadonlyArray<RecordSet> => {
      const wildcard = childName("*", encloser.name)
      const first = nsecAround(name, origin)
      if (wildcard === undefined || wildcard === name) return [between(first, encloser)]
      const second = besides(wildcard, encloser)
      const both = joined([first, second.span], origin)
      return both === undefined ? [between(first, encloser), second.set] : [between(both, encloser)]
    }
  }
}
