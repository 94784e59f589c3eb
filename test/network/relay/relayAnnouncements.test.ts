import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { BloomFilter } from "../../../src/network/relay/BloomFilter.ts"
import { receive } from "../../support/receive.ts"
import { simulated } from "../../support/simulated.ts"
import { type FakePeer, fakePeer, itemsOf, ofType } from "./fakePeer.ts"
import { announcedTo, connect, first, inv, pass, said, second, tx, withRelay, wtx } from "./relayNode.ts"
import { spend } from "./spends.ts"

describe("transaction announcements", () => {
  simulated(
    "transactions are announced by the peer's hash type, above its fee filter",
    () =>
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
      )
  )

  simulated("a removed transaction is not announced", () =>
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

  simulated("all inbound peers get announcements at the same time", () =>
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

  simulated(
    "a new peer that we called gets own transactions announced until one peer has requested them",
    () =>
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
      )
  )

  simulated("the scheduler can be hurried to announce it again", () =>
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

  simulated("own transactions that no peer requested are announced again after ten to fifteen minutes", () =>
    withRelay(
      (node) =>
        Effect.gen(function*() {
          const dear = fakePeer({ features: { feeFilter: 200_000 } })
          yield* connect(node, dear)
          for (const own of [first, second]) {
            node.unbroadcast.add(own.txidKey)
            yield* node.submit(own)
          }
          yield* pass("60 seconds")
          assert.deepStrictEqual(announcedTo(dear), [])
          dear.features.feeFilter = 0
          yield* pass("8 minutes")
          assert.deepStrictEqual(announcedTo(dear), [])
          yield* pass("7 minutes")
          assert.deepStrictEqual(announcedTo(dear), said([wtx(first), wtx(second)]))
        }),
      undefined,
      { interval: 10_000 }
    ))
})

describe("permitted peers", () => {
  simulated(
    "a peer with noban gets announcements at the next tick, and is asked like an outbound peer",
    () =>
      withRelay((node) =>
        Effect.gen(function*() {
          const peers = [fakePeer({ type: "inbound", permissions: ["noban"] }), fakePeer({ type: "inbound" })] as const
          yield* connect(node, ...peers)
          for (let seed = 10; seed < 14; seed++) {
            const transaction = spend({ seed })
            yield* node.submit(transaction)
            yield* pass("500 millis")
            assert.deepStrictEqual(announcedTo(peers[0]), said([wtx(transaction)]))
            peers[0].take()
          }
          yield* receive(node.relay, peers[0], inv(wtx(second)))
          assert.deepStrictEqual(itemsOf(peers[0].take(), "getdata").length, 1)
          yield* receive(node.relay, peers[1], inv(wtx(first)))
          assert.deepStrictEqual(itemsOf(peers[1].take(), "getdata").length, 0)
        })
      )
  )

  simulated(
    "a known transaction of a peer with forcerelay is announced again, and the peer has no fee filter",
    () =>
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
      )
  )

  simulated(
    "a peer with mempool gets all transactions announced that it pays for, others are disconnected",
    () =>
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
      )
  )
})

describe("bloom filters", () => {
  simulated("a peer hears only of what its filter matches, even from the mempool", () =>
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

  simulated(
    "a reached upload target ends requests for the mempool, but not of peers with the permission",
    () =>
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
      )
  )
})

describe("the fee filter", () => {
  const rates = (peer: FakePeer) => ofType(peer.take(), "feefilter").map(({ feeRate }) => feeRate)

  simulated(
    "the fee filter is sent to peers that support it, as soon as they connect",
    () =>
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
      )
  )

  simulated(
    "the fee filter refuses all transactions during initial download, and fewer after it",
    () =>
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
      )
  )

  simulated("the fee filter follows the mempool minimum", () =>
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
