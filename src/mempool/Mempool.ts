import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Chain } from "../chain/Chain.ts"
import { ChainCoins } from "../chain/ChainCoins.ts"
import type { HeaderTree } from "../chain/index/HeaderTree.ts"
import type { Follower } from "../chain/write/Follower.ts"
import type { Coin } from "../consensus/view.ts"
import { displayHash } from "../protocol/bytes.ts"
import type { NameKey, OutpointKey, TxidKey, WtxidKey } from "../protocol/keys.ts"
import { outpointKey, type Transaction } from "../protocol/transaction.ts"
import { type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { makeAdmission } from "./admission.ts"
import type { TransactionRejected } from "./errors.ts"
import { RollingFee } from "./fees/RollingFee.ts"
import type { GraphChunk } from "./graph/TxGraph.ts"
import { type ImportOptions, importPool, loadPool, savePool } from "./persistence.ts"
import { takesChild } from "./policy/children.ts"
import { DEFAULT_POLICY, type Policy } from "./policy/Policy.ts"
import { fitsCluster } from "./policy/replacement.ts"
import { Pool } from "./Pool.ts"
import type { MempoolEvent, PoolEntry } from "./PoolEntry.ts"
import { makePoolFollower } from "./PoolFollower.ts"
import { recordNews, recordRejected, recordRejectedOf } from "./recordPool.ts"
import type { PackageResult, Trial } from "./Trial.ts"

export type { PackageOutcome, PackageResult, Trial } from "./Trial.ts"

/** Transactions mined together, with one common fee rate: each needs all before it or none. */
export interface MempoolChunk {
  /** Parents before children. */
  readonly entries: ReadonlyArray<PoolEntry>
  /** Modified fees, smallest units. */
  readonly fee: number
  readonly weight: number
}

/** Figures of the pool. */
export interface MempoolInfo {
  /** Whether the transactions of the last run are loaded. */
  readonly loaded: boolean
  readonly size: number
  /** Virtual bytes. */
  readonly bytes: number
  /** Bytes that count against `maxUsage`. */
  readonly usage: number
  /** Smallest units. */
  readonly totalFee: number
  /** Bytes of memory. */
  readonly maxUsage: number
  /** The lowest fee rate accepted now, smallest units per kvB. */
  readonly minFeeRate: number
  /** Smallest units per kvB. */
  readonly minRelayFeeRate: number
  readonly incrementalFeeRate: number
  /** Own transactions that no peer has requested yet. */
  readonly unbroadcast: number
  /** Acceptances and removals so far. */
  readonly sequence: number
  /** Counts fee changes by `prioritise`, too: as long as it is the same, so is the next block. */
  readonly changes: number
}

/**
 * The transactions that wait for a block: valid on top of the tip, paying enough, and without conflicts
 * (reference/protocol.md 5.5, 5.6). They are identified by `txidKey`, their txid in wire order with one character per
 * byte.
 */
export class Mempool extends Context.Tag("svcd/Mempool")<Mempool, {
  readonly accept: (
    transaction: Transaction
  ) => Effect.Effect<PoolEntry, TransactionRejected | StorageFailure>
  /** Checks transactions as if offered one after the other, without adding any. */
  readonly test: (
    transactions: ReadonlyArray<Transaction>
  ) => Effect.Effect<ReadonlyArray<Trial>, StorageFailure>
  /**
   * Offers a child with its sorted parents, for which it may pay if they would be refused alone. A fee rate above
   * `maxFeeRate` (smallest units per kvB) is refused as a mistake.
   */
  readonly submit: (
    transactions: ReadonlyArray<Transaction>,
    maxFeeRate?: number
  ) => Effect.Effect<PackageResult, StorageFailure>
  readonly get: (txid: TxidKey) => PoolEntry | undefined
  readonly getByWtxid: (wtxid: WtxidKey) => PoolEntry | undefined
  /** In order of arrival. */
  readonly entries: () => Iterable<PoolEntry>
  readonly spender: (outpoint: OutpointKey) => PoolEntry | undefined
  /** Relatives of a transaction in the pool, without itself; parents before children. */
  readonly ancestors: (txid: TxidKey) => ReadonlyArray<PoolEntry>
  readonly descendants: (txid: TxidKey) => ReadonlyArray<PoolEntry>
  readonly parents: (txid: TxidKey) => ReadonlyArray<PoolEntry>
  readonly children: (txid: TxidKey) => ReadonlyArray<PoolEntry>
  /** The chunks of the cluster of a transaction, best first. */
  readonly cluster: (txid: TxidKey) => ReadonlyArray<MempoolChunk>
  readonly chunkOf: (txid: TxidKey) => MempoolChunk | undefined
  /** All chunks, best fee rate first, which puts parents before children. */
  readonly chunks: () => ReadonlyArray<MempoolChunk>
  /** Unconfirmed operations on a name, or on all names; parents before children. */
  readonly pending: (name?: NameKey) => ReadonlyArray<PoolEntry>
  /** The output of a pool transaction as a coin at the height of the next block, spent or not. */
  readonly coin: (outpoint: OutpointKey) => Coin | undefined
  /**
   * Whether a new transaction of a version may spend outputs of a parent, as far as the parent decides: rules on
   * version 3 and dust (`policy/truc.ts`, `policy/dust.ts`). True for a parent outside of the pool.
   */
  readonly takesChild: (parent: TxidKey, version: number) => boolean
  /** Whether the cluster that a transaction would join, without those it replaces, is within the limits. */
  readonly fitsCluster: (draft: Pick<PoolEntry, "transaction" | "weight">) => boolean
  readonly info: () => MempoolInfo
  readonly policy: Policy
  /**
   * Adds to the modified fee of a transaction, even one outside of the pool. Returns false, without a change, if the
   * sum of its deltas would exceed `MAX_MONEY` either way.
   */
  readonly prioritise: (txid: TxidKey, delta: number) => Effect.Effect<boolean>
  /** The deltas of `prioritise` by txid. */
  readonly prioritised: () => ReadonlyMap<TxidKey, number>
  /** Announces an own transaction until some peer requests it. */
  readonly broadcastLater: (txid: TxidKey) => void
  /** Announces a transaction to peers that do not know it yet. */
  readonly announceAgain: (txid: TxidKey) => Effect.Effect<void>
  /** Calls the listener with each transaction of `announceAgain`, until the scope ends. */
  readonly whenOffered: (listener: (entry: PoolEntry) => void) => Effect.Effect<void, never, Scope.Scope>
  readonly isUnbroadcast: (txid: TxidKey) => boolean
  /** Ends the announcements, as some peer has requested it. */
  readonly broadcastDone: (txid: TxidKey) => void
  readonly unbroadcast: () => ReadonlyArray<PoolEntry>
  readonly events: Stream.Stream<MempoolEvent>
  /**
   * Calls the listener with each event before the causing call returns, until the scope ends, so that wallets know a
   * transaction as soon as its sender has the answer. The tip is fixed meanwhile; the listener must not change the
   * pool.
   */
  readonly listen: (listener: MempoolListener) => Effect.Effect<void, never, Scope.Scope>
  /** Keeps the pool on the chain. Called after all other followers. */
  readonly follower: Follower
  /** Loads what `save` wrote; then the pool counts as loaded. A damaged file is logged and its content lost. */
  readonly load: Effect.Effect<void, StorageFailure>
  /** Writes the pool to its file and returns the path. */
  readonly save: Effect.Effect<string, StorageFailure>
  /** Offers the transactions of a file by `save` or by the reference node. Fails for an unusable file. */
  readonly importFrom: (file: string, options: ImportOptions) => Effect.Effect<void, StorageFailure>
}>() {}

export type MempoolListener = (event: MempoolEvent) => Effect.Effect<void>

export interface MempoolOptions {
  /** Absolute path of the file of the pool; `undefined` for none. */
  readonly filename: string | undefined
  /** Whether the pool survives a restart. Otherwise only `save` writes the file. */
  readonly keep?: boolean
  /** Bytes of memory. */
  readonly maxUsage?: number
  /** Whether a `ScriptBook` keeps the transactions by script as well, in the same memory. */
  readonly hasScripts?: boolean
  /** Hours until a waiting transaction expires. */
  readonly expiryHours?: number
  /** Overrides of `DEFAULT_POLICY`. */
  readonly policy?: Partial<Policy>
}

/** Defaults (policy; reference/protocol.md 5.5). */
const MAX_USAGE = 300_000_000
const EXPIRY_HOURS = 336

/** Events kept for a slow listener, which misses older ones. */
const EVENT_BACKLOG = 4_096

const said = (event: MempoolEvent): Effect.Effect<void> => {
  const { fee, transaction, vsize } = event.entry
  const txid = displayHash(transaction.txid)
  const line = event._tag === "Added"
    ? Effect.logDebug("transaction accepted", { txid, fee, vsize })
    : Effect.logDebug("transaction removed", { txid, reason: event.reason })
  return Effect.annotateLogs(line, "subsystem", "mempool")
}

/** Keeps a listener in a set until the scope ends. */
const memberOf = <A>(set: Set<A>, listener: A): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => void set.add(listener)),
    () => Effect.sync(() => void set.delete(listener))
  )

