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

/** Weight reserved for header, transaction count and coinbase (upstream `DEFAULT_BLOCK_RESERVED_WEIGHT`). */
export const RESERVED_WEIGHT = 8_000

/** Cost of signature operations reserved for the coinbase (`DEFAULT_COINBASE_OUTPUT_MAX_ADDITIONAL_SIGOPS`). */
export const RESERVED_SIGOPS = 400

/** Ids reserved for the coinbase: its own, and the zeros that it spends. */
const RESERVED_LOCKS = 2

/** The lowest fee rate of a mined chunk, smallest units a kvB (upstream `DEFAULT_BLOCK_MIN_TX_FEE`). */
export const MIN_BLOCK_FEE_RATE = 1

/** After this many chunks in a row that do not fit, a block with less room than `weight` counts as full. */
const PATIENCE = { chunks: 1_000, weight: 4_000 }

/** The block to fill. */
export interface BlockToFill {
  readonly height: number
  /** Of the block before: lock times are compared with it. */
  readonly medianTimePast: number
  /** Confirmed coins by outpoint key. */
  readonly coin: (outpoint: OutpointKey) => Coin | undefined
}

/** The selected transactions, parents before children. */
export interface Selection {
  readonly entries: ReadonlyArray<PoolEntry>
  /** Their actual fees, smallest units, without fee deltas. */
  readonly fees: number
  /** Weight units, with the reserved weight. */
  readonly weight: number
}

export const NOTHING_SELECTED: Selection = { entries: [], fees: 0, weight: RESERVED_WEIGHT }

/** The ids and names that a block touches; their number is limited (the lock rule, reference/protocol.md 5.4). */
class Locks {
  private readonly ids = new Set<TxidKey>()
  private count = RESERVED_LOCKS

  /** Adds what a chunk touches and returns true; false, without a change, beyond the limit. */
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
 * Whether a registration can be mined: its commitment is confirmed and deep enough. The pool takes registrations
 * earlier than that. Source: upstream `node/miner.cpp`, `TxAllowedForNamecoin`.
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

/** Whether a chunk spends a transaction that was skipped. */
const lacksParent = ({ entries }: MempoolChunk, skipped: ReadonlySet<TxidKey>): boolean =>
  skipped.size > 0 &&
  entries.some(({ transaction }) =>
    transaction.inputs.some(({ prevout }) => skipped.has(txidKey(prevoutTxid(prevout))))
  )

const sigopsOf = ({ entries }: MempoolChunk): number => entries.reduce((sum, { sigopCost }) => sum + sigopCost, 0)

/**
 * Takes chunks in their order as long as they pay enough and the block has room. Skips a chunk that cannot be mined as
 * a whole, and all chunks that depend on it. Throws what `coin` throws.
 * Source: upstream `node/miner.cpp`, `addChunks`.
 */
export const selectChunks = (chunks: Iterable<MempoolChunk>, block: BlockToFill): Selection => {
  const entries: Array<PoolEntry> = []
  const locks = new Locks()
  const skipped = new Set<TxidKey>()
  let fees = 0
  let weight = RESERVED_WEIGHT
  let sigops = RESERVED_SIGOPS
  let failed = 0
  for (const chunk of chunks) {
    if (1000 * chunk.fee < MIN_BLOCK_FEE_RATE * Math.ceil(chunk.weight / 4)) break
    const cost = sigopsOf(chunk)
    const taken = weight + chunk.weight < MAX_BLOCK_WEIGHT && sigops + cost < MAX_BLOCK_SIGOPS_COST &&
      !lacksParent(chunk, skipped) && chunk.entries.every((entry) => isMinable(entry, block)) && locks.add(chunk)
    if (!taken) {
      for (const { transaction } of chunk.entries) skipped.add(transaction.txidKey)
      if (++failed > PATIENCE.chunks && weight + PATIENCE.weight > MAX_BLOCK_WEIGHT) break
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
