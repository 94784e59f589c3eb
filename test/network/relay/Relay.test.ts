import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, PubSub, Stream, TestClock } from "effect"
import * as Scheduler from "../../../src/base/Scheduler.ts"
import { turnOfEventLoop } from "../../../src/base/turnOfEventLoop.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainEvent } from "../../../src/chain/ChainEvent.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { type RejectionKind, TransactionRejected } from "../../../src/mempool/errors.ts"
import type { MempoolEvent } from "../../../src/mempool/PoolEntry.ts"
import { BloomFilter } from "../../../src/network/relay/BloomFilter.ts"
import * as Relay from "../../../src/network/relay/Relay.ts"
import { type InventoryItem, ItemType } from "../../../src/network/wire/messages/inv.ts"
import { decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { binaryString, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import type { TxidKey } from "../../../src/protocol/keys.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { noTree } from "../../support/noTree.ts"
import { receive } from "../../support/receive.ts"
import { type FakePeer, fakePeer, itemsOf, ofType } from "./fakePeer.ts"
import { FakePool, mempoolWith } from "./fakePool.ts"
import { seeded } from "./random.ts"
import { coinOf, spend } from "./spends.ts"

/** The mempool's verdict on a transaction; `undefined` accepts it. */
type Verdict = (transaction: Transaction) => { readonly kind: RejectionKind; readonly reason: string } | undefined

interface Node {
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

/** Lets the relay's fibers run until they wait. */
const settle = Effect.repeatN(turnOfEventLoop, 30)

const pass = (time: `${number} ${"seconds" | "minutes"}`) => Effect.zipRight(TestClock.adjust(time), settle)

/** Runs a test with a relay on a mempool that uses `verdict`. */
const withRelay = <A, E>(
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
      events: Stream.fromPubSub(chainEvents),
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

const wtx = ({ wtxid }: Transaction): InventoryItem => ({ type: ItemType.wtx, hash: wtxid })

const tx = ({ txid }: Transaction): InventoryItem => ({ type: ItemType.tx, hash: txid })

const inv = (...items: ReadonlyArray<InventoryItem>) => ({ type: "inv", items }) as const

const sendTx = ({ relay }: Node, peer: FakePeer, transaction: Transaction) =>
  Effect.zipRight(receive(relay, peer, { type: "tx", transaction }), settle)

/** Items as text, for comparison. */
const said = (items: ReadonlyArray<InventoryItem>): ReadonlyArray<string> =>
  items.map(({ hash, type }) => `${type} ${toHex(hash)}`)

const announcedTo = (peer: FakePeer) => said(itemsOf(peer.take(), "inv"))

const askedOf = (peer: FakePeer) => said(itemsOf(peer.take(), "getdata"))

const connect = ({ relay }: Node, ...peers: ReadonlyArray<FakePeer>) => Effect.forEach(peers, relay.connected)

const [first, second] = [spend({ seed: 1, witness: [Uint8Array.of(1)] }), spend({ seed: 2 })]

describe("transaction requests", () => {
  it.effect("a transaction is requested from its announcer, accepted, and announced to the other peers", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const [from, other, inbound] = [fakePeer(), fakePeer(), fakePeer({ type: "inbound" })]
        yield* connect(node, from, other, inbound)
        yield* receive(node.relay, from, inv(wtx(first)))
        assert.deepStrictEqual(askedOf(from), said([wtx(first)]))
        yield* sendTx(node, from, first)
        assert.deepStrictEqual(node.judged, [displayHash(first.txid)])
        yield* pass("30 seconds")
        for (const peer of [other, inbound]) assert.deepStrictEqual(announcedTo(peer), said([wtx(first)]))
        assert.deepStrictEqual(announcedTo(from), [])
        assert.isAtLeast(node.relay.relayOf(other).lastSequence, 2)
        const lines = (yield* node.log).filter((line) => line.includes("transaction relayed"))
        assert.deepStrictEqual(lines, [
          `INFO "transaction relayed" {"txid":"${displayHash(first.txid)}"} subsystem=mempool`
        ])
      })
    ))

  it.effect("an inbound peer is asked later, and the next one after a minute", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const [slow, next] = [fakePeer(), fakePeer({ type: "inbound" })]
        yield* connect(node, slow, next)
        yield* receive(node.relay, next, inv(wtx(first)))
        assert.deepStrictEqual(askedOf(next), [])
        yield* receive(node.relay, slow, inv(wtx(first)))
        assert.deepStrictEqual(askedOf(slow), said([wtx(first)]))
        yield* pass("59 seconds")
        assert.deepStrictEqual(askedOf(next), [])
        yield* pass("2 seconds")
        assert.deepStrictEqual(askedOf(next), said([wtx(first)]))
        yield* receive(node.relay, next, { type: "notfound", items: [wtx(first)] })
        yield* pass("2 seconds")
        assert.deepStrictEqual([...askedOf(slow), ...askedOf(next)], [])
      })
    ))

  it.effect("announcements are processed in the negotiated form, and requests ask for witnesses if the peer has them", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const old = { wtxidRelay: false, commonVersion: 70_015 }
        const [byWtxid, byTxid] = [fakePeer(), fakePeer({ hello: old })]
        const bare = fakePeer({ hello: { ...old, services: 1n } })
        yield* connect(node, byWtxid, byTxid, bare)
        yield* receive(node.relay, byWtxid, inv(tx(first)))
        yield* receive(node.relay, byTxid, inv(wtx(first)))
        yield* pass("10 seconds")
        assert.deepStrictEqual([...askedOf(byWtxid), ...askedOf(byTxid)], [])
        yield* receive(node.relay, byTxid, inv(tx(first)))
        yield* receive(node.relay, bare, inv(tx(second)))
        yield* pass("3 seconds")
        assert.deepStrictEqual(askedOf(byTxid), said([{ type: ItemType.witnessTx, hash: first.txid }]))
        assert.deepStrictEqual(askedOf(bare), said([tx(second)]))
      })
    ))

  it.effect("a request has at most 1000 items", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer()
        yield* connect(node, peer)
        peer.take()
        const items = Array.from({ length: 1001 }, (_, seed) => wtx(spend({ seed })))
        yield* receive(node.relay, peer, inv(...items))
        assert.deepStrictEqual(ofType(peer.take(), "getdata").map(({ items }) => items.length), [1000, 1])
      })
    ))

  it.effect("with blocksOnly only peers with relay may send transactions; all get them, and no fee filter", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          const [announcing, sending, trusted] = [fakePeer(), fakePeer(), fakePeer({ permissions: ["relay"] })]
          yield* connect(node, announcing, sending, trusted)
          yield* receive(node.relay, announcing, inv(wtx(first)))
          yield* receive(node.relay, sending, { type: "tx", transaction: first })
          assert.isFalse(announcing.disconnection()?.misbehaving)
          assert.isFalse(sending.disconnection()?.misbehaving)
          assert.deepStrictEqual(node.judged, [])
          yield* sendTx(node, trusted, first)
          assert.lengthOf(node.judged, 1)
          yield* node.submit(second)
          yield* pass("30 seconds")
          const heard = trusted.take()
          assert.deepStrictEqual(said(itemsOf(heard, "inv")), said([wtx(second)]))
          assert.lengthOf(ofType(heard, "feefilter"), 0)
        }),
      undefined,
      { blocksOnly: true }
    ))

  for (const type of ["block-relay-only", "feeler"] as const) {
    it.effect(`a ${type} connection ends when it delivers transactions`, () =>
      withRelay((node) =>
        Effect.gen(function*() {
          const [announcing, sending, quiet] = [fakePeer({ type }), fakePeer({ type }), fakePeer({ type })]
          yield* connect(node, announcing, sending, quiet)
          yield* receive(node.relay, announcing, inv(wtx(first)))
          yield* receive(node.relay, sending, { type: "tx", transaction: first })
          yield* receive(node.relay, quiet, inv({ type: ItemType.block, hash: first.txid }))
          yield* node.submit(second)
          yield* pass("30 seconds")
          assert.isFalse(announcing.disconnection()?.misbehaving)
          assert.isFalse(sending.disconnection()?.misbehaving)
          assert.isUndefined(quiet.disconnection())
          assert.deepStrictEqual(announcedTo(quiet), [])
          assert.deepStrictEqual(node.judged, [])
        })
      ))
  }

  it.effect("announcements and transactions are ignored during initial download", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer()
        node.initialDownload.value = true
        yield* connect(node, peer)
        yield* receive(node.relay, peer, inv(wtx(first)))
        yield* sendTx(node, peer, second)
        yield* pass("10 seconds")
        assert.deepStrictEqual(askedOf(peer), [])
        assert.deepStrictEqual(node.judged, [])
        assert.isUndefined(peer.disconnection())
        node.initialDownload.value = false
        yield* receive(node.relay, peer, inv(wtx(first)))
        assert.deepStrictEqual(askedOf(peer), said([wtx(first)]))
      })
    ))
})

