import { Effect, Layer } from "effect"
import { Mempool, type MempoolChunk } from "../../../src/mempool/Mempool.ts"
import { DEFAULT_POLICY } from "../../../src/mempool/policy/Policy.ts"
import type { PoolEntry } from "../../../src/mempool/PoolEntry.ts"
import { binaryString } from "../../../src/protocol/bytes.ts"
import { type TxidKey, txidKey } from "../../../src/protocol/keys.ts"
import { prevoutTxid, type Transaction } from "../../../src/protocol/transaction.ts"

/** A minimal entry; its fee is `rate` smallest units per kvB of its size. */
export const entryOf = (transaction: Transaction, sequence: number, rate = 100_000): PoolEntry => {
  const fee = Math.ceil((rate * transaction.virtualSize) / 1000)
  return {
    transaction,
    fee,
    modifiedFee: fee,
    weight: transaction.weight,
    vsize: transaction.virtualSize,
    sigopCost: 0,
    time: 0,
    height: 0,
    sequence,
    name: undefined
  }
}

/** A pool in which each transaction is its own chunk, and a cluster is connected by parents. */
export class FakePool {
  readonly byTxid = new Map<TxidKey, PoolEntry>()
  sequence = 1

  add(transaction: Transaction, rate?: number): PoolEntry {
    const entry = entryOf(transaction, this.sequence++, rate)
    this.byTxid.set(transaction.txidKey, entry)
    return entry
  }

  remove(transaction: Transaction): PoolEntry | undefined {
    const entry = this.byTxid.get(transaction.txidKey)
    this.byTxid.delete(transaction.txidKey)
    this.sequence++
    return entry
  }

  readonly get = (txid: TxidKey): PoolEntry | undefined => this.byTxid.get(txid)

  readonly getByWtxid = (wtxid: string): PoolEntry | undefined =>
    [...this.byTxid.values()].find(({ transaction }) => binaryString(transaction.wtxid) === wtxid)

  /** The cluster in order of arrival; no chunk is better than the one before it. */
  readonly cluster = (txid: TxidKey): ReadonlyArray<MempoolChunk> => {
    const members = new Set([txid])
    const linked = ({ transaction }: PoolEntry): boolean =>
      members.has(transaction.txidKey) ||
      transaction.inputs.some(({ prevout }) => members.has(txidKey(prevoutTxid(prevout))))
    for (let size = 0; size < members.size;) {
      size = members.size
      for (const entry of this.byTxid.values()) {
        if (!linked(entry)) continue
        members.add(entry.transaction.txidKey)
        for (const { prevout } of entry.transaction.inputs) {
          const parent = txidKey(prevoutTxid(prevout))
          if (this.byTxid.has(parent)) members.add(parent)
        }
      }
    }
    const chunks: Array<MempoolChunk> = []
    for (const entry of this.byTxid.values()) {
      if (!members.has(entry.transaction.txidKey)) continue
      let chunk: MempoolChunk = { entries: [entry], fee: entry.modifiedFee, weight: entry.weight }
      for (let last = chunks.pop(); last !== undefined; last = chunks.pop()) {
        if (chunk.fee * last.weight <= last.fee * chunk.weight) {
          chunks.push(last)
          break
        }
        chunk = {
          entries: [...last.entries, ...chunk.entries],
          fee: last.fee + chunk.fee,
          weight: last.weight + chunk.weight
        }
      }
      chunks.push(chunk)
    }
    return chunks
  }
}

const asked = (): never => {
  throw new Error("this test does not have that of a mempool")
}

/** A mempool with only the given parts. */
export const mempoolWith = (parts: Partial<typeof Mempool.Service>): Layer.Layer<Mempool> =>
  Layer.mock(Mempool, {
    get: asked,
    getByWtxid: asked,
    entries: asked,
    spender: asked,
    ancestors: asked,
    descendants: asked,
    parents: asked,
    children: asked,
    cluster: asked,
    chunkOf: asked,
    chunks: asked,
    pending: asked,
    coin: asked,
    takesChild: asked,
    fitsCluster: asked,
    policy: DEFAULT_POLICY,
    info: asked,
    prioritised: asked,
    broadcastLater: asked,
    isUnbroadcast: asked,
    broadcastDone: asked,
    unbroadcast: asked,
    follower: {
      name: "none",
      cursor: Effect.as(Effect.void, undefined),
      apply: () => Effect.void,
      rewind: () => Effect.void
    },
    ...parts
  })
