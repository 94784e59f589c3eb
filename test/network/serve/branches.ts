import { type HeaderTree, NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { blockWork } from "../../../src/consensus/difficulty.ts"
import { binaryString } from "../../../src/protocol/bytes.ts"
import { type HeaderId, headerId } from "../../../src/protocol/keys.ts"
import { noTree } from "../../support/noTree.ts"

/** A header of a test tree. */
export interface Branching {
  /** The number of the parent; `NO_HEADER` for the first. */
  readonly parent: number
  readonly time?: number
  readonly failed?: boolean
  readonly connected?: boolean
  readonly stored?: boolean
}

/** Bits of the lowest work. */
const BITS = 0x207fffff

/** The hash of a header by its number. */
export const hashOf = (id: number): Uint8Array => {
  const hash = new Uint8Array(32).fill(7)
  new DataView(hash.buffer).setUint32(0, id)
  return hash
}

/** A tree of generated headers; `tip` is the last block of the best chain, `best` the best header. */
export const treeOf = (headers: ReadonlyArray<Branching>, last: number, most = last): HeaderTree => {
  const [tip, best] = [headerId(last), headerId(most)]
  const at = (id: number): Branching => headers[id] ?? { parent: NO_HEADER }
  const byHash = new Map(headers.map((_, id) => [binaryString(hashOf(id)), headerId(id)]))
  const heights: Array<number> = []
  for (const { parent } of headers) heights.push(parent === NO_HEADER ? 0 : (heights[parent] ?? 0) + 1)
  const height = (id: number): number => heights[id] ?? -1
  const ancestor = (id: HeaderId, wanted: number): HeaderId => {
    let found = id
    while (height(found) > wanted) found = headerId(at(found).parent)
    return found
  }
  const tree: HeaderTree = {
    ...noTree,
    find: (hash) => byHash.get(binaryString(hash)) ?? NO_HEADER,
    hash: hashOf,
    height,
    time: (id) => at(id).time ?? 0,
    bits: () => BITS,
    parent: (id) => headerId(at(id).parent),
    ancestor,
    chainwork: (id) => BigInt(height(id) + 1) * blockWork(BITS),
    isFailed: (id) => at(id).failed ?? false,
    hasBlock: (id) => at(id).stored ?? true,
    transactions: () => 1,
    wasConnected: (id) => at(id).connected ?? false,
    tip: () => tip,
    best: () => best,
    at: (wanted) => wanted > height(tip) || wanted < 0 ? NO_HEADER : ancestor(tip, wanted),
    isActive: (id) => ancestor(tip, height(id)) === id
  }
  return tree
}

/** A chain of headers without branches, ten minutes apart. */
export const lineOf = (count: number): ReadonlyArray<Branching> =>
  Array.from({ length: count }, (_, i) => ({ parent: i === 0 ? NO_HEADER : i - 1, time: 600 * i, connected: true }))