describe("a maximum-length inventory", () => {
  /** Items that count reads of their hashes. */
  const counted = (count: number) => {
    const looks = { count: 0 }
    const items = Array.from({ length: count }, (_, i): InventoryItem => {
      const hash = new Uint8Array(32)
      new DataView(hash.buffer).setUint32(0, i)
      return {
        type: ItemType.wtx,
        get hash() {
          looks.count += 1
          return hash
        }
      }
    })
    return { items, looks }
  }

  it.effect("an inventory is not processed during initial download", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer()
        node.initialDownload.value = true
        yield* connect(node, peer)
        const { items, looks } = counted(50_000)
        yield* receive(node.relay, peer, inv(...items))
        assert.strictEqual(looks.count, 0)
      })
    ))

  it.effect("an inventory is processed up to the announcement limit, and not again while that is reached", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound" })
        yield* connect(node, peer)
        const { items, looks } = counted(50_000)
        yield* receive(node.relay, peer, inv(...items))
        assert.isAtLeast(looks.count, 5_000)
        assert.isAtMost(looks.count, 2 * 5_000)
        looks.count = 0
        yield* receive(node.relay, peer, inv(...items.slice(20_000)))
        assert.strictEqual(looks.count, 0)
      })
    ))

  it.effect("a peer with relay may announce any number of transactions", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound", permissions: ["relay"] })
        yield* connect(node, peer)
        const { items, looks } = counted(12_000)
        yield* receive(node.relay, peer, inv(...items))
        assert.isAtLeast(looks.count, 12_000)
      })
    ))

  it.effect("an inventory is not processed beyond the limit even if all items are known", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound" })
        yield* connect(node, peer)
        yield* node.submit(first)
        const { items, looks } = counted(1)
        const known = Array.from({ length: 5_000 }, () => wtx(first))
        yield* receive(node.relay, peer, inv(...known, ...items))
        assert.strictEqual(looks.count, 0)
        yield* receive(node.relay, peer, inv(...known.slice(1), ...items))
        assert.isAbove(looks.count, 0)
      })
    ))

  it.effect("other fibers get a turn every thousand items", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound" })
        yield* connect(node, peer)
        let turns = 0
        const { items } = counted(5_000)
        const counting = Effect.forever(Effect.zipRight(turnOfEventLoop, Effect.sync(() => void (turns += 1))))
        yield* Effect.raceFirst(receive(node.relay, peer, inv(...items)), counting)
        assert.isAtLeast(turns, 3)
      })
    ))
})

