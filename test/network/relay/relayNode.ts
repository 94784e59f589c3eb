import { assert } from "@effect/vitest"
import { Effect, Layer, Logger, PubSub, Stream } from "effect"
import * as Scheduler from "../../../src/base/Scheduler.ts"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainEvent } from "../../../src/chain/ChainEvent.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { type RejectionKind, TransactionRejected } from "../../../src/mempool/errors.ts"
import type { MempoolEvent } from "../../../src/mempool/PoolEntry.ts"
import * as Relay from "../../../src/network/relay/Relay.ts"
import { type InventoryItem, ItemType } from "../../../src/network/wire/messages/inv.ts"
import { decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import type { TxidKey } from "../../../src/protocol/keys.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { noTree } from "../../support/noTree.ts"
import { pass as passTime } from "../../support/simulated.ts"
import { type FakePeer, itemsOf } from "./fakePeer.ts"
import { FakePool, mempoolWith } from "./fakePool.ts"
import { seeded } from "./random.ts"
import { spend } from "./spends.ts"

/** A relay on a pool in memory, and the messages of its peers. In virtual time. */

/** The mempool's verdict on a transaction; `undefined` accepts it. */
export type Verdict = (
  transaction: Transaction
) => { readonly kind: RejectionKind; readonly reason: string } | undefined

export interface Node {
  readonly relay: Relay.Relay
  readonly pool: FakePool
  readonly unbroadcast: Set<string>
  readonly scheduler: typeof Scheduler.Scheduler.Service
  readonly judged: Array<string>
  /** Adds a transaction from a source other than a peer. */
  readonly submit: (transaction: Transaction, rate?: number) => Effect.Effect<void>
  readonly remove: (transaction: Transaction) => Effect.Effect<void>
  readonly connectBlock: (transactions: ReadonlyArray<Transaction>, imported?: boolean) => Effect.Effect<void>
  readonly disconnectBlock: Effect.Effect<void>
  readonly log: Effect.Effect<ReadonlyArray<string>>
  readonly initialDownload: { value: boolean }
  readonly fees: { min: number }
}

/** Lets the relay's fibers run until they wait: before, no time passes. */
export const settle = passTime("1 millis")

export const pass = (time: `${number} ${"millis" | "seconds" | "minutes"}`) => Effect.zipRight(passTime(time), settle)

/** Runs a test with a relay on a mempool that uses `verdict`. */
export const withRelay = <A, E>(
  use: (node: Node) => Effect.Effect<A, E>,
  verdict: Verdict = () => undefined,
  { before = [], interval = 500, ...rules }: Pick<Relay.RelayOptions, "blocksOnly" | "bloom" | "upload"> & {
    /** Unbroadcast transactions before the relay started. */
    readonly before?: ReadonlyArray<Transaction>
    readonly interval?: number
  } = {}
) =>
  Effect.scoped(Effect.gen(function*() {
    const pool = new FakePool()
    const unbroadcast = new Set<TxidKey>()
    for (const transaction of before) unbroadcast.add(pool.add(transaction).transaction.txidKey)
    const judged: Array<string> = []
    const initialDownload = { value: false }
    const fees = { min: 100_000 }
    const mempoolEvents = yield* PubSub.unbounded<MempoolEvent>()
    const chainEvents = yield* PubSub.unbounded<ChainEvent>()
    let block = decodeBlock(regtestParams.network.genesisBlock)
    const submit = (transaction: Transaction, rate?: number) =>
      Effect.suspend(() =>
        PubSub.publish(mempoolEvents, { _tag: "Added", entry: pool.add(transaction, rate), sequence: 1 })
      )
    const mempool = mempoolWith({
      accept: (transaction) =>
        Effect.gen(function*() {
          judged.push(displayHash(transaction.txid))
          yield* turnOfEventLoop
          const refusal = pool.get(transaction.txidKey) === undefined
            ? verdict(transaction)
            : { kind: "conflict" as const, reason: "txn-already-in-mempool" }
          if (refusal !== undefined) {
            return yield* new TransactionRejected({ txid: displayHash(transaction.txid), ...refusal })
          }
          yield* submit(transaction)
          return pool.get(transaction.txidKey) ?? assert.fail("not added")
        }),
      get: pool.get,
      getByWtxid: pool.getByWtxid,
      entries: () => pool.byTxid.values(),
      cluster: pool.cluster,
      info: () => ({
        loaded: true,
        size: pool.byTxid.size,
        bytes: 0,
        usage: 0,
        totalFee: 0,
        maxUsage: 1,
        minFeeRate: fees.min,
        minRelayFeeRate: 100_000,
        incrementalFeeRate: 100,
        unbroadcast: unbroadcast.size,
        sequence: pool.sequence,
        changes: pool.sequence
      }),
      isUnbroadcast: (txid) => unbroadcast.has(txid),
      broadcastDone: (txid) => void unbroadcast.delete(txid),
      unbroadcast: () => [...unbroadcast].flatMap((txid) => pool.get(txid) ?? []),
      whenOffered: () => Effect.void,
      listen: (listener) =>
        Effect.asVoid(Effect.forkScoped(Stream.runForEach(Stream.fromPubSub(mempoolEvents), listener)))
    })
    const chain = Layer.mock(Chain, {
      params: regtestParams,
      tree: noTree,
      subscription: Stream.fromPubSub(chainEvents, { scoped: true }),
      block: () => Effect.succeed(block)
    })
    const status = Layer.mock(SyncStatus, { initialDownload: Effect.sync(() => initialDownload.value) })
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
      const parts = (Array.isArray(message) ? message : [message]).map((part) => JSON.stringify(part))
      const subsystem = [...annotations].map(([key, value]) => `${key}=${String(value)}`)
      lines.push([logLevel.label, ...parts, ...subsystem].join(" "))
    })
    const scheduler = yield* Effect.provide(Scheduler.Scheduler, Scheduler.layer)
    const relay = yield* Relay.make({ random: seeded(11), interval, ...rules }).pipe(
      Effect.provideService(Scheduler.Scheduler, scheduler),
      Effect.provide(Layer.mergeAll(mempool, chain, status, Logger.replace(Logger.defaultLogger, logger)))
    )
    yield* settle
    return yield* use({
      relay,
      pool,
      unbroadcast,
      scheduler,
      judged,
      submit: (transaction, rate) => Effect.zipRight(submit(transaction, rate), settle),
      remove: (transaction) =>
        Effect.suspend(() => {
          const entry = pool.remove(transaction) ?? assert.fail("not in the pool")
          return PubSub.publish(mempoolEvents, { _tag: "Removed", entry, reason: "expiry", sequence: 1 })
        }).pipe(Effect.zipRight(settle)),
      connectBlock: (transactions, imported = false) =>
        Effect.suspend(() => {
          block = makeBlock(block, transactions)
          const at = { height: 1, hash: block.hash }
          return PubSub.publish(
            chainEvents,
            ChainEvent.BlockConnected({ block: at, transactions: transactions.length, imported })
          )
        }).pipe(Effect.zipRight(settle)),
      disconnectBlock: Effect.suspend(() =>
        PubSub.publish(chainEvents, ChainEvent.BlockDisconnected({ block: { height: 1, hash: block.hash } }))
      ).pipe(Effect.zipRight(settle)),
      log: Effect.sync(() => lines),
      initialDownload,
      fees
    })
  }))

export const wtx = ({ wtxid }: Transaction): InventoryItem => ({ type: ItemType.wtx, hash: wtxid })

export const tx = ({ txid }: Transaction): InventoryItem => ({ type: ItemType.tx, hash: txid })

export const inv = (...items: ReadonlyArray<InventoryItem>) => ({ type: "inv", items }) as const

/** Items as text, for comparison. */
export const said = (items: ReadonlyArray<InventoryItem>): ReadonlyArray<string> =>
  items.map(({ hash, type }) => `${type} ${toHex(hash)}`)

export const announcedTo = (peer: FakePeer) => said(itemsOf(peer.take(), "inv"))

export const connect = ({ relay }: Node, ...peers: ReadonlyArray<FakePeer>) => Effect.forEach(peers, relay.connected)

export const [first, second] = [spend({ seed: 1, witness: [Uint8Array.of(1)] }), spend({ seed: 2 })]
