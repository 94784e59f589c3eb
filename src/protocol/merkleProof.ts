import { type BlockHeader, encodeBlockHeader, readBlockHeader } from "./block.ts"
import { type Bytes, concat, equal } from "./bytes.ts"
import { hash256 } from "./hash.ts"
import type { Reader } from "./Reader.ts"
import { Writer } from "./Writer.ts"

/**
 * A header with its merged-mining proof, and the part of the block's merkle tree that proves some of its transactions
 * (BIP 37; upstream `merkleblock.h`, `CMerkleBlock`). Depth first: a bit per visited node, set above a proven
 * transaction, and a hash for each node without such a bit and each proven transaction.
 */
export interface MerkleProof {
  readonly head: BlockHeader
  readonly tree: PartialTree
}

export interface PartialTree {
  readonly transactions: number
  readonly hashes: ReadonlyArray<Bytes>
  /** The bits of the visited nodes, lowest bit of a byte first. */
  readonly flags: Bytes
}

/** Maximum transactions in a block: its weight by the smallest transaction's (consensus). */
const MAX_TRANSACTIONS = Math.floor(4_000_000 / (4 * 60))

/** Nodes per row of a tree; row 0 has the transactions. */
const widthsOf = (transactions: number): ReadonlyArray<number> => {
  const widths = [transactions]
  for (let width = transactions; width > 1;) widths.push(width = Math.ceil(width / 2))
  return widths
}

interface Node {
  readonly row: number
  readonly position: number
}

/** The second one is missing at the end of an odd row. */
const below = (
  { position, row }: Node,
  widths: ReadonlyArray<number>
): readonly [left: Node, right: Node | undefined] => {
  const [left, right] = [{ row: row - 1, position: 2 * position }, { row: row - 1, position: 2 * position + 1 }]
  return [left, right.position < (widths[right.row] ?? 0) ? right : undefined]
}

const parentOf = (left: Bytes, right: Bytes): Uint8Array => Uint8Array.from(hash256(concat(left, right)))

const merkleRows = (txids: ReadonlyArray<Bytes>): ReadonlyArray<ReadonlyArray<Bytes>> => {
  const rows = [txids]
  for (let row = txids; row.length > 1;) {
    const next: Array<Bytes> = []
    for (let i = 0; i < row.length; i += 2) {
      const left = row[i]
      if (left !== undefined) next.push(parentOf(left, row[i + 1] ?? left))
    }
    row = next
    rows.push(row)
  }
  return rows
}

const packBits = (bits: ReadonlyArray<boolean>): Uint8Array => {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (const [i, bit] of bits.entries()) if (bit) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7))
  return bytes
}

export const partialTree = (txids: ReadonlyArray<Bytes>, isProven: (position: number) => boolean): PartialTree => {
  const rows = merkleRows(txids)
  const marked: Array<ReadonlyArray<boolean>> = [txids.map((_, position) => isProven(position))]
  for (let row = 1; row < rows.length; row++) {
    const children = marked[row - 1] ?? []
    marked.push((rows[row] ?? []).map((_, i) => children[2 * i] === true || children[2 * i + 1] === true))
  }
  const bits: Array<boolean> = []
  const hashes: Array<Bytes> = []
  const widths = rows.map(({ length }) => length)
  const visit = (node: Node): void => {
    const { position, row } = node
    const isAbove = marked[row]?.[position] === true
    bits.push(isAbove)
    if (row === 0 || !isAbove) {
      const hash = rows[row]?.[position]
      if (hash !== undefined) hashes.push(hash)
      return
    }
    const [left, right] = below(node, widths)
    visit(left)
    if (right !== undefined) visit(right)
  }
  if (txids.length > 0) visit({ row: rows.length - 1, position: 0 })
  return { transactions: txids.length, hashes, flags: packBits(bits) }
}

/** In block order. */
export interface ProvenTransactions {
  readonly root: Bytes
  readonly txids: ReadonlyArray<Bytes>
  readonly positions: ReadonlyArray<number>
}

const isPlausible = ({ flags, hashes, transactions }: PartialTree): boolean =>
  transactions > 0 && transactions <= MAX_TRANSACTIONS && hashes.length <= transactions &&
  8 * flags.length >= hashes.length

/** Returns what a partial tree proves; `undefined` if malformed. Upstream `CPartialMerkleTree::ExtractMatches`. */
export const provenBy = (tree: PartialTree): ProvenTransactions | undefined => {
  if (!isPlausible(tree)) return undefined
  const { flags, hashes, transactions } = tree
  const txids: Array<Bytes> = []
  const positions: Array<number> = []
  let bits = 0
  let used = 0
  const widths = widthsOf(transactions)
  const visit = (node: Node): Bytes | undefined => {
    if (bits >= 8 * flags.length) return undefined
    const isAbove = (((flags[bits >> 3] ?? 0) >> (bits & 7)) & 1) === 1
    bits++
    if (node.row === 0 || !isAbove) {
      const hash = hashes[used++]
      if (node.row === 0 && isAbove && hash !== undefined) {
        txids.push(hash)
        positions.push(node.position)
      }
      return hash
    }
    const [first, second] = below(node, widths)
    const left = visit(first)
    if (left === undefined) return undefined
    if (second === undefined) return parentOf(left, left)
    const right = visit(second)
    // Equal neighbours would let a proof repeat transactions (CVE-2012-2459).
    return right === undefined || equal(left, right) ? undefined : parentOf(left, right)
  }
  const root = visit({ row: widths.length - 1, position: 0 })
  const isUsedUp = Math.ceil(bits / 8) === flags.length && used === hashes.length
  return root === undefined || !isUsedUp ? undefined : { root, txids, positions }
}

export const encodeMerkleProof = ({ head, tree }: MerkleProof): Uint8Array => {
  const writer = new Writer(512).bytes(encodeBlockHeader(head)).u32(tree.transactions).compactSize(tree.hashes.length)
  for (const hash of tree.hashes) writer.bytes(hash)
  return writer.varBytes(tree.flags).toBytes()
}

/** Throws `DecodeError`. Leaves bytes after the tree unread. */
export const readMerkleProof = (reader: Reader): MerkleProof => {
  const head = readBlockHeader(reader)
  const transactions = reader.u32("transactions")
  const hashes = Array.from({ length: reader.count("hashes", 32) }, () => reader.bytes(32, "hash"))
  return { head, tree: { transactions, hashes, flags: reader.varBytes("flags") } }
}
