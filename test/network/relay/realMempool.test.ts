import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import * as Scheduler from "../../../src/base/Scheduler.ts"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import * as Relay from "../../../src/network/relay/Relay.ts"
import * as Server from "../../../src/network/serve/Server.ts"
import { type InventoryItem, ItemType } from "../../../src/network/wire/messages/inv.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { eventually } from "../../support/eventually.ts"
import { output, pay, reward, type TestNode, withNode } from "../../support/mempool.ts"
import { receive } from "../../support/receive.ts"
import { type FakePeer, fakePeer, itemsOf, ofType } from "./fakePeer.ts"

/** The relay and the server on a real chain and a real mempool. */

interface Peering {
  readonly node: TestNode
  readonly relay: Relay.Relay
  readonly server: Server.Server
}

const withRelay = <A, E>(use: (peering: Peering) => Effect.Effect<A, E, Scope.Scope>) =>
  withNode((node) =>
    Effect.gen(function*() {
      const services = Layer.mergeAll(
        Layer.succeed(Chain, node.chain),
        Layer.succeed(Mempool, node.pool),
        Scheduler.layer,
        Layer.mock(SyncStatus, { initialDownload: Effect.succeed(false) })
      )
      // Rounds follow at once with random numbers near zero.
      const relay = yield* Effect.provide(Relay.make({ random: () => 0.001, interval: 5 }), services)
      const server = yield* Effect.provide(Server.make(relay), services)
      yield* turnOfEventLoop
      return yield* use({ node, relay, server })
    })
  )

const sendTx = ({ relay }: Peering, peer: FakePeer, transaction: Transaction) =>
  receive(relay, peer, { type: "tx", transaction })

const wtx = ({ wtxid }: Transaction): InventoryItem => ({ type: ItemType.wtx, hash: wtxid })

const hashes = (peer: FakePeer, type: "inv" | "getdata"): ReadonlyArray<string> =>
  itemsOf(peer.sent, type).map(({ hash }) => toHex(hash))

describe("on a real mempool", () => {
  it.live("a transaction is relayed from one peer to the next, and to peers that request it", () =>
    withRelay((peering) =>
      Effect.gen(function*() {
        const { node, relay, server } = peering
        const [from, to] = [fakePeer(), fakePeer({ type: "inbound" })]
        yield* Effect.forEach([from, to], relay.connected)
        const transaction = pay([reward(1)])
        yield* receive(relay, from, { type: "inv", items: [wtx(transaction)] })
        assert.deepStrictEqual(hashes(from, "getdata"), [toHex(transaction.wtxid)])
        yield* sendTx(peering, from, transaction)
        assert.isTrue(node.has(transaction))
        yield* eventually("the other peer gets the announcement", () =>
          hashes(to, "inv").includes(toHex(transaction.wtxid)))
        yield* receive(server, to, { type: "getdata", items: [wtx(transaction)] })
        assert.deepStrictEqual(
          ofType(to.sent, "tx").map(({ transaction }) =>
            toHex(transaction.bytes)
          ),
          [
            toHex(transaction.bytes)
          ]
        )
        assert.isEmpty(hashes(from, "inv"))
        yield* node.mine([transaction])
        assert.isFalse(node.has(transaction))
        yield* eventually(
          "the transaction is served from the block",
          () => relay.transactionFor(to, wtx(transaction)) !== undefined
        )
      })
    ))

  it.live("orphans wait for their parents, and an invalid transaction has no penalty", () =>
    withRelay((peering) =>
      Effect.gen(function*() {
        const { node, relay } = peering
        const peer = fakePeer()
        yield* relay.connected(peer)
        const parent = pay([reward(2)])
        const child = pay([output(parent)])
        const grandchild = pay([output(child)])
        const bad = pay([reward(3)], { fee: -1_000_000 })
        yield* sendTx(peering, peer, grandchild)
        yield* sendTx(peering, peer, child)
        yield* sendTx(peering, peer, bad)
        yield* eventually("the parent is requested", () => hashes(peer, "getdata").includes(toHex(parent.txid)))
        assert.strictEqual(node.pool.info().size, 0)
        yield* sendTx(peering, peer, parent)
        yield* eventually("all three are in the mempool", () => [parent, child, grandchild].every(node.has))
        assert.isFalse(node.has(bad))
        assert.isUndefined(peer.disconnection())
      })
    ))

  it.live("a child pays for a parent that pays nothing, whichever of them arrives first", () =>
    withRelay((peering) =>
      Effect.gen(function*() {
        const { node, relay } = peering
        const peer = fakePeer()
        yield* relay.connected(peer)
        const families = [1, 2].map((height) => {
          const parent = pay([reward(height)], { fee: 0 })
          return [parent, pay([output(parent)], { fee: 1_000_000 })] as const
        })
        const [[first, payer], [last, early]] = [families[0] ?? assert.fail(), families[1] ?? assert.fail()]
        yield* sendTx(peering, peer, first)
        assert.isFalse(node.has(first))
        yield* sendTx(peering, peer, payer)
        yield* eventually("the parent is requested", () => hashes(peer, "getdata").includes(toHex(first.txid)))
        yield* sendTx(peering, peer, first)
        assert.isTrue(node.has(first) && node.has(payer))

        yield* sendTx(peering, peer, early)
        yield* sendTx(peering, peer, last)
        assert.isTrue(node.has(last) && node.has(early))
        assert.isEmpty(relay.orphans())
      })
    ))

  it.live("an own transaction is announced to the first peer, until it is requested", () =>
    withRelay(({ node, relay, server }) =>
      Effect.gen(function*() {
        const transaction = yield* node.take(pay([reward(4)]))
        node.pool.broadcastLater(transaction.txidKey)
        yield* turnOfEventLoop
        const peer = fakePeer()
        yield* relay.connected(peer)
        yield* eventually(
          "the peer gets the announcement",
          () => hashes(peer, "inv").includes(toHex(transaction.wtxid))
        )
        assert.isTrue(node.pool.isUnbroadcast(transaction.txidKey))
        yield* receive(server, peer, { type: "getdata", items: [wtx(transaction)] })
        assert.lengthOf(ofType(peer.sent, "tx"), 1)
        assert.isFalse(node.pool.isUnbroadcast(transaction.txidKey))
      })
    ))

  it.live("a transaction that is offered again is announced to a peer that came since", () =>
    withRelay(({ node, relay }) =>
      Effect.gen(function*() {
        const transaction = yield* node.take(pay([reward(5)]))
        node.pool.broadcastLater(transaction.txidKey)
        const peer = fakePeer({ type: "inbound" })
        yield* relay.connected(peer)
        yield* Effect.repeatN(turnOfEventLoop, 5)
        assert.isEmpty(hashes(peer, "inv"), "at once it would know whose transaction it is")
        yield* node.pool.announceAgain(transaction.txidKey)
        yield* eventually(
          "the peer gets the announcement",
          () => hashes(peer, "inv").includes(toHex(transaction.wtxid))
        )
      })
    ))

  it.live("the orphans of a peer are judged before its next message", () =>
    withRelay((peering) =>
      Effect.gen(function*() {
        const { node, relay } = peering
        const peer = fakePeer()
        yield* relay.connected(peer)
        const family = [pay([reward(6)])]
        for (let last = family[0]; last !== undefined && family.length < 5; last = family.at(-1)) {
          family.push(pay([output(last)]))
        }
        for (const one of family.toReversed()) yield* sendTx(peering, peer, one)
        assert.deepStrictEqual(family.map(node.has), family.map(() => true))
        assert.isEmpty(relay.orphans())
      })
    ))
})
