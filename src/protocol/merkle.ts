import { type Bytes, EMPTY } from "./bytes.ts"
import { hash256, hash256Into } from "./hash.ts"

/** A merkle root, and whether equal neighbours show that entries were repeated without changing the root. */
export interface MerkleRoot {
  readonly root: Uint8Array
  /** CVE-2012-2459: a shorter list has the same root. */
  readonly mutated: boolean
}

/** Whether the node at an offset equals its right neighbour. In place: two views per pair cost more than the hash. */
const sameNodes = (nodes: Bytes, offset: number): boolean => {
  for (let i = offset; i < offset + 32; i++) if (nodes[i] !== nodes[i + 32]) return false
  return true
}

/** The two nodes being hashed, until their parent is known. */
const pair = new Uint8Array(64)

/** An empty list has a root of zeros. */
export const merkleRoot = (hashes: ReadonlyArray<Bytes>): MerkleRoot =>
  merkleRootOf(hashes.length, (i, row) => row.set(hashes[i] ?? EMPTY, 32 * i))

/** The root of hashes that `write` puts into a row of zeros, hash `i` at byte 32·i. Source: `ComputeMerkleRoot`. */
export const merkleRootOf = (count: number, write: (i: number, row: Uint8Array) => void): MerkleRoot => {
  if (count === 0) return { root: new Uint8Array(32), mutated: false }
  // One extra slot completes an odd row in place.
  const nodes = new Uint8Array(32 * (count + 1))
  for (let i = 0; i < count; i++) write(i, nodes)
  let mutated = false
  for (let size = count; size > 1; size = (size + 1) >> 1) {
    for (let i = 0; i + 1 < size && !mutated; i += 2) mutated = sameNodes(nodes, 32 * i)
    if (size % 2 === 1) nodes.copyWithin(32 * size, 32 * (size - 1), 32 * size)
    for (let i = 0; i < size; i += 2) {
      for (let at = 0; at < 64; at++) pair[at] = nodes[32 * i + at] ?? 0
      hash256Into(pair, nodes, 16 * i)
    }
  }
  return { root: nodes.slice(0, 32), mutated }
}

/** An index of -1 gives zeros. Bits of the index beyond the branch are ignored (reference/protocol.md 2.5). */
export const merkleBranchRoot = (hash: Bytes, branch: ReadonlyArray<Bytes>, index: number): Uint8Array => {
  if (index === -1) return new Uint8Array(32)
  const root = new Uint8Array(hash)
  let position = index
  for (const sibling of branch) {
    const right = (position & 1) === 1
    pair.set(right ? sibling : root, 0)
    pair.set(right ? root : sibling, 32)
    hash256Into(pair, root, 0)
    position >>= 1
  }
  return root
}

/** The branches of entries, after one computation of all nodes. */
export const merkleBranches = (hashes: ReadonlyArray<Bytes>): (index: number) => ReadonlyArray<Uint8Array> => {
  const rows: Array<Array<Uint8Array>> = []
  for (let row: Array<Uint8Array> = hashes.map((hash) => Uint8Array.from(hash)); row.length > 1;) {
    const last = row[row.length - 1]
    if (row.length % 2 === 1 && last !== undefined) row.push(last)
    rows.push(row)
    const next: Array<Uint8Array> = []
    for (let i = 0; i + 1 < row.length; i += 2) {
      const pair = new Uint8Array(64)
      pair.set(row[i] ?? EMPTY)
      pair.set(row[i + 1] ?? EMPTY, 32)
      next.push(hash256(pair))
    }
    row = next
  }
  return (index) => rows.flatMap((row, depth) => row[(index >> depth) ^ 1] ?? [])
}

export const merkleBranch = (hashes: ReadonlyArray<Bytes>, index: number): ReadonlyArray<Uint8Array> =>
  merkleBranches(hashes)(index)
