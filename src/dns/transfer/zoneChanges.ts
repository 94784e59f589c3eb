import type { ConsensusParams } from "../../consensus/params.ts"
import type { StateReads } from "../../names/NameDb.ts"
import type { Span } from "../../names/PastReads.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../../protocol/keys.ts"
import { LONGEST_IMPORT_CHAIN } from "../../values/zone.ts"
import type { DnsRecord, RecordSet } from "../records.ts"
import { canonicalData } from "../wire/recordData.ts"
import { LivingValues, setsOfDomain } from "./zoneState.ts"

/** What changed in the zone between two blocks of the best chain. */

interface Touched extends Span {
  readonly params: ConsensusParams
  /** Maximum names. */
  readonly most: number
}

/**
 * Names whose zone may differ between two blocks: with operations, expired, or importers of such names. Importers are
 * known by their current values: those whose value has changed are among the others. `undefined` if there are too many,
 * or if the index of importers is not complete.
 */
export const touchedNames = (
  { past, search }: StateReads,
  { most, params, ...span }: Touched
): ReadonlyArray<Bytes> | undefined => {
  const { all, done } = search.progress()
  if (done < all) return undefined
  const found = new Map<NameKey, Bytes>()
  const isMany = (): boolean => found.size > most
  let latest = [...past.changed(span, most + 1), ...past.expired(span, params, most + 1)]
  for (let chain = 0; chain <= LONGEST_IMPORT_CHAIN && latest.length > 0 && !isMany(); chain++) {
    const fresh = latest.filter((name) => !found.has(nameKey(name)))
    for (const name of fresh) found.set(nameKey(name), name)
    latest = isMany() ? [] : [...past.importersOf(fresh, most + 1)]
  }
  return isMany() ? undefined : [...found.values()]
}

const byData = (sets: ReadonlyArray<RecordSet>): Map<string, RecordSet> => {
  const found = new Map<string, RecordSet>()
  for (const set of sets) {
    const head = `${set.type} ${set.owner}`
    for (const record of set.records) {
      found.set(`${head} ${binaryString(canonicalData(record))}`, { ...set, records: [record satisfies DnsRecord] })
    }
  }
  return found
}

/** The records of sets that others have not. */
const without = (sets: ReadonlyMap<string, RecordSet>, others: ReadonlyMap<string, RecordSet>) =>
  [...sets].filter(([key]) => !others.has(key)).map(([, set]) => set)

export interface SetChanges {
  readonly removed: ReadonlyArray<RecordSet>
  readonly added: ReadonlyArray<RecordSet>
}

/** Compares record by record: sets of the result may be parts. */
export const differenceOf = (before: ReadonlyArray<RecordSet>, after: ReadonlyArray<RecordSet>): SetChanges => {
  const [old, now] = [byData(before), byData(after)]
  return { removed: without(old, now), added: without(now, old) }
}

/**
 * Compares the zones of names at two blocks, the second of which is the last one. `ttl` in seconds. Each call takes at
 * most `STATES` names.
 */
export const makeComparison = (
  { past, points }: StateReads,
  { from, params, to, ttl }: Span & { readonly params: ConsensusParams; readonly ttl: number }
): (names: ReadonlyArray<Bytes>) => ReadonlyArray<SetChanges> => {
  const recordAt = (height: Height) => (name: Bytes) => past.recordAt(name, height)
  const old = new LivingValues({ height: from, params, record: recordAt(from) })
  const now = new LivingValues({ height: to, params, record: (name) => points.record(name) })
  return (names) =>
    past.states(names, from).map((states) =>
      differenceOf(
        setsOfDomain(states.name, old.living(states.before), { values: old, ttl }),
        setsOfDomain(states.name, now.living(states.now), { values: now, ttl })
      )
    )
}
