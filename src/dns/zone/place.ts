import { type RecordData, TYPE_NUMBERS } from "../../values/records.ts"
import type { ZoneNode } from "../../values/zone.ts"
import { ancestorName, childName, wireLabels, type WireName } from "../wire/name.ts"

/** A name that exists, with its types without those of DNSSEC. */
export interface Existing {
  readonly name: WireName
  readonly types: ReadonlyArray<number>
  /** The nodes below, by label. */
  readonly below: ReadonlyMap<string, ZoneNode>
}

/** A name that does not exist, and the longest ancestor that does. */
export interface Absent {
  readonly name: WireName
  readonly encloser: Existing
}

/** What a question finds in the tree of a name (RFC 1034, section 4.3.2, step 3; RFC 4592, section 3.3.1). */
export type ZonePlace =
  /** `wildcard` with the name that the wildcard answers for, if the node is one. */
  | {
    readonly _tag: "Found"
    readonly node: ZoneNode
    readonly wildcard: { readonly name: WireName; readonly absent: Absent } | undefined
  }
  | { readonly _tag: "Cut"; readonly node: ZoneNode; readonly owner: WireName }
  /** A DNAME above the name. */
  | { readonly _tag: "Moved"; readonly records: ReadonlyArray<RecordData>; readonly owner: WireName }
  | { readonly _tag: "Missing"; readonly absent: Absent }

/** The types that belong to the zone: at a cut, addresses are glue. */
export const typesOf = ({ sets }: ZoneNode): ReadonlyArray<number> => {
  const types = [...sets.keys()]
  return sets.has(TYPE_NUMBERS.NS)
    ? types.filter((type) => type === TYPE_NUMBERS.NS || type === TYPE_NUMBERS.DS)
    : types
}

const besides = (
  node: ZoneNode,
  { absent, owner }: { readonly absent: Absent; readonly owner: WireName }
): ZonePlace => {
  const wild = node.below.get("*")
  const name = childName("*", owner)
  return wild === undefined || name === undefined
    ? { _tag: "Missing", absent }
    : { _tag: "Found", node: wild, wildcard: { name, absent } }
}

/** Walks from the node of the ancestor with so many labels down to the name of the question. */
export const findPlace = (
  { depth, top }: { readonly top: ZoneNode; readonly depth: number },
  { name, type }: { readonly name: WireName; readonly type: number }
): ZonePlace => {
  const labels = wireLabels(name)
  let node = top
  for (let left = labels.length - depth;; left--) {
    const owner = ancestorName(name, left)
    // DS belongs to the zone above the cut, which is this one.
    if (node.sets.has(TYPE_NUMBERS.NS) && (left > 0 || type !== TYPE_NUMBERS.DS)) return { _tag: "Cut", node, owner }
    if (left === 0) return { _tag: "Found", node, wildcard: undefined }
    const moved = node.sets.get(TYPE_NUMBERS.DNAME)
    if (moved !== undefined) return { _tag: "Moved", records: moved, owner }
    const next = node.below.get(labels[left - 1] ?? "")
    if (next === undefined) {
      const encloser = { name: owner, types: typesOf(node), below: node.below }
      return besides(node, { owner, absent: { name: ancestorName(name, left - 1), encloser } })
    }
    node = next
  }
}
