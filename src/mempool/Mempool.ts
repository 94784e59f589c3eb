import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Follower } from "../chain/Follower.ts"
import type { Coin } from "../consensus/view.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { TransactionRejected } from "./errors.ts"
import type { MempoolEvent, PoolEntry } from "./PoolEntry.ts"

/** What a test of a transaction says (`testmempoolaccept`). */
export type Trial =
  | {
    readonly type: "accepted"
    readonly entry: PoolEntry
    /** Fee rate of the package that it was judged with, smallest units a kvB. */
    readonly effectiveFeeRate: number
    readonly replaced: ReadonlyArray<PoolEntry>
  }
  | { readonly type: "rejected"; readonly rejected: TransactionRejected }

/** Transactions that belong together: each needs all before it or none, and they are best mined at one fee rate. */
export interface Chunk {
  /** Parents before children. */
  readonly entries: ReadonlyArray<PoolEntry>
  /** Modified fees, smallest units. */
  readonly fee: number
  readonly weight: number
}

/** Figures of the pool. */
export interface MempoolInfo {
  /** Whether what was kept from the last run has been taken in. */
  readonly loaded: boolean
  readonly size: number
  /** Virtual bytes. */
  readonly bytes: number
  /** Bytes of memory, about. */
  readonly usage: number
  /** Smallest units. */
  readonly totalFee: number
  /** Bytes of memory. */
  readonly maxUsage: number
  /** What a transaction has to pay to get in now, smallest units a kvB. */
  readonly minFeeRate: number
  /** Smallest units a kvB. */
  readonly minRelayFeeRate: number
  readonly incrementalFeeRate: number
  /** Transactions of our own that no peer asked for yet. */
  readonly unbroadcast: number
  /** Acceptances and removals so far. */
  readonly sequence: number
}

/**
 * The transactions that wait for a block: valid on top of the tip, paid for, and free of conflicts among each other
 * (protocol.md 5.5, 5.6). Transactions are known by `txidKey`, their txid in wire order with one character a byte.
 */
export class Mempool extends Context.Tag("svcd/Mempool")<Mempool, {
  /** Takes a transaction in, or says why not. */
  readonly accept: (
    transaction: Transaction
  ) => Effect.Effect<PoolEntry, TransactionRejected | StorageFailure>
  /** Judges transactions as if they were offered one after the other, and takes none in. */
  readonly test: (
    transactions: ReadonlyArray<Transaction>
  ) => Effect.Effect<ReadonlyArray<Trial>, StorageFailure>
  readonly get: (txid: string) => PoolEntry | undefined
  /** By `binaryString` of the wtxid. */
  readonly getByWtxid: (wtxid: string) => PoolEntry | undefined
  /** In the order in which they came. */
  readonly entries: () => Iterable<PoolEntry>
  /** Who spends an outpoint (`outpointKey`). */
  readonly spender: (outpoint: string) => PoolEntry | undefined
  /** What a transaction of the pool needs or what needs it, itself left out; parents before children. */
  readonly ancestors: (txid: string) => ReadonlyArray<PoolEntry>
  readonly descendants: (txid: string) => ReadonlyArray<PoolEntry>
  readonly parents: (txid: string) => ReadonlyArray<PoolEntry>
  readonly children: (txid: string) => ReadonlyArray<PoolEntry>
  /** The chunks of the cluster of a transaction, best first. */
  readonly cluster: (txid: string) => ReadonlyArray<Chunk>
  /** The chunk that a transaction is in. */
  readonly chunkOf: (txid: string) => Chunk | undefined
  /** All chunks, best fee rate first, so that taking them in this order never lacks a parent. */
  readonly chunks: () => ReadonlyArray<Chunk>
  /** Operations on a name (`binaryString` of its bytes) that wait for a block; all that do where it is left out. Each before what spends it. */
  readonly pending: (name?: string) => ReadonlyArray<PoolEntry>
  /** The output of a pool transaction as a coin, unspent or not, at the height of the next block. */
  readonly coin: (outpoint: string) => Coin | undefined
  readonly info: () => MempoolInfo
  /** Adds to the fee that a transaction counts with, in the pool or not yet. Returns nothing; 0 takes it back. */
  readonly prioritise: (txid: string, delta: number) => Effect.Effect<void>
  /** The deltas set so, by txid. */
  readonly prioritised: () => ReadonlyMap<string, number>
  /** A transaction of our own is to be announced until some peer asked for it. */
  readonly broadcastLater: (txid: string) => void
  readonly isUnbroadcast: (txid: string) => boolean
  /** Some peer asked for it. */
  readonly broadcastDone: (txid: string) => void
  readonly unbroadcast: () => ReadonlyArray<PoolEntry>
  readonly events: Stream.Stream<MempoolEvent>
  /** Keeps the pool on the chain. To be registered after names and wallet. */
  readonly follower: Follower
  /** Takes in what `save` kept, then counts as loaded. A damaged file costs its transactions and a line in the log. */
  readonly load: Effect.Effect<void, StorageFailure>
  /** Writes the pool to its file and returns the path. */
  readonly save: Effect.Effect<string, StorageFailure>
}>() {}

