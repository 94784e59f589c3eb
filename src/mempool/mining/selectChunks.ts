import { MAX_LOCKS } from "../../consensus/block.ts"
import { MIN_FIRSTUPDATE_DEPTH } from "../../consensus/names.ts"
import { MAX_BLOCK_SIGOPS_COST, MAX_BLOCK_WEIGHT } from "../../consensus/params.ts"
import { isFinal } from "../../consensus/transaction.ts"
import type { Coin } from "../../consensus/view.ts"
import { type OutpointKey, type TxidKey, txidKey } from "../../protocol/keys.ts"
import { NAME_TX_VERSION, parseNameScript } from "../../protocol/nameOperation.ts"
import { outpointKey, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import type { MempoolChunk } from "../Mempool.ts"
import type { PoolEntry } from "../PoolEntry.ts"

/** Selects the transactions of the next block (reference/protocol.md 5.6, M8; upstream `node/miner.cpp`). */

/** Default weight reserved for header, transaction count and coinbase (`DEFAULT_BLOCK_RESERVED_WEIGHT`). */
export const RESERVED_WEIGHT = 8_000

/** Cost of signature operations reserved for the coinbase (`DEFAULT_COINBASE_OUTPUT_MAX_ADDITIONAL_SIGOPS`). */
export const RESERVED_SIGOPS = 400

/** Ids reserved for the coinbase: its own, and the zeros that it spends. */
const RESERVED_LOCKS = 2

export interface BlockLimits {
  readonly maxWeight: number
  /** Weight reserved for header, transaction count and coinbase. */
  readonly reservedWeight: number
  /** The lowest fee rate of a mined chunk, smallest units per kvB. */
  readonly minFeeRate: number
  /** Base version of the blocks; `undefined` for the usual one. Only for tests. */
  readonly version: number | undefined
}

/** The default fee rate is upstream's `DEFAULT_BLOCK_MIN_TX_FEE`. */
export const BLOCK_LIMITS: BlockLimits = {
  maxWeight: MAX_BLOCK_WEIGHT,
  reservedWeight: RESERVED_WEIGHT,
  minFeeRate: 1,
  version: undefined
}

/** After this many chunks in a row that do not fit, a block with less than `weight` left counts as full. */
const PATIENCE = { chunks: 1_000, weight: 4_000 }

export interface BlockToFill {
  readonly height: number
  /** Median time of the previous block, to compare lock times with. */
  readonly medianTimePast: number
  /** Confirmed coins by outpoint key. */
  readonly coin: (outpoint: OutpointKey) => Coin | undefined
}

/** The selected transactions, parents before children. */
export interface Selection {
  readonly entries: ReadonlyArray<PoolEntry>
  /** Actual fees in smallest units, without fee deltas. */
  readonly fees: number
  /** Weight units, with the reserved weight. */
  readonly weight: number
}

export const NOTHING_SELECTED: Selection = { entries: [], fees: 0, weight: RESERVED_WEIGHT }

/** The limited ids and names that a block touches (the lock rule, reference/protocol.md 5.4). */
class Locks {
  private readonly ids = new Set<TxidKey>()
  private count = RESERVED_LOCKS

  /** Adds what a chunk touches. Returns false, without a change, beyond the limit. */
  add(chunk: MempoolChunk): boolean {
    const fresh = new Set<TxidKey>()
    let names = 0
    const touch = (id: TxidKey): void => {
      if (!this.ids.has(id)) fresh.add(id)
    }
    for (const { transaction } of chunk.entries) {
      if (transaction.version === NAME_TX_VERSION) names++
      touch(transaction.txidKey)
      for (const { prevout } of transaction.inputs) touch(txidKey(prevoutTxid(prevout)))
    }
    if (this.count + fresh.size + names > MAX_LOCKS) return false
    this.count += fresh.size + names
    for (const id of fresh) this.ids.add(id)
    return true
  }
}

/**
 * Whether a registration can be mined: its commitment is confirmed and deep enough, which the pool does not require.
 * Source: upstream `node/miner.cpp`, `TxAllowedForNamecoin`.
 */
const isMature = ({ inputs }: Transaction, { coin, height }: BlockToFill): boolean =>
  inputs.some(({ prevout }) => {
    const spent = coin(outpointKey(prevout))
    return spent !== undefined && parseNameScript(spent.script)?.operation.op === "name_new" &&
      spent.height + MIN_FIRSTUPDATE_DEPTH <= height
  })

const isMinable = ({ name, transaction }: PoolEntry, block: BlockToFill): boolean =>
  isFinal(transaction, block.height, block.medianTimePast) &&
  (name?.script.operation.op !== "name_firstupdate" || isMature(transaction, block))

const spends = ({ transaction }: PoolEntry, ids: ReadonlySet<TxidKey>): boolean =>
  ids.size > 0 && transaction.inputs.some(({ prevout }) => ids.has(txidKey(prevoutTxid(prevout))))

const chunkOf = (entries: ReadonlyArray<PoolEntry>): MempoolChunk => ({
  entries,
  fee: entries.reduce((sum, { modifiedFee }) => sum + modifiedFee, 0),
  weight: entries.reduce((sum, { weight }) => sum + weight, 0)
})

/**
 * The transactions of a chunk that can be in the block: final, mature, and not dependent on a skipped one. Adds all
 * others to `skipped`. Returns the chunk itself if nothing is left out.
 */
const minablePart = (chunk: MempoolChunk, block: BlockToFill, skipped: Set<TxidKey>): MempoolChunk => {
  const left = chunk.entries.filter((entry) => {
    const stays = isMinable(entry, block) && !spends(entry, skipped)
    if (!stays) skipped.add(entry.transaction.txidKey)
    return stays
  })
  return left.length === chunk.entries.length ? chunk : chunkOf(left)
}

const paysLike = (one: MempoolChunk, other: MempoolChunk): boolean => one.fee * other.weight >= other.fee * one.weight

/**
 * The chunks in order, with the parts of incomplete chunks at the place of their own fee rate. Otherwise a NAME_NEW
 * would wait forever once its NAME_FIRSTUPDATE is in the pool with a higher fee rate: they are one chunk, and the
 * second is immature until the first is mined. The reference node skips such a chunk.
 */
function* minableChunks(
  chunks: Iterable<MempoolChunk>,
  block: BlockToFill,
  skipped: Set<TxidKey>
): Generator<MempoolChunk> {
  /** Parts for later, best first. */
  let parts: Array<MempoolChunk> = []
  for (const chunk of chunks) {
    for (let best = parts[0]; best !== undefined && paysLike(best, chunk); best = parts[0]) {
      parts.shift()
      yield best
    }
    const part = minablePart(chunk, block, skipped)
    if (part.entries.length === 0) continue
    const isParent = ({ entries }: MempoolChunk): boolean => {
      const ids = new Set(entries.map(({ transaction }) => transaction.txidKey))
      return part.entries.some((entry) => spends(entry, ids))
    }
    const parents = parts.filter(isParent)
    if (part === chunk && parents.length === 0) {
      yield chunk
      continue
    }
    const joined = chunkOf([...parents, part].flatMap(({ entries }) => entries))
    parts = parts.filter((other) => !parents.includes(other))
    const place = parts.findIndex((other) => !paysLike(other, joined))
    parts.splice(place < 0 ? parts.length : place, 0, joined)
  }
  yield* parts
}

const sigopsOf = ({ entries }: MempoolChunk): number => entries.reduce((sum, { sigopCost }) => sum + sigopCost, 0)

/**
 * Takes chunks in order while they pay enough and the block has space. Skips a chunk that does not fit, and what
 * depends on it. Throws what `coin` throws. Source: upstream `node/miner.cpp`, `addChunks`.
 */
export const selectChunks = (
  chunks: Iterable<MempoolChunk>,
  block: BlockToFill,
  { maxWeight, minFeeRate, reservedWeight } = BLOCK_LIMITS
): Selection => {
  const entries: Array<PoolEntry> = []
  const locks = new Locks()
  const skipped = new Set<TxidKey>()
  let fees = 0
  let weight = reservedWeight
  let sigops = RESERVED_SIGOPS
  let failed = 0
  for (const chunk of minableChunks(chunks, block, skipped)) {
    if (1000 * chunk.fee < minFeeRate * Math.ceil(chunk.weight / 4)) break
    const cost = sigopsOf(chunk)
    const taken = weight + chunk.weight < maxWeight && sigops + cost < MAX_BLOCK_SIGOPS_COST &&
      locks.add(chunk)
    if (!taken) {
      for (const { transaction } of chunk.entries) skipped.add(transaction.txidKey)
      if (++failed > PATIENCE.chunks && weight + PATIENCE.weight > maxWeight) break
      continue
    }
    failed = 0
    sigops += cost
    for (const entry of chunk.entries) {
      entries.push(entry)
      fees += entry.fee
      weight += entry.transaction.weight
    }
  }
  return { entries, fees, weight }
}
