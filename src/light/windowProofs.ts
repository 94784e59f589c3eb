import { type NameEntry, plain } from "../names/NameEntry.ts"
import type { LeafEvidence } from "../names/nameEvidence.ts"
import { type Block, encodeBlockHeader } from "../protocol/block.ts"
import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import type { Height, TxidKey } from "../protocol/keys.ts"
import { merkleBranches } from "../protocol/merkle.ts"
import { Reader } from "../protocol/Reader.ts"
import type { Transaction } from "../protocol/transaction.ts"
import { Writer } from "../protocol/Writer.ts"
import type { HeadRow, ProvenRow } from "./windowTables.ts"

// What a window keeps for proofs (-nameproofs). It has no blocks, so all is taken when a block is decoded: of all blocks
// the header with its merged-mining proof, the coinbase (each block is a tip once), and the branches of operations.

/** The stored columns of a block. */
export interface KeptHead {
  readonly height: Height
  readonly head: Bytes
  /** The coinbase: how many hashes its branch has, the hashes, the transaction. Empty where an older version kept none. */
  readonly coinbase: Bytes
}

export interface WindowHead {
  /** The header with its merged-mining proof. */
  readonly head: Bytes
  readonly coinbase: LeafEvidence | undefined
}

/** An operation in the window with what proves it. */
export interface WindowProofRow {
  readonly record: NameEntry
  /** The transaction with its witnesses. */
  readonly tx: Bytes
  /** Its place in the block and its branch in wire order; `undefined` if it was stored without. */
  readonly kept: { readonly pos: number; readonly branch: ReadonlyArray<Bytes> } | undefined
}

const HASH = 32

/** A number, then hashes. */
const encodeHashes = (first: number, hashes: ReadonlyArray<Bytes>): Writer => {
  const writer = new Writer(4 + HASH * hashes.length).u32(first)
  for (const hash of hashes) writer.bytes(hash)
  return writer
}

const readHashes = (reader: Reader, count: number): ReadonlyArray<Bytes> =>
  Array.from({ length: count }, () => reader.bytes(HASH, "hash"))

/** Throws for a damaged row. */
export const provenRow = ({ branch, tx }: ProvenRow, record: NameEntry): WindowProofRow => {
  if (branch === null || branch.length === 0) return { record, tx: plain(tx), kept: undefined }
  const reader = new Reader(plain(branch))
  const pos = reader.u32("pos")
  return { record, tx: plain(tx), kept: { pos, branch: readHashes(reader, (branch.length - 4) / HASH) } }
}

/** Throws for a damaged row. */
export const windowHead = ({ coinbase, head }: HeadRow): WindowHead => {
  if (coinbase.length === 0) return { head: plain(head), coinbase: undefined }
  const reader = new Reader(plain(coinbase))
  const branch = readHashes(reader, reader.u32("hashes"))
  return { head: plain(head), coinbase: { branch, tx: plain(coinbase).subarray(reader.offset) } }
}

/** What is kept of a block. */
export interface BlockEvidence {
  readonly head: KeptHead
  /** The stored branch of a transaction. */
  readonly branchOf: (transaction: Transaction) => Bytes
}

export const keptEvidence = (block: Block, height: Height): BlockEvidence => {
  const { transactions } = block
  const branchAt = merkleBranches(transactions.map(({ txid }) => txid))
  const places = new Map<TxidKey, number>(transactions.map(({ txidKey }, pos) => [txidKey, pos]))
  const [coinbase] = transactions
  const ofCoinbase = branchAt(0)
  return {
    head: {
      height,
      head: encodeBlockHeader(block),
      coinbase: coinbase === undefined
        ? EMPTY
        : encodeHashes(ofCoinbase.length, ofCoinbase).bytes(coinbase.strippedBytes()).toBytes()
    },
    branchOf: ({ txidKey }) => {
      const pos = places.get(txidKey)
      return pos === undefined ? EMPTY : encodeHashes(pos, branchAt(pos)).toBytes()
    }
  }
}