describe("transaction validation", () => {
  const refusing = (kind: RejectionKind): Verdict => () => ({ kind, reason: "for the test" })

  it.effect("an invalid transaction has no penalty, and is validated once until the next block", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const [peer, other] = [fakePeer(), fakePeer()]
        yield* connect(node, peer, other)
        yield* sendTx(node, peer, first)
        yield* sendTx(node, other, first)
        assert.lengthOf(node.judged, 1)
        assert.isUndefined(peer.disconnection())
        yield* node.connectBlock([])
        yield* sendTx(node, other, first)
        assert.lengthOf(node.judged, 2)
      }), refusing("consensus")))

  it.effect("a transaction from two peers at the same time is validated once", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const [peer, other] = [fakePeer(), fakePeer()]
        yield* connect(node, peer, other)
        yield* TestClock.setTime(5_000)
        yield* Effect.all([sendTx(node, peer, first), sendTx(node, other, first)], { concurrency: 2 })
        assert.lengthOf(node.judged, 1)
        assert.deepStrictEqual([peer, other].map((each) => node.relay.relayOf(each).lastTransaction), [5, 0])
      })
    ))

  const parent = spend({ seed: 3 })
  const child = spend({ seed: 4, of: [coinOf(parent)] })
  const grandchild = spend({ seed: 5, of: [coinOf(child)] })

  it.effect("the parents of an orphan are requested, and then the orphans are accepted", () =>
    Effect.suspend(() => {
      const there = new Set<string>()
      const verdict: Verdict = ({ inputs, txidKey }) => {
        const missing = txidKey !== parent.txidKey &&
          inputs.some(({ prevout }) => !there.has(binaryString(prevout.subarray(0, 32))))
        if (!missing) there.add(txidKey)
        return missing ? { kind: "missing-inputs", reason: "bad-txns-inputs-missingorspent" } : undefined
      }
      return withRelay((node) =>
        Effect.gen(function*() {
          const peer = fakePeer()
          yield* connect(node, peer)
          yield* sendTx(node, peer, grandchild)
          yield* sendTx(node, peer, child)
          yield* pass("3 seconds")
          // The grandchild's parent has arrived as an orphan: only that orphan's parent is requested.
          const asked = askedOf(peer)
          assert.include(asked, `${ItemType.witnessTx} ${toHex(parent.txid)}`)
          yield* sendTx(node, peer, parent)
          yield* settle
          assert.deepStrictEqual([...node.pool.byTxid.keys()], [parent, child, grandchild].map((each) => each.txidKey))
        }), verdict)
    }))

  it.effect("a confirmed transaction is not requested, until its block is disconnected", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer()
        yield* connect(node, peer)
        yield* node.connectBlock([first])
        yield* receive(node.relay, peer, inv(wtx(first)))
        assert.deepStrictEqual(askedOf(peer), [])
        yield* node.disconnectBlock
        yield* receive(node.relay, peer, inv(wtx(first)))
        assert.deepStrictEqual(askedOf(peer), said([wtx(first)]))
      })
    ))
})

