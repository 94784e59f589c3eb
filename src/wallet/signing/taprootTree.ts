import { secp256k1 } from "@noble/curves/secp256k1.js"
import { type Bytes, concat, equal } from "../../protocol/bytes.ts"
import { compareControlBlocks, isWholeTree } from "../../protocol/psbt/codecs.ts"
import { leafKey, type TaprootLeaf, type TreeLeaf } from "../../protocol/psbt/Psbt.ts"
import { evenKey, tapBranchHash, tapLeafHash, tapOutput } from "../../protocol/taproot.ts"
import type { TaprootSpendData } from "./SigningProvider.ts"

/** BIP 341. */

export interface TaprootOutput {
  /** x-only, 32 bytes. */
  readonly outputKey: Bytes
  readonly spend: TaprootSpendData
}

/** Its hash, and its leaves with their paths to its root. */
interface Branch {
  readonly depth: number
  readonly hash: Bytes
  readonly leaves: ReadonlyArray<{ readonly leaf: TreeLeaf; readonly path: ReadonlyArray<Bytes> }>
}

const leafBranch = (leaf: TreeLeaf): Branch => ({
  depth: leaf.depth,
  hash: tapLeafHash(leaf.leafVersion, leaf.script),
  leaves: [{ leaf, path: [] }]
})

const joined = (a: Branch, b: Branch): Branch => {
  const below = (branch: Branch, sibling: Branch) =>
    branch.leaves.map(({ leaf, path }) => ({ leaf, path: [...path, sibling.hash] }))
  return {
    depth: a.depth - 1,
    hash: tapBranchHash(a.hash, b.hash),
    leaves: [...below(a, b), ...below(b, a)]
  }
}

/** Leaves are listed depth first. */
const rootOf = (leaves: ReadonlyArray<TreeLeaf>): Branch | undefined => {
  const open: Array<Branch> = []
  for (const leaf of leaves) {
    let branch = leafBranch(leaf)
    for (let left = open[open.length - 1]; left !== undefined && left.depth === branch.depth;) {
      open.pop()
      branch = joined(left, branch)
      left = open[open.length - 1]
    }
    open.push(branch)
  }
  return open[0]
}

/** Leaves are listed depth first; `undefined` without any. */
export const treeHash = (leaves: ReadonlyArray<TreeLeaf>): Bytes | undefined => rootOf(leaves)?.hash

const spendLeaves = (root: Branch, head: number, internalKey: Bytes): ReadonlyMap<string, TaprootLeaf> => {
  const found = new Map<string, TaprootLeaf>()
  for (const { leaf, path } of root.leaves) {
    const { leafVersion, script } = leaf
    const control = concat(Uint8Array.of(leafVersion | head), internalKey, ...path)
    const before = found.get(leafKey(leaf))?.controlBlocks ?? []
    // Equal leaves at the same depth beside the same siblings have the same control block.
    if (before.some((other) => equal(other, control))) continue
    const controlBlocks = [...before, control].sort(compareControlBlocks)
    found.set(leafKey(leaf), { script, leafVersion, controlBlocks })
  }
  return found
}

/** `leaves` are listed depth first. Throws `RangeError` for an impossible tree or an invalid internal key. */
export const makeTaproot = (internalKey: Bytes, leaves: ReadonlyArray<TreeLeaf> = []): TaprootOutput => {
  if (leaves.length > 0 && !isWholeTree(leaves.map(({ depth }) => depth))) {
    throw new RangeError("the leaves do not form a tree")
  }
  if (!secp256k1.utils.isValidPublicKey(evenKey(internalKey), true)) throw new RangeError("the internal key is invalid")
  const root = rootOf(leaves)
  const output = tapOutput({ internalKey, merkleRoot: root?.hash })
  return {
    outputKey: output.subarray(1),
    spend: {
      internalKey,
      merkleRoot: root?.hash,
      leaves: root === undefined ? new Map() : spendLeaves(root, (output[0] ?? 0) & 1, internalKey),
      tree: leaves
    }
  }
}
