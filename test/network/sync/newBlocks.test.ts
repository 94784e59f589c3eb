import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { makeCompactBlock } from "../../../src/network/wire/compactBlock.ts"
import type { MessageOf } from "../../../src/network/wire/message.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import { Block, makeBlock } from "../../../src/protocol/block.ts"
import { equal, toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { headerId } from "../../../src/protocol/keys.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually, settled } from "../../support/eventually.ts"
import { type MemoryChain } from "../../support/MemoryChain.ts"
import { receive } from "../../support/receive.ts"
import { ANYONE, BLOCK_VERSION, buildBlock, currency, input, mine, minimalAuxpow } from "../../support/regtest.ts"
import { allBlocks, firstOf } from "../../support/twoBranches.ts"
import { entryOf } from "../relay/fakePool.ts"
import { ServedBlocks } from "./fakePeers.ts"
import { greedyBlock, grow, headersOf, network, onTop, recentChain, test } from "./syncing.ts"

/** A block with another chain's proof of work. */
const mergedOn = (chain: MemoryChain): Block => {
  const { header: { bits, merkleRoot, prevHash, time }, transactions } = buildBlock(chain, [], {
    time: chain.tip.header.time + 60
  })
  const header = makeHeader({ version: BLOCK_VERSION | 0x100, prevHash, merkleRoot, time, bits, nonce: 0 })
  return makeBlock({ header, auxpow: minimalAuxpow(header) }, transactions)
}

describe("SyncManager", () => {
  test("blocks of an announced branch with the work of the tip are requested from its announcer, whatever it offers", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(10)
      yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      const branch = firstOf(source, 8)
      const blocks = [1, 2, 3].map(() => grow(branch, 5))
      const [first, second, third] = blocks
      if (first === undefined || second === undefined || third === undefined) return assert.fail("three blocks")
      const other = yield* connect(new ServedBlocks(allBlocks(branch)), {
        type: "inbound",
        services: 8n,
        headers: false,
        serve: () => undefined
      })
      yield* until("the sync knows the peer", () => other.got("sendcmpct").length === 1)
      // Less work than the tip.
      yield* receive(manager, other, headersOf([first]))
      yield* settled("nothing is requested", () => other.askedBlocks.length)
      assert.deepStrictEqual(other.askedBlocks, [])
      yield* receive(manager, other, headersOf([second]))
      yield* until("two blocks are requested", () => other.askedBlocks.length === 2)
      assert.deepStrictEqual(other.askedBlocks, [first, second].map(({ hash }) => toHex(hash)))
      for (const block of [first, second]) yield* receive(manager, other, { type: "block", block })
      yield* receive(manager, other, headersOf([third]))
      yield* until("the third block is requested", () => other.askedBlocks.length === 3)
      yield* receive(manager, other, { type: "block", block: third })
      yield* untilTip(third)
    }))

  test("a block is announced to a peer by its header or as a compact block if the peer got the headers below it", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(10)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      const genesis = new ServedBlocks(allBlocks(source).slice(0, 1))
      const [asking, silent] = [
        yield* connect(genesis, { type: "inbound" }),
        yield* connect(genesis, { type: "inbound" })
      ]
      for (const listener of [asking, silent]) listener.features.compactBlocks = "high-bandwidth"
      yield* until("both were asked", () => [asking, silent].every((one) => one.got("getheaders").length > 0))
      yield* manager.served(asking, headerId(10))
      const block = grow(source)
      yield* receive(manager, peer, { type: "block", block })
      yield* untilTip(block)
      const isInv = ({ items }: MessageOf<"inv">) => [...items].some(({ hash }) => equal(hash, block.hash))
      yield* until(
        "both have it announced",
        () => asking.got("cmpctblock").length === 1 && silent.got("inv").some(isInv)
      )
      assert.isFalse(asking.got("inv").some(isInv))
      assert.deepStrictEqual(silent.got("cmpctblock"), [])
    }))

  test("a peer with a known header and an invalid proof is disconnected, and the block stays in flight from the other", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(10)
      const served = new ServedBlocks(allBlocks(source))
      const honest = yield* connect(served, { serve: (block, height) => height > 10 ? undefined : block })
      yield* untilTip(source.tip)
      const block = mergedOn(source)
      source.connect(block)
      served.extend([block])
      yield* receive(manager, honest, headersOf([block]))
      yield* until("the block is in flight", () => manager.syncOf(honest).inFlight.includes(11))
      const compact = makeCompactBlock(block, 5n)
      for (const type of ["inbound", "manual"] as const) {
        const liar = yield* connect(new ServedBlocks(allBlocks(source).slice(0, 11)), { type })
        yield* until("the peer was asked", () => liar.got("getheaders").length > 0)
        yield* receive(manager, liar, {
          ...compact,
          header: { header: block.header, auxpow: minimalAuxpow(source.blockAt(1).header) }
        })
        yield* until("the peer is dropped", () => liar.disconnection?.misbehaving === true)
        assert.strictEqual(liar.disconnection?.reason, "invalid header: high-hash")
        assert.deepStrictEqual(manager.syncOf(honest).inFlight, [11])
      }
      yield* receive(manager, honest, { type: "block", block })
      yield* untilTip(block)
      assert.lengthOf(honest.askedBlocks.filter((hash) => hash === toHex(block.hash)), 1)
      assert.isUndefined(honest.disconnection)
    }))

  test("at most three compact blocks of a peer wait for transactions", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(104)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      const spend = (height: number): Transaction => {
        const transaction = source.blockAt(height).transactions[0]
        if (transaction === undefined) throw new Error("a block has a coinbase")
        return currency([input({ transaction, vout: 0 })], [{ value: 1_000_000, script: ANYONE }])
      }
      const blocks = [1, 2, 3, 4].map((height) =>
        mine(firstOf(source, 104), [spend(height)], { time: source.tip.header.time + 60 })
      )
      for (const [i, block] of blocks.entries()) {
        yield* receive(manager, peer, makeCompactBlock(block, BigInt(i)))
        yield* until("the transaction is requested", () => peer.got("getblocktxn").length === i + 1)
      }
      assert.deepStrictEqual(manager.syncOf(peer).inFlight, [105, 105, 105])
      const [, second] = blocks
      if (second === undefined) throw new Error("there are four blocks")
      yield* receive(manager, peer, { type: "blocktxn", hash: second.hash, transactions: second.transactions.slice(1) })
      yield* untilTip(second)
      assert.isUndefined(peer.disconnection)
    }))

  test("unsolicited blocks are checked, and only a valid one moves the tip", ({ chain, connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(12)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      const orphan = onTop(onTop(source.tip, 12, 1)[0] ?? source.tip, 13, 1)[0] ?? source.tip
      for (const [block, reason] of [[greedyBlock(source), /bad-cb-amount/], [orphan, /unknown/]] as const) {
        const sender = yield* connect(new ServedBlocks(allBlocks(source)))
        yield* until("the peer is known", () => manager.syncOf(sender).syncedHeaders >= 0)
        yield* receive(manager, sender, { type: "block", block })
        yield* until("the peer is dropped", () => sender.disconnection?.misbehaving === true)
        assert.match(sender.disconnection?.reason ?? "", reason)
      }
      // Too little work to be processed.
      const low = firstOf(source, 3)
      yield* receive(manager, peer, { type: "block", block: grow(low, 7) })
      const next = grow(source)
      yield* receive(manager, peer, { type: "block", block: next })
      yield* untilTip(next)
      assert.isUndefined(peer.disconnection)
      assert.lengthOf(yield* chain.branches, 2)
    }))

  test("many unsolicited blocks in a row wait for slots, and none is lost", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(12)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      yield* until("the peer is known", () => manager.syncOf(peer).syncedHeaders === 12)
      const blocks = onTop(source.tip, 12, 30)
      for (const block of blocks) {
        const start = { type: "block" as const, header: block, transactions: 1 }
        assert.isTrue(
          yield* manager.screened?.(peer, start) ?? Effect.succeed(false),
          `${blocks.indexOf(block)} ${JSON.stringify(peer.disconnection)}`
        )
        yield* receive(manager, peer, { type: "block", block })
      }
      yield* untilTip(blocks.at(-1) ?? assert.fail("no block"))
      assert.isUndefined(peer.disconnection)
    }))

  test("the header of an unsolicited block with other transactions is not stored", ({ chain, connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(12)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      yield* until("the peer is known", () => manager.syncOf(peer).syncedHeaders === 12)
      const { auxpow, header } = grow(source)
      const { bytes, transactions } = source.blockAt(1)
      yield* receive(manager, peer, { type: "block", block: new Block({ auxpow, bytes, header, transactions }) })
      yield* until("the peer is dropped", () => peer.disconnection?.misbehaving === true)
      assert.strictEqual(chain.tree.find(header.hash), NO_HEADER)
    }))

  test("a peer that sends a new block without a request is asked for compact blocks", ({ connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(12)
      const peer = yield* connect(new ServedBlocks(allBlocks(source)))
      yield* untilTip(source.tip)
      yield* until("the peer is known", () => manager.syncOf(peer).syncedHeaders === 12)
      peer.features.compactBlocks = "low-bandwidth"
      const next = grow(source)
      yield* receive(manager, peer, { type: "block", block: next })
      yield* untilTip(next)
      yield* until("the peer is chosen", () => manager.syncOf(peer).highBandwidthTo)
    }))

  it.scopedLive(
    "a compact block is reconstructed from the mempool and the peer's transactions, and selects a high-bandwidth peer",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const source = recentChain(103)
        const spend = (height: number): Transaction => {
          const transaction = source.blockAt(height).transactions[0]
          if (transaction === undefined) throw new Error("a block has a coinbase")
          return currency([input({ transaction, vout: 0 })], [{ value: 1_000_000, script: ANYONE }])
        }
        const [pooled, unknown] = [spend(1), spend(2)]
        const entry = entryOf(pooled, 1)
        const time = source.tip.header.time + 60
        yield* network(directory, ({ connect, manager, until, untilTip }) =>
          Effect.gen(function*() {
            const served = new ServedBlocks(allBlocks(source))
            const peer = yield* connect(served)
            const liar = yield* connect(served)
            yield* untilTip(source.tip)
            for (const one of [peer, liar]) one.features.compactBlocks = "low-bandwidth"
            yield* until("the peers are known", () => manager.syncOf(liar).syncedHeaders === 103)
            const block = mine(source, [pooled, unknown], { time })
            served.extend([block])
            yield* receive(manager, peer, makeCompactBlock(block, 9n))
            yield* until("the missing transaction is requested", () => peer.got("getblocktxn").length === 1)
            assert.deepStrictEqual(peer.got("getblocktxn")[0]?.indexes, [2])
            assert.deepStrictEqual(manager.syncOf(peer).inFlight, [104])
            yield* receive(manager, peer, { type: "blocktxn", hash: block.hash, transactions: [unknown] })
            yield* untilTip(block)
            assert.notInclude(peer.askedBlocks, toHex(block.hash))
            yield* until("the peer is a high-bandwidth peer", () => manager.syncOf(peer).highBandwidthTo)
            assert.deepStrictEqual(peer.got("sendcmpct").at(-1), {
              type: "sendcmpct",
              highBandwidth: true,
              version: 2n
            })
            // Too few transactions are misbehaviour.
            const next = mine(source, [spend(3), spend(4)], { time: time + 60 })
            yield* receive(manager, liar, makeCompactBlock(next, 9n))
            yield* until("the missing transactions are requested", () => liar.got("getblocktxn").length === 1)
            yield* receive(manager, liar, { type: "blocktxn", hash: next.hash, transactions: [] })
            yield* until("the peer is dropped", () => liar.disconnection?.misbehaving === true)
            // Wrong ones are not: the whole block is requested.
            yield* receive(manager, peer, makeCompactBlock(next, 10n))
            yield* until("the transactions are requested again", () => peer.got("getblocktxn").length === 2)
            served.extend([next])
            yield* receive(manager, peer, { type: "blocktxn", hash: next.hash, transactions: [pooled, unknown] })
            yield* untilTip(next)
            assert.include(peer.askedBlocks, toHex(next.hash))
            assert.isUndefined(peer.disconnection)
          }), { pool: [entry] })
      }),
    30_000
  )

  test("new blocks are sent in compact form to peers that want it", ({ chain, connect, manager, until, untilTip }) =>
    Effect.gen(function*() {
      const source = recentChain(5)
      const served = new ServedBlocks(allBlocks(source))
      const peer = yield* connect(served)
      peer.features.compactBlocks = "high-bandwidth"
      yield* untilTip(source.tip)
      yield* until("the peer is known", () => manager.syncOf(peer).syncedHeaders === 5)
      assert.isTrue(manager.syncOf(peer).highBandwidthFrom)
      const block = grow(source)
      yield* Effect.orDie(chain.sink.submit(block))
      yield* until("the block is announced", () => peer.got("cmpctblock").length === 1)
      assert.isTrue(peer.got("cmpctblock").every(({ header }) => equal(header.header.hash, block.hash)))
      assert.deepStrictEqual(peer.got("inv"), [])
    }))

  it.scopedLive(
    "slots of unsolicited blocks are returned if their peers disconnect while the blocks wait for the loop",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporaryDirectory
        const source = recentChain(12)
        const latch = yield* Effect.makeLatch(true)
        let waits = false
        yield* network(directory, ({ connect, manager, until, untilTip }) =>
          Effect.gen(function*() {
            const peer = yield* connect(new ServedBlocks(allBlocks(source)))
            yield* untilTip(source.tip)
            yield* until("the peer is known", () => manager.syncOf(peer).syncedHeaders === 12)
            const next = grow(source)
            yield* latch.close
            waits = false
            yield* Effect.fork(receive(manager, peer, headersOf([source.blockAt(12)])))
            yield* eventually("the loop waits", () => waits)
            const inv = { type: "inv" as const, items: [{ type: ItemType.block, hash: source.blockAt(1).hash }] }
            yield* Effect.forEach(Array.from({ length: 80 }), () => Effect.fork(receive(manager, peer, inv)))
            yield* turnOfEventLoop
            const waiting = yield* Effect.forEach(
              Array.from({ length: 8 }),
              () => Effect.fork(receive(manager, peer, { type: "block", block: next }))
            )
            yield* turnOfEventLoop
            yield* Fiber.interruptAll(waiting)
            yield* latch.open
            yield* receive(manager, peer, { type: "block", block: next })
            yield* untilTip(next)
          }), {
          altered: (chain) => ({
            ...chain,
            sink: {
              ...chain.sink,
              acceptHeaders: (headers) =>
                Effect.suspend(() => {
                  waits = true
                  return Effect.zipRight(latch.await, chain.sink.acceptHeaders(headers))
                })
            }
          })
        })
      }),
    30_000
  )
})
