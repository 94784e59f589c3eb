import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import * as NodeClock from "../../../src/base/NodeClock.ts"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { makeCompactBlock } from "../../../src/network/wire/compactBlock.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import { type Block, decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { equal, toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually, settled } from "../../support/eventually.ts"
import { receive } from "../../support/receive.ts"
import { minimalAuxpow } from "../../support/regtest.ts"
import { allBlocks, firstOf } from "../../support/twoBranches.ts"
import { ServedBlocks } from "./fakePeers.ts"
import { greedyBlock, grow, headersOf, network, onTop, recentChain, test } from "./syncing.ts"

describe("SyncManager", () => {
  test("headers are synced first from one peer, and each block is requested once", ({ connect, manager, status, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(600)
      assert.isTrue(yield* status.syncing)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      yield* eventually("the sync is complete", Effect.map(status.syncing, (syncing) => !syncing))
      assert.deepStrictEqual(
        [...peer.askedBlocks].sort(),
        allBlocks(source).slice(1).map(({ hash }) => toHex(hash)).sort()
      )
      const order = peer.sent.map(({ type }) => type)
      assert.isBelow(order.indexOf("getheaders"), order.indexOf("getdata"))
      assert.isAtMost(peer.got("getheaders").length, 3)
      assert.deepStrictEqual(peer.got("sendcmpct")[0], { type: "sendcmpct", highBandwidth: false, version: 2n })
      assert.lengthOf(peer.got("sendheaders"), 1)
      yield* until(
        "the sync state is complete",
        () => manager.syncOf(peer).syncedBlocks === 600 || manager.syncOf(peer).syncedHeaders === 600
      )
      assert.deepStrictEqual(manager.syncOf(peer).inFlight, [])
      assert.isAbove(manager.syncOf(peer).lastBlock, 0)
      assert.isUndefined(peer.disconnection)
    }))

  test("the tip is reached from three peers, of which one stalls and one sends mutated blocks and is dropped", ({ connect, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(400)
      const served = new ServedBlocks(allBlocks(source))
      const other = decodeBlock(source.blockAt(7).bytes)
      const alter = (block: Block): Block => makeBlock(block, other.transactions)
      yield* connect(served, { serve: () => undefined })
      const liar = yield* connect(served, { serve: alter })
      yield* connect(served)
      yield* untilTip(source.tip)
      if (liar.askedBlocks.length > 0) {
        yield* until("the liar is dropped", () => liar.disconnection?.misbehaving === true)
        assert.match(liar.disconnection?.reason ?? "", /^invalid block: bad-txnmrklroot$/)
      }
    }))

  test("the best valid chain stays if a longer one is invalid, and the peer with that chain is dropped", ({ chain, connect, until, untilTip }) =>
    Effect.gen(function*() {
      const common = recentChain(19)
      const greedy = greedyBlock(common)
      const longer = [...allBlocks(common), greedy, ...onTop(greedy, 20, 10)]
      const good = firstOf(common, 19)
      for (let i = 0; i < 6; i++) grow(good, 3)
      const bad = yield* connect(new ServedBlocks(longer), { type: "outbound-full-relay" })
      const honest = yield* connect(new ServedBlocks(allBlocks(good)))
      yield* untilTip(good.tip)
      yield* until("the peer is dropped", () => bad.disconnection?.misbehaving === true)
      assert.isUndefined(honest.disconnection)
      // A peer that offers that chain again is disconnected for its headers.
      const again = yield* connect(new ServedBlocks(longer), { type: "outbound-full-relay" })
      yield* until("the second peer is dropped", () => again.disconnection?.misbehaving === true)
      assert.deepStrictEqual(again.askedBlocks, [])
      assert.isTrue(equal((yield* chain.tip).hash, good.tip.hash))
      // An inbound peer may not know better.
      const caller = yield* connect(new ServedBlocks(longer), { type: "inbound" })
      yield* until("the peer was asked", () => caller.got("getheaders").length > 0)
      yield* settled("nothing more is sent", () => caller.sent.length)
      assert.isUndefined(caller.disconnection)
      assert.deepStrictEqual(caller.askedBlocks, [])
    }))

  test("the header of an unwanted block is kept, so that a later block can build on it", ({ connect, manager, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(10)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      const branch = firstOf(source, 8)
      const [first, second, third] = [grow(branch, 6), grow(branch, 6), grow(branch, 6)]
      peer.served.extend([first, second, third])
      for (const block of [first, second]) {
        const start = { type: "block" as const, header: block, transactions: 1 }
        if (yield* manager.screened?.(peer, start) ?? Effect.succeed(false)) {
          yield* receive(manager, peer, { type: "block", block })
        }
      }
      yield* receive(manager, peer, headersOf([third]))
      yield* untilTip(third)
      assert.isUndefined(peer.disconnection)
    }))

  test("a peer is dropped for headers without work, with an invalid proof, or out of order", ({ connect, manager, until }) =>
    Effect.gen(function*() {
      const source = recentChain(3)
      const [, first, second] = allBlocks(source)
      if (first === undefined || second === undefined) throw new Error("the chain is too short")
      const { header } = first
      const parts = {
        version: header.version,
        prevHash: header.prevHash,
        merkleRoot: header.merkleRoot,
        bits: header.bits,
        time: header.time
      }
      let idle = makeHeader({ ...parts, nonce: 0 })
      for (let nonce = 1; (idle.hash[31] ?? 0) < 0x80; nonce++) idle = makeHeader({ ...parts, nonce })
      const merged = makeHeader({ ...parts, version: header.version | 0x100, nonce: 0 })
      const stranger = minimalAuxpow(makeHeader({ ...parts, version: header.version | 0x100, nonce: 1 }))
      const cases = [
        [[{ header: idle, auxpow: undefined }], /high-hash/],
        [[{ header: merged, auxpow: stranger }], /high-hash/],
        [[second, first], /do not follow/],
        [[{ header: makeHeader({ ...parts, bits: 0x1d00ffff, nonce: 0 }), auxpow: undefined }], /high-hash/]
      ] as const
      for (const [headers, reason] of cases) {
        const peer = yield* connect(new ServedBlocks([source.blockAt(0)]))
        yield* until("the peer was asked", () => peer.got("getheaders").length > 0)
        yield* receive(manager, peer, { type: "headers", headers: [...headers] })
        yield* until(`the peer is dropped for ${reason}`, () => peer.disconnection !== undefined)
        assert.match(peer.disconnection?.reason ?? "", reason)
        assert.isTrue(peer.disconnection?.misbehaving)
      }
    }))

  test("headers that do not connect lead to a request", ({ connect, manager, until }) =>
    Effect.gen(function*() {
      const source = recentChain(4)
      const peer = yield* connect(new ServedBlocks([source.blockAt(0)]))
      yield* until("the peer was asked", () => peer.got("getheaders").length === 1)
      yield* settled("nothing more is sent", () => peer.sent.length)
      for (let i = 0; i < 3; i++) yield* receive(manager, peer, headersOf([source.blockAt(4)]))
      yield* until("the missing headers are requested", () => peer.got("getheaders").length >= 2)
      assert.isUndefined(peer.disconnection)
    }))

  for (const way of ["inv", "headers", "cmpctblock"] as const) {
    test(`a new block that a peer announces by ${way} is downloaded at once`, ({ connect, manager, untilTip }) =>
      Effect.gen(function*() {
        const source = recentChain(10)
        const served = new ServedBlocks(allBlocks(source))
        const peer = yield* connect(served)
        yield* untilTip(source.tip)
        for (let i = 0; i < 3; i++) {
          const block = grow(source)
          served.extend([block])
          if (way === "inv") {
            yield* receive(manager, peer, { type: "inv", items: [{ type: ItemType.block, hash: block.hash }] })
          } else if (way === "headers") yield* receive(manager, peer, headersOf([block]))
          else yield* receive(manager, peer, makeCompactBlock(block, 5n))
          const [took] = yield* Effect.timed(untilTip(block))
          assert.isBelow(Duration.toMillis(took), 2_000)
          if (way === "cmpctblock") assert.notInclude(peer.askedBlocks, toHex(block.hash))
        }
        assert.isUndefined(peer.disconnection)
      }))
  }

  test("a reorg there and back is followed, and announced to other peers", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const trunk = recentChain(20)
      const branch = firstOf(trunk, 16)
      for (let i = 0; i < 6; i++) grow(branch, 4)
      const served = new ServedBlocks(allBlocks(trunk))
      // This peer lacks the tip. Peers that know it get no announcement.
      const behind = yield* connect(new ServedBlocks(allBlocks(trunk).slice(0, -1)))
      yield* until("the peer's chain is known", () => manager.syncOf(behind).syncedHeaders === 19)
      const peer = yield* connect(served)
      yield* untilTip(trunk.tip)
      yield* until(
        "the tip is announced",
        () => behind.got("inv").some(({ items }) => [...items].some(({ hash }) => equal(hash, trunk.tip.hash)))
      )
      const listener = yield* connect(new ServedBlocks(allBlocks(trunk)))
      const byHeaders = yield* connect(new ServedBlocks(allBlocks(trunk)))
      byHeaders.features.sendHeaders = true
      yield* until("the headers are known", () => manager.syncOf(byHeaders).syncedHeaders === 20)
      const fresh = allBlocks(branch).slice(17)
      served.extend(fresh)
      yield* receive(manager, peer, headersOf(fresh))
      yield* untilTip(branch.tip)
      yield* until(
        "the tip is announced by its hash",
        () => listener.got("inv").some(({ items }) => [...items].some(({ hash }) => equal(hash, branch.tip.hash)))
      )
      yield* until("the branch is announced by headers", () => byHeaders.got("headers").length > 0)
      assert.isTrue(
        byHeaders.got("headers").some(({ headers }) =>
          headers.some(({ header }) => equal(header.hash, branch.tip.hash))
        )
      )
      assert.lengthOf(peer.got("inv"), 0)
      for (let i = 0; i < 4; i++) grow(trunk, 5)
      served.extend(allBlocks(trunk).slice(17))
      yield* receive(manager, peer, { type: "inv", items: [{ type: ItemType.block, hash: trunk.tip.hash }] })
      yield* untilTip(trunk.tip)
    }))

  it.scopedLive("the sync continues after a restart, and requests nothing twice", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const source = recentChain(120)
      const blocks = allBlocks(source)
      const served = new ServedBlocks(blocks)
      const first = yield* network(directory, ({ connect, untilTip }) =>
        Effect.gen(function*() {
          const peer = yield* connect(served, { serve: (block, height) => height > 50 ? undefined : block })
          yield* untilTip(source.blockAt(50))
          return peer
        }))
      assert.isAtLeast(first.askedBlocks.length, 50)
      yield* network(directory, ({ chain, connect, untilTip }) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* chain.progress).headers, 120)
          const peer = yield* connect(served)
          yield* untilTip(source.tip)
          assert.deepStrictEqual(
            [...peer.askedBlocks].sort(),
            blocks.slice(51).map(({ hash }) => toHex(hash)).sort()
          )
        }))
    }), 30_000)

  test("the operator fetches a block from a peer, in place of other requests", ({ chain, connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(12)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      const branch = grow(firstOf(source, 10), 6)
      peer.served.extend([branch])
      yield* receive(manager, peer, headersOf([branch]))
      yield* until("the header is known", () => chain.tree.find(branch.hash) !== NO_HEADER)
      const id = chain.tree.find(branch.hash)
      assert.isFalse(chain.tree.hasBlock(id))
      const old = yield* connect(new ServedBlocks(allBlocks(source)), { services: 1n })
      yield* until("the old peer is known", () => manager.syncOf(old).syncedHeaders >= 0)
      assert.strictEqual(yield* manager.fetch(peerId(99), id), "no peer")
      assert.strictEqual(yield* manager.fetch(old.id, id), "no witnesses")
      assert.strictEqual(yield* manager.fetch(peer.id, id), "asked")
      yield* until("the block is stored", () => chain.tree.hasBlock(id))
    }))

  test("blocks in flight from a disconnected silent peer are requested from another one", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(60)
      const served = new ServedBlocks(allBlocks(source))
      const silent = yield* connect(served, { serve: () => undefined })
      yield* until("blocks are in flight", () => manager.syncOf(silent).inFlight.length > 0)
      silent.disconnect({ reason: "disconnected", misbehaving: false })
      yield* until("the peer is removed", () => manager.syncOf(silent).syncedHeaders === -1)
      yield* connect(served)
      yield* untilTip(source.tip)
      assert.isFalse(manager.staleTip())
    }))

  it.scopedLive(
    "after a defect the loop handles the remaining events, and lost blocks are requested again",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const source = recentChain(12)
        const latch = yield* Effect.makeLatch(true)
        let [headerDefects, deliveryDefects] = [0, 1]
        yield* network(directory, ({ connect, manager, until, untilTip }) =>
          Effect.gen(function*() {
            const peer = yield* connect(new ServedBlocks(allBlocks(source)))
            yield* untilTip(source.tip)
            assert.isAtMost(deliveryDefects, 0)
            yield* until("the peer is known", () => manager.syncOf(peer).syncedHeaders === 12)
            const next = grow(source)
            yield* latch.close
            headerDefects = 2
            yield* Effect.fork(receive(manager, peer, headersOf([source.blockAt(12)])))
            yield* turnOfEventLoop
            yield* Effect.fork(receive(manager, peer, headersOf([source.blockAt(12)])))
            yield* Effect.fork(receive(manager, peer, { type: "block", block: next }))
            yield* latch.open
            yield* untilTip(next)
            assert.strictEqual(headerDefects, 0)
          }), {
          altered: (chain) => ({
            ...chain,
            sink: {
              ...chain.sink,
              acceptHeaders: (headers) =>
                Effect.suspend(() =>
                  headerDefects > 0
                    ? Effect.zipRight(latch.await, Effect.suspend(() => Effect.dieMessage(`defect ${headerDefects--}`)))
                    : chain.sink.acceptHeaders(headers)
                ),
              deliver: (blocks, bulk) =>
                deliveryDefects-- > 0 ? Effect.dieMessage("a defect") : chain.sink.deliver(blocks, bulk)
            }
          })
        })
      }),
    30_000
  )

  it.scopedLive("a ping is settled when the blocks before it are in the chain", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const source = recentChain(12)
      const latch = yield* Effect.makeLatch(true)
      yield* network(directory, ({ chain, connect, manager, untilTip }) =>
        Effect.gen(function*() {
          const peer = yield* connect(new ServedBlocks(allBlocks(source)))
          yield* untilTip(source.tip)
          const settled = manager.settled ?? (() => assert.fail("pings wait for nothing"))
          yield* settled(peer)
          const next = grow(source)
          yield* latch.close
          yield* receive(manager, peer, { type: "block", block: next })
          let answered = false
          const other = yield* connect(new ServedBlocks(allBlocks(source).slice(0, 13)))
          const waiting = yield* Effect.fork(Effect.map(settled(peer), () => void (answered = true)))
          yield* settled(other)
          assert.isFalse(answered)
          yield* latch.open
          yield* Fiber.join(waiting)
          assert.isTrue(equal(chain.tree.hash(chain.tree.tip()), next.hash))
        }), {
        altered: (chain) => ({
          ...chain,
          sink: {
            ...chain.sink,
            deliver: (blocks, bulk) => Effect.zipRight(latch.await, chain.sink.deliver(blocks, bulk))
          }
        })
      })
    }), 30_000)

  it.scopedLive("the timeouts of peers follow a set time", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const source = recentChain(12)
      const mock = yield* NodeClock.MockTime
      yield* network(directory, ({ connect, manager, until, untilTip }) =>
        Effect.gen(function*() {
          const peer = yield* connect(new ServedBlocks(allBlocks(source)))
          yield* untilTip(source.tip)
          yield* until("nothing is in flight", () => manager.syncOf(peer).inFlight.length === 0)
          // A tick that began before may still be running.
          const { ticks } = peer
          yield* until("two ticks", () => peer.ticks >= ticks + 2)
          assert.isFalse(manager.staleTip())
          yield* mock.set(Math.floor(Date.now() / 1000) + 86_400)
          assert.isTrue(manager.staleTip())
          // Display uses the wall clock.
          const block = grow(source)
          yield* receive(manager, peer, { type: "block", block })
          yield* untilTip(block)
          yield* until("the block is recorded", () => manager.syncOf(peer).lastBlock > Date.now() / 1000 + 86_000)
          assert.isUndefined(peer.disconnection)
        }))
    }).pipe(Effect.provide(NodeClock.layer())), 30_000)

  it.scopedLive(
    "nothing is requested while the node loads, but misbehaving peers are disconnected; then the sync starts",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const source = recentChain(12)
        yield* network(directory, ({ connect, manager, status, until, untilTip }) =>
          Effect.gen(function*() {
            const peer = yield* connect(new ServedBlocks(allBlocks(source)))
            const liar = yield* connect(new ServedBlocks(allBlocks(source)))
            yield* until("the peers are known", () => peer.got("sendcmpct").length + liar.got("sendcmpct").length === 2)
            yield* receive(manager, liar, headersOf([source.blockAt(2), source.blockAt(1)]))
            yield* receive(manager, peer, headersOf(allBlocks(source).slice(1)))
            yield* until("the liar is dropped", () => liar.disconnection?.misbehaving === true)
            yield* settled("nothing more is sent", () => peer.sent.length + liar.sent.length)
            assert.deepStrictEqual([...peer.got("getheaders"), ...peer.got("getdata")], [])
            yield* status.loaded
            yield* untilTip(source.tip)
          }), { loaded: false })
      }),
    30_000
  )
})
