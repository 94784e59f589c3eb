import { Effect, Layer, Stream } from "effect"
import { entryUsage } from "../../src/mempool/memoryUsage.ts"
import { Mempool, type MempoolChunk } from "../../src/mempool/Mempool.ts"
import { DEFAULT_POLICY } from "../../src/mempool/policy/Policy.ts"
import type { PoolEntry } from "../../src/mempool/PoolEntry.ts"
import { parseNameScript } from "../../src/protocol/nameOperation.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"

/** A transaction as the pool holds it. */
export const entryOf = (transaction: Transaction, overrides: Partial<PoolEntry> = {}): PoolEntry => {
  const fee = overrides.fee ?? 100_000
  const names = transaction.outputs.flatMap(({ script }, vout) => {
    const name = parseNameScript(script)
    return name === undefined ? [] : [{ vout, script: name }]
  })
  return {
    transaction,
    fee,
    modifiedFee: fee,
    weight: transaction.weight,
    vsize: transaction.virtualSize,
    sigopCost: 0,
    time: 0,
    height: 0,
    sequence: 0,
    name: names[0],
    ...overrides
  }
}

export const chunkOf = (...entries: ReadonlyArray<PoolEntry>): MempoolChunk => ({
  entries,
  fee: entries.reduce((sum, { modifiedFee }) => sum + modifiedFee, 0),
  weight: entries.reduce((sum, { weight }) => sum + weight, 0)
})

/** A mempool with other transactions, for pages that show it. */
export const poolWith = (
  pool: typeof Mempool.Service,
  entries: ReadonlyArray<PoolEntry>
): typeof Mempool.Service => ({
  ...pool,
  entries: () => entries,
  chunks: () => entries.map((entry) => chunkOf(entry)),
  info: () => ({
    ...pool.info(),
    size: entries.length,
    bytes: entries.reduce((sum, { vsize }) => sum + vsize, 0),
    usage: entries.reduce((sum, { transaction }) => sum + entryUsage(transaction), 0),
    totalFee: entries.reduce((sum, { fee }) => sum + fee, 0)
  })
})

/** A pool that holds the given transactions, and validates nothing: for code that only reads it. */
export class FakePool {
  chunks: ReadonlyArray<MempoolChunk> = []
  sequence = 0
  changes = 0

  /** Replaces the chunks. */
  hold(...chunks: ReadonlyArray<MempoolChunk>): void {
    this.chunks = chunks
    this.sequence++
    this.changes++
  }

  private entries(): ReadonlyArray<PoolEntry> {
    return this.chunks.flatMap(({ entries }) => entries)
  }

  readonly layer = Layer.sync(Mempool, () => {
    const unused = Effect.dieMessage("not for this test")
    const nothing = (): never => {
      throw new Error("not for this test")
    }
    return {
      accept: () => unused,
      test: () => unused,
      submit: () => unused,
      importFrom: () => unused,
      get: (txid) => this.entries().find(({ transaction }) => transaction.txidKey === txid),
      getByWtxid: nothing,
      entries: () => this.entries(),
      spender: nothing,
      ancestors: nothing,
      descendants: nothing,
      parents: nothing,
      children: nothing,
      cluster: nothing,
      chunkOf: nothing,
      chunks: () => this.chunks,
      pending: nothing,
      coin: nothing,
      listen: () => unused,
      takesChild: nothing,
      fitsCluster: nothing,
      policy: DEFAULT_POLICY,
      info: () => ({
        loaded: true,
        size: this.entries().length,
        bytes: 0,
        usage: 0,
        totalFee: 0,
        maxUsage: 0,
        minFeeRate: 0,
        minRelayFeeRate: 0,
        incrementalFeeRate: 0,
        unbroadcast: 0,
        sequence: this.sequence,
        changes: this.changes
      }),
      prioritise: () => unused,
      prioritised: nothing,
      broadcastLater: nothing,
      announceAgain: () => unused,
      whenOffered: () => unused,
      isUnbroadcast: nothing,
      broadcastDone: nothing,
      unbroadcast: nothing,
      events: Stream.empty,
      follower: { name: "mempool", cursor: unused, apply: () => unused, rewind: () => unused },
      load: unused,
      save: unused
    }
  })
}