describe("transaction announcements", () => {
  it.effect("transactions are announced by the peer's hash type, above its fee filter", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const [byWtxid, byTxid] = [fakePeer(), fakePeer({ hello: { wtxidRelay: false } })]
        const dear = fakePeer({ features: { feeFilter: 200_000 } })
        const none = fakePeer({ hello: { relay: false } })
        yield* connect(node, byWtxid, byTxid, dear, none)
        yield* node.submit(first)
        yield* node.submit(second, 300_000)
        assert.strictEqual(node.relay.relayOf(byWtxid).toAnnounce, 2)
        assert.strictEqual(node.relay.relayOf(none).toAnnounce, 0)
        yield* pass("60 seconds")
        assert.deepStrictEqual(announcedTo(byWtxid), said([wtx(second), wtx(first)]))
        assert.deepStrictEqual(announcedTo(byTxid), said([tx(second), tx(first)]))
        assert.deepStrictEqual(announcedTo(dear), said([wtx(second)]))
        assert.deepStrictEqual(announcedTo(none), [])
        assert.strictEqual(node.relay.relayOf(byWtxid).toAnnounce, 0)
      })
    ))

  it.effect("a removed transaction is not announced", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer()
        yield* connect(node, peer)
        yield* node.submit(first)
        yield* node.remove(first)
        yield* pass("60 seconds")
        assert.deepStrictEqual(announcedTo(peer), [])
        assert.notInclude((yield* node.log).join(), "relayed")
      })
    ))

  it.effect("all inbound peers get announcements at the same time", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peers = Array.from({ length: 5 }, () => fakePeer({ type: "inbound" }))
        yield* connect(node, ...peers)
        for (const peer of peers) peer.take()
        for (let seed = 10; seed < 30; seed++) {
          yield* node.submit(spend({ seed }))
          yield* pass("1 seconds")
          assert.lengthOf(new Set(peers.map((peer) => peer.take().length > 0)), 1)
        }
      })
    ))

  it.effect("a new peer that we called gets own transactions announced until one peer has requested them", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          yield* pass("60 seconds")
          const [early, caller, late, latest] = [fakePeer(), fakePeer({ type: "inbound" }), fakePeer(), fakePeer()]
          yield* connect(node, early)
          yield* pass("30 seconds")
          assert.deepStrictEqual(announcedTo(early), said([wtx(first)]))
          yield* connect(node, caller, late)
          yield* pass("30 seconds")
          assert.deepStrictEqual(announcedTo(late), said([wtx(first)]))
          assert.deepStrictEqual(announcedTo(caller), [], "it would know that they are our own")
          assert.strictEqual(node.relay.transactionFor(late, wtx(first)), first)
          assert.strictEqual(node.unbroadcast.size, 0)
          yield* connect(node, latest)
          yield* pass("30 seconds")
          assert.deepStrictEqual(announcedTo(latest), [])
          assert.lengthOf((yield* node.log).filter((line) => line.includes("transaction relayed")), 1)
        }),
      undefined,
      { before: [first] }
    ))

  it.effect("the scheduler can be hurried to announce it again", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          const caller = fakePeer({ type: "inbound" })
          yield* connect(node, caller)
          yield* pass("60 seconds")
          assert.deepStrictEqual(announcedTo(caller), [])
          yield* node.scheduler.forward("16 minutes")
          yield* pass("60 seconds")
          assert.deepStrictEqual(announcedTo(caller), said([wtx(first)]))
        }),
      undefined,
      { before: [first] }
    ))

  it.effect("an own transaction that no peer requested is announced again after ten to fifteen minutes", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          const dear = fakePeer({ features: { feeFilter: 200_000 } })
          yield* connect(node, dear)
          node.unbroadcast.add(first.txidKey)
          yield* node.submit(first)
          yield* pass("60 seconds")
          assert.deepStrictEqual(announcedTo(dear), [])
          dear.features.feeFilter = 0
          yield* pass("8 minutes")
          assert.deepStrictEqual(announcedTo(dear), [])
          yield* pass("7 minutes")
          assert.deepStrictEqual(announcedTo(dear), said([wtx(first)]))
        }),
      undefined,
      { interval: 10_000 }
    ))
})

