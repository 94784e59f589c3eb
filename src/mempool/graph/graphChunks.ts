import { compareRates, type FeeRate } from "../policy/feeRate.ts"
import type { ClusterNode } from "./bestClosure.ts"
import { chunked, components, linearize } from "./linearize.ts"

/** A transaction and its parents by key. Parents may be outside of the given set. */
export interface GraphNode<Key extends string = string> extends FeeRate {
  readonly key: Key
  readonly parents: Iterable<Key>
}

/** Transactions that are best mined together. */
export interface GraphChunk<Key extends string = string> extends FeeRate {
  /** Parents before children. */
  readonly keys: ReadonlyArray<Key>
}

const indexed = <Key extends string>(entries: ReadonlyArray<GraphNode<Key>>): ReadonlyArray<ClusterNode> => {
  const indices = new Map(entries.map(({ key }, i) => [key, i]))
  return entries.map(({ fee, parents, weight }) => {
    const known: Array<number> = []
    for (const parent of parents) {
      const index = indices.get(parent)
      if (index !== undefined) known.push(index)
    }
    return { fee, weight, parents: known }
  })
}

/** The chunks of transactions of one or more clusters, best first and parents before children. */
export const graphChunks = <Key extends string>(
  entries: ReadonlyArray<GraphNode<Key>>
): ReadonlyArray<GraphChunk<Key>> => {
  const [first] = entries
  // Most clusters are one transaction.
  if (first !== undefined && entries.length === 1) return [{ keys: [first.key], fee: first.fee, weight: first.weight }]
  const nodes = indexed(entries)
  const clusters = components(nodes, [...nodes.keys()])
  const chunks = clusters.flatMap((members) => chunked(nodes, linearize(nodes, members)))
  if (clusters.length > 1) chunks.sort((a, b) => compareRates(b, a))
  return chunks.map(({ fee, members, weight }) => ({
    keys: members.flatMap((member) => entries[member]?.key ?? []),
    fee,
    weight
  }))
}
