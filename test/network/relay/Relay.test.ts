import { assert, describe } from "@effect/vitest"
import { Clock, Effect } from "effect"
import type { RejectionKind } from "../../../src/mempool/errors.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import { binaryString, displayHash, toHex } from "../../../src/protocol/bytes.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { receive } from "../../support/receive.ts"
import { simulated } from "../../support/simulated.ts"
import { type FakePeer, fakePeer, itemsOf, ofType } from "./fakePeer.ts"
import {
  announcedTo,
  connect,
  first,
  inv,
  type Node,
  pass,
  said,
  second,
  settle,
  tx,
  type Verdict,
  withRelay,
  wtx
} from "./relayNode.ts"
import { coinOf, spend } from "./spends.ts"

const sendTx = ({ relay }: Node, peer: FakePeer, transaction: Transaction) =>
  Effect.zipRight(receive(relay, peer, { type: "tx", transaction }), settle)

const askedOf = (peer: FakePeer) => said(itemsOf(peer.take(), "getdata"))

describe("transaction requests", () => {
  simulated(
    "a transaction is requested from its announcer, accepted, and announced to the other peers",
    () =>
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
      )
  )

  simulated(
    "an inbound peer is asked later, and the next one after a minute",
    () =>
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
      )
  )

  simulated(
    "announcements are processed in the negotiated form, and requests ask for witnesses if the peer has them",
    () =>
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
      )
  )

  simulated("a request has at most 1000 items", () =>
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

  simulated(
    "with blocksOnly only peers with relay may send transactions; all get them, and no fee filter",
    () =>
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
      )
  )

  for (const type of ["block-relay-only", "feeler"] as const) {
    simulated(
      `a ${type} connection ends when it delivers transactions`,
      () =>
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
        )
    )
  }

  simulated(
    "announcements and transactions are ignored during initial download",
    () =>
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
      )
  )
})

describe("transaction validation", () => {
  const refusing = (kind: RejectionKind): Verdict => () => ({ kind, reason: "for the test" })

  simulated(
    "an invalid transaction has no penalty, and is validated once until the next block",
    () =>
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
        }), refusing("consensus"))
  )

  simulated(
    "a transaction from two peers at the same time is validated once",
    () =>
      withRelay((node) =>
        Effect.gen(function*() {
          const [peer, other] = [fakePeer(), fakePeer()]
          yield* connect(node, peer, other)
          const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
          yield* Effect.all([sendTx(node, peer, first), sendTx(node, other, first)], { concurrency: 2 })
          assert.lengthOf(node.judged, 1)
          const times = [peer, other].map((each) => node.relay.relayOf(each).lastTransaction)
          assert.sameMembers(times, [now, 0], "the first one, whichever that is")
        })
      )
  )

  const parent = spend({ seed: 3 })
  const child = spend({ seed: 4, of: [coinOf(parent)] })
  const grandchild = spend({ seed: 5, of: [coinOf(child)] })

  simulated("the parents of an orphan are requested, and then the orphans are accepted", () =>
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

  simulated(
    "a confirmed transaction is not requested, until its block is disconnected",
    () =>
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
      )
  )
})

describe("transactionFor", () => {
  simulated(
    "a peer gets transactions that existed at its last announcement",
    () =>
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
      )
  )

  simulated("every peer gets the transactions of the last block", () =>
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

describe("a disconnected peer", () => {
  simulated(
    "a disconnected peer gets no requests and no announcements",
    () =>
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
      )
  )
})