describe("permitted peers", () => {
  it.effect("a peer with noban gets announcements at the next tick, and is asked like an outbound peer", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peers = [fakePeer({ type: "inbound", permissions: ["noban"] }), fakePeer({ type: "inbound" })] as const
        yield* connect(node, ...peers)
        for (let seed = 10; seed < 14; seed++) {
          const transaction = spend({ seed })
          yield* node.submit(transaction)
          yield* TestClock.adjust("500 millis")
          yield* settle
          assert.deepStrictEqual(announcedTo(peers[0]), said([wtx(transaction)]))
          peers[0].take()
        }
        yield* receive(node.relay, peers[0], inv(wtx(second)))
        assert.deepStrictEqual(itemsOf(peers[0].take(), "getdata").length, 1)
        yield* receive(node.relay, peers[1], inv(wtx(first)))
        assert.deepStrictEqual(itemsOf(peers[1].take(), "getdata").length, 0)
      })
    ))

  it.effect("a known transaction of a peer with forcerelay is announced again, and the peer has no fee filter", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const gateway = fakePeer({ type: "inbound", permissions: ["forcerelay", "relay"] })
        const plain = fakePeer({ type: "inbound" })
        yield* node.submit(first)
        yield* connect(node, gateway, plain)
        assert.deepStrictEqual(ofType(gateway.sent, "feefilter"), [])
        const other = fakePeer()
        yield* pass("60 seconds")
        yield* connect(node, other)
        yield* receive(node.relay, plain, { type: "tx", transaction: first })
        yield* pass("60 seconds")
        assert.deepStrictEqual(announcedTo(other), [])
        yield* receive(node.relay, gateway, { type: "tx", transaction: first })
        yield* pass("60 seconds")
        assert.deepStrictEqual(announcedTo(other), said([wtx(first)]))
        assert.deepStrictEqual(announcedTo(gateway), [])
      })
    ))

  it.effect("a peer with mempool gets all transactions announced that it pays for, others are disconnected", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        yield* node.submit(first)
        yield* node.submit(second, 300_000)
        const asking = fakePeer({ type: "inbound", permissions: ["mempool"] })
        const poor = fakePeer({ type: "inbound", permissions: ["mempool"], features: { feeFilter: 200_000 } })
        const [trusted, plain] = [fakePeer({ permissions: ["noban"] }), fakePeer({ type: "inbound" })]
        yield* connect(node, asking, poor, trusted, plain)
        yield* pass("60 seconds")
        for (const peer of [asking, poor, trusted]) peer.take()
        for (const peer of [asking, poor, trusted, plain]) yield* receive(node.relay, peer, { type: "mempool" })
        yield* pass("60 seconds")
        assert.sameDeepMembers([...announcedTo(asking)], [...said([wtx(second), wtx(first)])])
        assert.deepStrictEqual(announcedTo(poor), said([wtx(second)]))
        assert.deepStrictEqual([trusted, plain].map((peer) => peer.disconnection()?.reason), [
          undefined,
          "unsupported: the peer requests the mempool"
        ])
        assert.strictEqual(node.relay.transactionFor(asking, wtx(first)), first)
      })
    ))
})