const poolReads = (pool: Pool, policy: Policy, tree: HeaderTree) => {
  const chunk = ({ fee, keys, weight }: GraphChunk<TxidKey>): MempoolChunk => ({
    entries: keys.flatMap((key) => pool.get(key) ?? []),
    fee,
    weight
  })

  const chunkOf = (txid: TxidKey): MempoolChunk | undefined => {
    const found = pool.graph.chunkOf(txid)
    return found === undefined ? undefined : chunk(found)
  }

  return {
    get: (txid) => pool.get(txid),
    getByWtxid: (wtxid) => pool.getByWtxid(wtxid),
    entries: () => pool.entries(),
    spender: (outpoint) => pool.spender(outpoint),
    ancestors: (txid) => pool.inOrder(pool.graph.ancestors(txid)),
    descendants: (txid) => pool.inOrder(pool.graph.descendants(txid)),
    parents: (txid) => pool.inOrder(pool.graph.parents(txid)),
    children: (txid) => pool.inOrder(pool.graph.children(txid)),
    cluster: (txid) => pool.graph.chunksOf(txid).map(chunk),
    chunkOf,
    chunks: () => pool.graph.chunks().map(chunk),
    pending: (name) => pool.pending(name),
    coin: (outpoint) => pool.coin(outpoint, tree.height(tree.tip()) + 1),
    takesChild: (txid, version) => {
      const parent = pool.get(txid)
      return parent === undefined || takesChild(pool, parent, { policy, version })
    },
    fitsCluster: (draft) => {
      const conflicts = draft.transaction.inputs.flatMap(({ prevout }) => pool.spender(outpointKey(prevout)) ?? [])
      const without = pool.withDescendants(conflicts.map(({ transaction }) => transaction.txidKey))
      return fitsCluster(pool, draft, { without, limits: policy.cluster })
    }
  } satisfies Partial<Context.Tag.Service<Mempool>>
}

