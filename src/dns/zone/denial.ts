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

const nsec = ({ next, owner, types }: Link): RecordSet => ({
  owner,
  type: TYPE_NUMBERS.NSEC,
  ttl: SECONDS.negative,
  records: [{ type: "NSEC", next, types: [...types, ...OWN_TYPES].toSorted((a, b) => a - b) }],
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

/** Both, or one over all that they cover if they overlap. */
const joined = ([a, b]: readonly [NsecSpan, NsecSpan], origin: WireName): ReadonlyArray<NsecSpan> => {
  if (!isBefore(a.owner, b.next, origin) || !isBefore(b.owner, a.next, origin)) return [a, b]
  const { owner } = compareWireNames(a.owner, b.owner) <= 0 ? a : b
  const { next } = a.next === origin || !isBefore(a.next, b.next, origin) ? a : b
  return [{ owner, next }]
}

/** Proofs for a zone with this origin. */
export const denials = (origin: WireName) => {
  const at = ({ name, types }: Existing): RecordSet => nsec({ owner: name, next: nsecNext(name, origin), types })

  const between = ({ next, owner }: NsecSpan, encloser: Existing): RecordSet =>
    nsec({ owner, next, types: typesBeside(owner, encloser) })

  const over = ({ encloser, name }: Absent): RecordSet => between(nsecAround(name, origin), encloser)

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
      const second = wildcard === undefined || wildcard === name ? first : nsecAround(wildcard, origin)
      return joined([first, second], origin).map((span) => between(span, encloser))
    }
  }
}