describe("bloom filters", () => {
  it.effect("a peer hears only of what its filter matches, also from the mempool", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          const bloom = new BloomFilter({ filter: new Uint8Array(64), hashFunctions: 9, tweak: 0, flags: 0 })
          bloom.add(first.txid)
          const peer = fakePeer({ type: "inbound", features: { bloom } })
          const late = fakePeer({ type: "inbound", features: { relay: false } })
          yield* connect(node, peer, late)
          yield* node.submit(first)
          yield* node.submit(second)
          yield* pass("60 seconds")
          assert.deepStrictEqual(announcedTo(peer), said([wtx(first)]))
          assert.deepStrictEqual(announcedTo(late), [])
          late.features.bloom = bloom
          late.features.relay = true
          yield* receive(node.relay, late, { type: "mempool" })
          yield* pass("60 seconds")
          assert.deepStrictEqual(announcedTo(late), said([wtx(first)]))
        }),
      undefined,
      { bloom: true }
    ))

  it.effect("a reached upload target ends requests for the mempool, but not of peers with the permission", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          const [peer, trusted] = [fakePeer({ type: "inbound" }), fakePeer({ permissions: ["mempool"] })]
          yield* connect(node, peer, trusted)
          for (const each of [peer, trusted]) yield* receive(node.relay, each, { type: "mempool" })
          assert.deepStrictEqual([peer, trusted].map((each) => each.disconnection()?.reason), [
            "upload target reached: the peer requests the mempool",
            undefined
          ])
        }),
      undefined,
      { bloom: true, upload: { isReached: () => true } }
    ))
})

describe("transactionFor", () => {
  it.effect("a peer gets transactions that existed at its last announcement", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer()
        yield* connect(node, peer)
        yield* pass("30 seconds")
        yield* node.submit(first)
        assert.isUndefined(node.relay.transactionFor(peer, wtx(first)))
        yield* pass("30 seconds")
        assert.strictEqual(node.relay.transactionFor(peer, wtx(first)), first)
        assert.strictEqual(node.relay.transactionFor(peer, tx(first)), first)
        assert.strictEqual(
          node.relay.transactionFor(peer, { type: ItemType.witnessTx, hash: first.txid }),
          first
        )
        assert.isUndefined(node.relay.transactionFor(peer, { type: ItemType.tx, hash: first.wtxid }))
        assert.isUndefined(node.relay.transactionFor(fakePeer(), wtx(first)))
      })
    ))

  it.effect("every peer gets the transactions of the last block", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer()
        yield* connect(node, peer)
        yield* node.connectBlock([first])
        assert.strictEqual(node.relay.transactionFor(peer, wtx(first)), first)
        assert.strictEqual(node.relay.transactionFor(peer, tx(first)), first)
        yield* node.connectBlock([second])
        assert.isUndefined(node.relay.transactionFor(peer, wtx(first)))
        yield* node.connectBlock([first], true)
        assert.isUndefined(node.relay.transactionFor(peer, wtx(first)))
      })
    ))
})

describe("the fee filter", () => {
  const rates = (peer: FakePeer) => ofType(peer.take(), "feefilter").map(({ feeRate }) => feeRate)

  it.effect("the fee filter is sent to peers that support it, as soon as they connect", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peers = [
          fakePeer(),
          fakePeer({ hello: { commonVersion: 110_013 } }),
          fakePeer({ hello: { commonVersion: 110_012 } }),
          fakePeer({ type: "block-relay-only" })
        ]
        yield* connect(node, ...peers)
        assert.deepStrictEqual(peers.map(rates), [[100_000], [100_000], [], []])
      })
    ))

  it.effect("the fee filter refuses all transactions during initial download, and fewer after it", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        node.initialDownload.value = true
        const peer = fakePeer()
        yield* connect(node, peer)
        assert.isAbove(rates(peer)[0] ?? 0, 9_000_000)
        node.initialDownload.value = false
        yield* pass("1 seconds")
        assert.deepStrictEqual(rates(peer), [100_000])
      })
    ))

  it.effect("the fee filter follows the mempool minimum", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          const peer = fakePeer()
          yield* connect(node, peer)
          peer.take()
          node.fees.min = 1_000_000
          yield* pass("6 minutes")
          const [rate = 0] = rates(peer)
          assert.isAbove(rate, 900_000)
          assert.isBelow(rate, 1_100_000)
        }),
      undefined,
      { interval: 10_000 }
    ))
})

describe("a disconnected peer", () => {
  it.effect("a disconnected peer gets no requests and no announcements", () =>
    withRelay((node) =>
      Effect.gen(function*() {
        const peer = fakePeer({ type: "inbound" })
        yield* connect(node, peer)
        yield* receive(node.relay, peer, inv(wtx(first)))
        yield* node.relay.gone(peer)
        yield* node.submit(second)
        peer.take()
        yield* pass("60 seconds")
        assert.deepStrictEqual(peer.take(), [])
        assert.deepStrictEqual(node.relay.relayOf(peer), { toAnnounce: 0, lastSequence: 0, lastTransaction: 0 })
      })
    ))
})
