import { sipHashHalves, type SipKey, sipKey } from "../../base/siphash.ts"
import { checkWitnesses } from "../../consensus/block.ts"
import { type Block, type BlockHeader, encodeBlockHeader, makeBlock } from "../../protocol/block.ts"
import { type Bytes, concat, equal } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { Writer } from "../../protocol/Writer.ts"
import type { CmpctBlock } from "./messages/compact.ts"

/** Size of an inner merkle node, which a transaction of this size could imitate. */
const NODE_SIZE = 64

/**
 * Whether the transactions may not be those that the header commits to. Faults then do not invalidate the hash.
 * `segwitActive`: witnesses are allowed. Source: upstream `validation.cpp`, `IsBlockMutated`.
 */
export const isMutated = (block: Block, segwitActive: boolean): boolean => {
  const { header, merkle, transactions } = block
  if (merkle.mutated || !equal(merkle.root, header.merkleRoot)) return true
  if (transactions[0]?.isCoinbase !== true) return transactions.some(({ strippedSize }) => strippedSize === NODE_SIZE)
  return checkWitnesses(block, segwitActive) !== undefined
}

// Conversion between blocks and compact blocks (BIP 152).
//
// ```
// cmpctblock ── startReconstruction ──► partial ── missing: getblocktxn ── blocktxn ── finishReconstruction ──► block
//                       │                                                                      │
//                       └─ invalid: misbehaving        collision: request the whole block ─────┘
// ```

/** Maximum index of a transaction (protocol): 16 bits. */
const MAX_INDEX = 0xffff

/** From SHA-256(header ‖ nonce), the header with its merged-mining proof (reference/protocol.md 6.6). */
export const shortIdKey = (header: BlockHeader, nonce: bigint): SipKey =>
  sipKey(sha256(concat(encodeBlockHeader(header), new Writer(8).u64(nonce).written())))

/** 48 bits. */
export const shortId = (key: SipKey, wtxid: Bytes): number => {
  const [low, high] = sipHashHalves(key, wtxid)
  return low + (high & 0xffff) * 0x100000000
}

/** The coinbase in full, all other transactions by short id. The nonce must be random. */
export const makeCompactBlock = (block: Block, nonce: bigint): CmpctBlock => {
  const key = shortIdKey(block, nonce)
  const [coinbase, ...rest] = block.transactions
  return {
    type: "cmpctblock",
    header: { header: block.header, auxpow: block.auxpow },
    nonce,
    shortIds: rest.map(({ wtxid }) => shortId(key, wtxid)),
    prefilled: coinbase === undefined ? [] : [{ index: 0, transaction: coinbase }]
  }
}

export interface PartialBlock {
  readonly header: BlockHeader
  readonly transactions: ReadonlyArray<Transaction | undefined>
  /** Ascending. */
  readonly missing: ReadonlyArray<number>
}

/** `invalid` is misbehaviour; a `collision` requires the whole block. */
export type Reconstruction<A> =
  | ({ readonly type: "ok" } & A)
  | { readonly type: "invalid"; readonly reason: string }
  | { readonly type: "collision" }

const invalid = (reason: string): Reconstruction<never> => ({ type: "invalid", reason })

const placePrefilled = ({ prefilled, shortIds }: CmpctBlock): Array<Transaction | undefined> | string => {
  const transactions = new Array<Transaction | undefined>(shortIds.length + prefilled.length).fill(undefined)
  for (const [i, { index, transaction }] of prefilled.entries()) {
    if (transaction.inputs.length === 0 && transaction.outputs.length === 0) return "an empty prefilled transaction"
    if (index > MAX_INDEX) return "the index of a prefilled transaction is above 16 bits"
    if (index > shortIds.length + i) return "a prefilled transaction beyond the end of the block"
    transactions[index] = transaction
  }
  return transactions
}

/** Binary search, because a peer could choose ids that slow down a hash table. */
class ShortIds {
  private readonly ids: Float64Array
  private readonly places: Uint16Array
  readonly collide: boolean

  constructor(shortIds: ReadonlyArray<number>, transactions: ReadonlyArray<Transaction | undefined>) {
    this.ids = Float64Array.from(shortIds).sort()
    this.places = new Uint16Array(shortIds.length)
    this.collide = this.ids.some((id, i) => i > 0 && id === this.ids[i - 1])
    if (this.collide) return
    let at = 0
    for (let place = 0; place < transactions.length; place++) {
      if (transactions[place] === undefined) this.places[this.indexOf(shortIds[at++] ?? NaN)] = place
    }
  }

  private indexOf(id: number): number {
    let low = 0
    let high = this.ids.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.ids[middle] ?? Infinity) < id) low = middle + 1
      else high = middle
    }
    return low
  }

  find(id: number): number {
    const index = this.indexOf(id)
    return this.ids[index] === id ? this.places[index] ?? -1 : -1
  }
}

/** If two different candidates match, neither is used. */
const placeCandidates = (
  transactions: Array<Transaction | undefined>,
  { candidates, ids, key }: { readonly ids: ShortIds; readonly key: SipKey; readonly candidates: Iterable<Transaction> }
): void => {
  let open = transactions.filter((transaction) => transaction === undefined).length
  if (open === 0) return
  const disputed = new Set<number>()
  for (const candidate of candidates) {
    const place = ids.find(shortId(key, candidate.wtxid))
    if (place < 0 || disputed.has(place)) continue
    const placed = transactions[place]
    if (placed === undefined) {
      transactions[place] = candidate
      open--
    } else if (!equal(placed.wtxid, candidate.wtxid)) {
      transactions[place] = undefined
      disputed.add(place)
      open++
    }
    // Later candidates could still dispute a place. That is rare, and the merkle root detects it.
    if (open === 0) return
  }
}

/** `candidates`: mempool and recently removed. Upstream `PartiallyDownloadedBlock::InitData`. */
export const startReconstruction = (
  compact: CmpctBlock,
  candidates: Iterable<Transaction>
): Reconstruction<{ readonly partial: PartialBlock }> => {
  if (compact.header.header.bits === 0) return invalid("an empty header")
  const transactions = placePrefilled(compact)
  if (typeof transactions === "string") return invalid(transactions)
  if (transactions.length === 0) return invalid("a block without transactions")
  if (transactions.length > MAX_INDEX) return invalid("more transactions than indexes can name")
  const ids = new ShortIds(compact.shortIds, transactions)
  if (ids.collide) return { type: "collision" }
  placeCandidates(transactions, { ids, key: shortIdKey(compact.header, compact.nonce), candidates })
  const missing: Array<number> = []
  for (const [place, transaction] of transactions.entries()) if (transaction === undefined) missing.push(place)
  return { type: "ok", partial: { header: compact.header, transactions, missing } }
}

/**
 * The missing transactions are in order. `segwitActive`: whether witnesses are allowed at the block's height. Source:
 * upstream `blockencodings.cpp`, `PartiallyDownloadedBlock::FillBlock`.
 */
export const finishReconstruction = (
  partial: PartialBlock,
  transactions: ReadonlyArray<Transaction>,
  segwitActive: boolean
): Reconstruction<{ readonly block: Block }> => {
  if (transactions.length !== partial.missing.length) {
    return invalid(`${transactions.length} transactions instead of ${partial.missing.length}`)
  }
  const rest = transactions.values()
  const complete: Array<Transaction> = []
  for (const known of partial.transactions) {
    const transaction = known ?? rest.next().value
    if (transaction !== undefined) complete.push(transaction)
  }
  const block = makeBlock(partial.header, complete)
  return isMutated(block, segwitActive) ? { type: "collision" } : { type: "ok", block }
}
