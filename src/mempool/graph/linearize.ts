import { compareRates, type FeeRate } from "../policy/feeRate.ts"
import { bestClosure, type ClusterNode, totalOf } from "./bestClosure.ts"
import { Heap } from "./Heap.ts"

/** Orders the transactions of a cluster as they are best mined. */

/** Larger clusters are only ordered greedily: they arise from reorganizations alone. */
const MAX_OPTIMAL = 200

/** A chunk of a cluster: adjacent transactions of its order that together pay a better rate than what follows. */
export interface NodeChunk extends FeeRate {
  /** Parents before children. */
  readonly members: ReadonlyArray<number>
}

/** The children of each member that are members too. */
const childrenOf = (nodes: ReadonlyArray<ClusterNode>, members: ReadonlyArray<number>): Map<number, Array<number>> => {
  const children = new Map<number, Array<number>>(members.map((member) => [member, []]))
  for (const member of members) {
    for (const parent of nodes[member]?.parents ?? []) children.get(parent)?.push(member)
  }
  return children
}

/** Parents before children; among those whose parents are all included, the best rate first. */
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

/** Divides members into connected components. */
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
 * Orders members by splitting off the best closure, recursively on either side: a piece that cannot be split is a chunk
 * of the optimal diagram. Unconnected components of such a piece pay the same rate; each is kept contiguous so that it
 * becomes a chunk of its own.
 */
const orderByRate = (nodes: ReadonlyArray<ClusterNode>, members: ReadonlyArray<number>): Array<number> => {
  if (members.length === 1) return [...members]
  const part = bestClosure(nodes, members)
  if (part === undefined) return components(nodes, members).flatMap((piece) => orderGreedily(nodes, piece))
  const rest = members.filter((member) => !part.has(member))
  return [...orderByRate(nodes, [...part]), ...orderByRate(nodes, rest)]
}

/**
 * The order in which `members` pay most for every prefix by weight, parents before children. Optimal up to 200
 * transactions.
 */
export const linearize = (
  nodes: ReadonlyArray<ClusterNode>,
  members: ReadonlyArray<number> = [...nodes.keys()]
): ReadonlyArray<number> => members.length > MAX_OPTIMAL ? orderGreedily(nodes, members) : orderByRate(nodes, members)

/**
 * Divides an order into chunks: a transaction that pays a better rate than the chunk before it joins that chunk. Rates
 * of chunks never rise from one to the next. Source: upstream `cluster_linearize.h`, `ChunkLinearization`.
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
