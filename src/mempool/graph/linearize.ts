import { compareRates, type FeeRate } from "../policy/feeRate.ts"
import { bestClosure, type ClusterNode, totalOf } from "./bestClosure.ts"
import { Heap } from "./Heap.ts"

/** Larger clusters, which only arise from reorgs, are ordered greedily. */
const MAX_OPTIMAL = 200

/** A chunk of a cluster: adjacent transactions that together pay a better rate than what follows. */
export interface NodeChunk extends FeeRate {
  /** Parents before children. */
  readonly members: ReadonlyArray<number>
}

const childrenOf = (nodes: ReadonlyArray<ClusterNode>, members: ReadonlyArray<number>): Map<number, Array<number>> => {
  const children = new Map<number, Array<number>>(members.map((member) => [member, []]))
  for (const member of members) {
    for (const parent of nodes[member]?.parents ?? []) children.get(parent)?.push(member)
  }
  return children
}

/** Parents before children; among members whose parents are all included, the best rate first. */
const orderGreedily = (nodes: ReadonlyArray<ClusterNode>, members: ReadonlyArray<number>): Array<number> => {
  const children = childrenOf(nodes, members)
  const missing = new Map(members.map((member) => [
    member,
    nodes[member]?.parents.filter((parent) => children.has(parent)).length ?? 0
  ]))
  const ready = new Heap<number>((a, b) => {
    const [left, right] = [nodes[a], nodes[b]]
    return (left === undefined || right === undefined ? 0 : compareRates(right, left)) || a - b
  })
  for (const [member, count] of missing) if (count === 0) ready.push(member)
  const order: Array<number> = []
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    order.push(next)
    for (const child of children.get(next) ?? []) {
      const left = (missing.get(child) ?? 0) - 1
      missing.set(child, left)
      if (left === 0) ready.push(child)
    }
  }
  return order
}

export const components = (
  nodes: ReadonlyArray<ClusterNode>,
  members: ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<number>> => {
  const children = childrenOf(nodes, members)
  const seen = new Set<number>()
  const parts: Array<Array<number>> = []
  for (const start of members) {
    if (seen.has(start)) continue
    const part = [start]
    seen.add(start)
    for (const member of part) {
      for (const relative of [...nodes[member]?.parents ?? [], ...children.get(member) ?? []]) {
        if (seen.has(relative) || !children.has(relative)) continue
        seen.add(relative)
        part.push(relative)
      }
    }
    parts.push(part)
  }
  return parts
}

/**
 * Orders members by splitting off the best closure, recursively on either side. A piece that cannot be split is a chunk
 * of the optimal diagram; its unconnected components pay the same rate and stay contiguous, so that each becomes a
 * chunk.
 */
const orderByRate = (nodes: ReadonlyArray<ClusterNode>, members: ReadonlyArray<number>): Array<number> => {
  if (members.length === 1) return [...members]
  const part = bestClosure(nodes, members)
  if (part === undefined) return components(nodes, members).flatMap((piece) => orderGreedily(nodes, piece))
  const rest = members.filter((member) => !part.has(member))
  return [...orderByRate(nodes, [...part]), ...orderByRate(nodes, rest)]
}

/** The order with the most fees for every prefix by weight, parents before children. Optimal up to 200 transactions. */
export const linearize = (
  nodes: ReadonlyArray<ClusterNode>,
  members: ReadonlyArray<number> = [...nodes.keys()]
): ReadonlyArray<number> => members.length > MAX_OPTIMAL ? orderGreedily(nodes, members) : orderByRate(nodes, members)

/**
 * Divides an order into chunks of never rising rates: a transaction with a better rate than the chunk before joins that
 * chunk. Source: upstream `cluster_linearize.h`, `ChunkLinearization`.
 */
export const chunked = (
  nodes: ReadonlyArray<ClusterNode>,
  order: ReadonlyArray<number>
): ReadonlyArray<NodeChunk> => {
  const chunks: Array<NodeChunk> = []
  for (const member of order) {
    let chunk: NodeChunk = { ...totalOf(nodes, [member]), members: [member] }
    for (let last = chunks.at(-1); last !== undefined && compareRates(chunk, last) > 0; last = chunks.at(-1)) {
      chunks.pop()
      chunk = {
        fee: last.fee + chunk.fee,
        weight: last.weight + chunk.weight,
        members: [...last.members, ...chunk.members]
      }
    }
    chunks.push(chunk)
  }
  return chunks
}
