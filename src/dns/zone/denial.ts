import { TYPE_NUMBERS } from "../../values/records.ts"
import type { RecordSet } from "../records.ts"
import { childName, firstLabel, parentName, type WireName } from "../wire/name.ts"
import { SECONDS } from "./apex.ts"
import { nsecAround, nsecNext } from "./neighbours.ts"
import { type Absent, type Existing, typesOf } from "./place.ts"

/**
 * Proofs that something is not there: NSEC records made for the question, each around one name only (RFC 4470), so that
 * nobody can list the zone with them.
 */

const OWN_TYPES = [TYPE_NUMBERS.RRSIG, TYPE_NUMBERS.NSEC]

interface Link {
  readonly owner: WireName
  readonly next: WireName
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

/** Proofs for a zone with this origin. */
export const denials = (origin: WireName) => {
  const at = ({ name, types }: Existing): RecordSet => nsec({ owner: name, next: nsecNext(name, origin), types })

  const over = ({ encloser, name }: Absent): RecordSet => {
    const { next, owner } = nsecAround(name, origin)
    return nsec({ owner, next, types: typesBeside(owner, encloser) })
  }

  return {
    /** At a name: it has no other types. */
    at,
    /** Around a name: it does not exist, and nothing is below it. */
    over,
    /** RFC 4035, section 3.1.3.2: neither the name nor the wildcard beside it exists. */
    without: (absent: Absent): ReadonlyArray<RecordSet> => {
      const wildcard = childName("*", absent.encloser.name)
      return wildcard === undefined || wildcard === absent.name
        ? [over(absent)]
        : [over(absent), over({ ...absent, name: wildcard })]
    }
  }
}
