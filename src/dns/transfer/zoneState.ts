import { isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { DatedValue } from "../../names/PastReads.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { type Height, type NameKey, nameKey } from "../../protocol/keys.ts"
import { bitDomainOf } from "../../protocol/nameText.ts"
import { type DomainValue, domainZone, zoneFrom, type ZoneNode } from "../../values/zone.ts"
import type { RecordSet } from "../records.ts"
import { childName, type WireName, wireNameOfHost } from "../wire/name.ts"

/** The sets that a name gives to the zone at one block. */

/** The names at one block. */
export interface NamesAt {
  readonly height: Height
  readonly params: ConsensusParams
  /** The record of a name at that block, expired or not. */
  readonly record: (name: Bytes) => DatedValue | undefined
}

/** Values that several domains import are read once. */
const REMEMBERED = 1_000

/** Values of living names; the last ones read are in memory. */
export class LivingValues {
  readonly #at: NamesAt
  readonly #known = new Map<NameKey, Bytes | undefined>()

  constructor(at: NamesAt) {
    this.#at = at
  }

  /** `undefined` for a missing or expired name. */
  readonly of = (name: Bytes): Bytes | undefined => {
    const key = nameKey(name)
    const known = this.#known.get(key)
    if (known !== undefined || this.#known.has(key)) return known
    const value = this.living(this.#at.record(name))
    if (this.#known.size === REMEMBERED) this.#known.clear()
    this.#known.set(key, value)
    return value
  }

  living(record: DatedValue | undefined): Bytes | undefined {
    const { height, params } = this.#at
    return record === undefined || isExpired(record, height, params) ? undefined : record.value
  }
}

/** Sets at a node and below it. Names beyond the limits of DNS are not there (`zoneTree`). */
function* setsBelow(owner: WireName, { below, sets }: ZoneNode, ttl: number): Iterable<RecordSet> {
  for (const [type, records] of sets) yield { owner, type, ttl, records, signs: true }
  for (const [label, node] of below) {
    const name = childName(label, owner)
    if (name !== undefined) yield* setsBelow(name, node, ttl)
  }
}

/** All sets of a tree of labels. `ttl` in seconds. */
export const setsOfTree = (owner: WireName, top: ZoneNode, ttl: number): ReadonlyArray<RecordSet> => [
  ...setsBelow(owner, top, ttl)
]

/** The domain of a name with a value; `undefined` if the name is not a domain. */
export const domainOf = (name: Bytes, value: Bytes): DomainValue | undefined => {
  const domain = bitDomainOf(name)
  return domain === undefined ? undefined : { name, value, host: `${domain}.` }
}

/** The sets of a domain: none for a name that is missing, expired or not a domain. `ttl` in seconds. */
export const setsOfDomain = (
  name: Bytes,
  value: Bytes | undefined,
  { ttl, values }: { readonly values: LivingValues; readonly ttl: number }
): ReadonlyArray<RecordSet> => {
  const domain = value === undefined ? undefined : domainOf(name, value)
  if (domain === undefined) return []
  const { host, top } = zoneFrom(domainZone(domain), values.of)
  return setsOfTree(wireNameOfHost(host), top, ttl)
}