const make = (
  options: MempoolOptions
): Effect.Effect<Context.Tag.Service<Mempool>, never, Chain | ChainCoins | Scope.Scope> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const chainCoins = yield* ChainCoins
    const clock = yield* Effect.clock
    const now = (): number => Math.floor(clock.unsafeCurrentTimeMillis() / 1000)
    const { expiryHours = EXPIRY_HOURS, filename, keep = true, maxUsage = MAX_USAGE } = options
    const policy: Policy = { ...DEFAULT_POLICY, ...options.policy }
    const pool = new Pool(options.hasScripts)
    const rolling = new RollingFee(policy.incrementalFeeRate)
    const expiry = expiryHours * 3600
    const admission = makeAdmission({ pool, rolling, params: chain.params, policy, maxUsage, expiry, now })
    const events = yield* PubSub.sliding<MempoolEvent>(EVENT_BACKLOG)
    const listeners = new Set<MempoolListener>()
    const offers = new Set<(entry: PoolEntry) => void>()
    let loaded = false

    const heard = (event: MempoolEvent): Effect.Effect<void> =>
      Effect.zipRight(said(event), Effect.forEach(listeners, (listener) => listener(event), { discard: true }))

    const tell = Effect.suspend(() => {
      const news = pool.takeNews()
      if (news.length === 0) return Effect.void
      recordNews(news)
      return Effect.zipRight(PubSub.publishAll(events, news), Effect.forEach(news, heard, { discard: true }))
    })

    /** Changes the pool while the tip is fixed and no check runs, and publishes the events. */
    const changing = <A>(change: () => A): Effect.Effect<A> =>
      // A chain that cannot be stored ends the node.
      Effect.catchAll(chainCoins.atTip(() => Effect.zipLeft(Effect.sync(change), tell)), () => Effect.interrupt)

    const admit = (transaction: Transaction, time: number) =>
      chainCoins.atTip((state) =>
        Effect.ensuring(admission.admit(state, transaction, { origin: "offered", time }), tell)
      ).pipe(
        Effect.tapErrorTag("TransactionRejected", recordRejected)
      )

    const loading = (file: string) => ({ filename: file, pool, admit, changing, now: now(), notBefore: now() - expiry })

    const load = Effect.gen(function*() {
      if (filename !== undefined && keep) yield* loadPool(loading(filename))
      loaded = true
    }).pipe(Effect.withSpan("svcd.mempool.load"))

    const save: Effect.Effect<string, StorageFailure> = filename === undefined
      ? new StorageUnavailable({ file: "mempool.dat", doing: "writing", reason: "the pool is kept in memory only" })
      : savePool(filename, pool).pipe(Effect.withSpan("svcd.mempool.save"))

    // Until the load is done, the file has transactions that the pool lacks.
    yield* Effect.addFinalizer(() =>
      !loaded || !keep || filename === undefined ? Effect.void : Effect.catchAll(
        save,
        (failure) => Effect.logError("mempool could not be saved at shutdown", { reason: failure.message })
      )
    )
    const tidy = Effect.delay(changing(admission.tidy), "10 minutes")
    yield* Effect.forkScoped(Effect.annotateLogs(Effect.forever(tidy), "subsystem", "mempool"))

    const service: Context.Tag.Service<Mempool> = {
      accept: (transaction) =>
        Effect.suspend(() => admit(transaction, now())).pipe(Effect.withSpan("svcd.mempool.accept")),
      test: (transactions) =>
        chainCoins.atTip((state) => admission.test(state, transactions)).pipe(
          Effect.withSpan("svcd.mempool.test", { attributes: { transactions: transactions.length } })
        ),
      submit: (transactions, maxFeeRate) =>
        chainCoins.atTip((state) => Effect.ensuring(admission.submit(state, transactions, maxFeeRate), tell)).pipe(
          Effect.tap(recordRejectedOf),
          Effect.withSpan("svcd.mempool.submit", { attributes: { transactions: transactions.length } })
        ),
      ...poolReads(pool, policy, chain.tree),
      policy,
      info: () => {
        const asked = admission.poolFeeRate()
        return {
          loaded,
          size: pool.size,
          bytes: pool.bytes,
          usage: pool.usage,
          totalFee: pool.totalFee,
          maxUsage,
          minFeeRate: Math.max(asked, policy.minRelayFeeRate),
          minRelayFeeRate: policy.minRelayFeeRate,
          incrementalFeeRate: policy.incrementalFeeRate,
          unbroadcast: pool.unbroadcast.size,
          sequence: pool.sequence,
          changes: pool.changes
        }
      },
      importFrom: (file, options) =>
        Effect.suspend(() => importPool(loading(file), options)).pipe(Effect.withSpan("svcd.mempool.import")),
      prioritise: (txid, delta) => changing(() => pool.prioritise(txid, delta)),
      prioritised: () => pool.deltas,
      broadcastLater: (txid) => {
        if (pool.has(txid)) pool.unbroadcast.add(txid)
      },
      announceAgain: (txid) =>
        Effect.sync(() => {
          const entry = pool.get(txid)
          if (entry !== undefined) { for (const listener of offers) listener(entry) }
        }),
      whenOffered: (listener) => memberOf(offers, listener),
      isUnbroadcast: (txid) => pool.unbroadcast.has(txid),
      broadcastDone: (txid) => void pool.unbroadcast.delete(txid),
      unbroadcast: () => pool.inOrder(pool.unbroadcast),
      events: Stream.fromPubSub(events),
      listen: (listener) => memberOf(listeners, listener),
      follower: makePoolFollower({ chain, chainCoins, pool, rolling, admission, policy, now, tell }),
      load,
      save
    }
    return service
  })

/** The mempool on a chain. The node registers its follower and calls `load`. */
export const layer = (options: MempoolOptions): Layer.Layer<Mempool, never, Chain | ChainCoins> =>
  Layer.scoped(Mempool, make(options))
