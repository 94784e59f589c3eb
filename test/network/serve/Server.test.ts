import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, TestClock } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import { Chain } from "../../../src/chain/Chain.ts"
import { BlockUnavailable } from "../../../src/chain/errors.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { BloomFilter } from "../../../src/network/relay/BloomFilter.ts"
import { encodePayload, type Message } from "../../../src/network/wire/message.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { concat, EMPTY, toHex } from "../../../src/protocol/bytes.ts"
import type { HeaderId } from "../../../src/protocol/keys.ts"
import { provenBy } from "../../../src/protocol/merkleProof.ts"
import { makeTransaction, outpoint } from "../../../src/protocol/transaction.ts"
import { testChain } from "../../support/chain.ts"
import { layer } from "../../support/layer.ts"
import { receive } from "../../support/receive.ts"
import { fakePeer, itemsOf, ofType } from "../relay/fakePeer.ts"
import { hashOf, lineOf, treeOf } from "./branches.ts"
import { servedChain, serverWith } from "./servedChain.ts"

const ZEROS = new Uint8Array(32)
const UNKNOWN = new Uint8Array(32).fill(0x11)

const payloadOf = (message: Message | undefined): string =>
  message === undefined ? "" : toHex(concat(...encodePayload(message)))

const hashAt = (height: number) => Effect.map(Chain, ({ tree }) => tree.hash(tree.at(height)).slice())

const getdata = (type: number, ...hashes: ReadonlyArray<Uint8Array>): Message => ({
  type: "getdata",
  items: hashes.map((hash) => ({ type, hash }))
})

layer(servedChain)("Server", (it) => {
  it.effect("getblocks announces 500 blocks, and the tip once the last of them was requested", () =>
    Effect.gen(function*() {
      const { tree } = yield* testChain
      const server = yield* serverWith()
      const [peer, other] = [fakePeer(), fakePeer()]
      const locator = [yield* hashAt(9)]
      yield* receive(server, peer, { type: "getblocks", version: 1, locator, stop: ZEROS })
      const items = itemsOf(peer.take(), "inv")
      assert.lengthOf(items, 500)
      assert.deepStrictEqual(items[0], { type: ItemType.block, hash: yield* hashAt(10) })
      assert.deepStrictEqual(items[499], { type: ItemType.block, hash: yield* hashAt(509) })
      const tip = [{ type: ItemType.block, hash: tree.hash(tree.tip()) }]
      const last = getdata(ItemType.witnessBlock, yield* hashAt(509))
      yield* receive(server, peer, getdata(ItemType.witnessBlock, yield* hashAt(508)))
      yield* receive(server, other, last)
      assert.deepStrictEqual([...peer.take(), ...other.take()].map(({ type }) => type), ["block", "block"])
      yield* receive(server, peer, last)
      const [block, inv] = peer.take()
      assert.strictEqual(block?.type, "block")
      assert.deepStrictEqual(inv, { type: "inv", items: tip })
      yield* receive(server, peer, last)
      assert.deepStrictEqual(peer.take().map(({ type }) => type), ["block"])
    }))

  it.effect("a node with the last blocks alone disconnects peers that ask for older ones", () =>
    Effect.gen(function*() {
      const server = yield* serverWith({ limited: () => true })
      const { tree } = yield* testChain
      const tip = tree.height(tree.tip())
      const [peer, friend] = [fakePeer(), fakePeer({ permissions: ["noban"] })]
      yield* receive(server, peer, getdata(ItemType.witnessBlock, yield* hashAt(tip - 290)))
      assert.deepStrictEqual([peer.take().length, peer.closed], [1, false])
      const old = getdata(ItemType.witnessBlock, yield* hashAt(tip - 291))
      yield* receive(server, friend, old)
      assert.deepStrictEqual([friend.take().length, friend.closed], [1, false])
      yield* receive(server, peer, old)
      assert.deepStrictEqual([peer.take().length, peer.closed], [0, true])
    }))

  it.effect("a filtered block has the proof of the matching transactions, and these; without a filter nothing is sent", () =>
    Effect.gen(function*() {
      const chain = yield* testChain
      const server = yield* serverWith()
      const hash = yield* hashAt(210)
      const block = yield* chain.block(hash)
      const last = block.transactions.at(-1) ?? assert.fail("no transaction")
      const bloom = new BloomFilter({ filter: new Uint8Array(64), hashFunctions: 9, tweak: 0, flags: 0 })
      bloom.add(last.txid)
      const [peer, plain] = [fakePeer({ features: { bloom } }), fakePeer()]
      for (const each of [peer, plain]) yield* receive(server, each, getdata(ItemType.filteredBlock, hash))
      assert.lengthOf(plain.take(), 0)
      const [proof, ...sent] = peer.take()
      if (proof?.type !== "merkleblock") return assert.fail("no merkleblock")
      assert.deepStrictEqual(proof.header.header.hash, block.hash)
      const proven = provenBy(proof)
      const positions = [block.transactions.length - 1]
      assert.deepStrictEqual(proven, { root: block.header.merkleRoot, txids: [last.txid], positions })
      assert.deepStrictEqual(ofType(sent, "tx").map(({ transaction }) => transaction.txid), [last.txid])
    }))

  it.effect("a reached upload target ends requests for filtered blocks, but not those of peers with download", () =>
    Effect.gen(function*() {
      const server = yield* serverWith({ upload: { refusesOldBlocks: () => true } })
      const [peer, trusted] = [fakePeer(), fakePeer({ permissions: ["download"] })]
      const tip = yield* hashAt(20)
      yield* receive(server, peer, getdata(ItemType.witnessBlock, tip))
      assert.deepStrictEqual(peer.take().map(({ type }) => type), ["block"])
      yield* receive(server, peer, getdata(ItemType.filteredBlock, tip))
      assert.strictEqual(peer.disconnection()?.reason, "upload target reached: the peer requests an old block")
      yield* receive(server, trusted, getdata(ItemType.filteredBlock, tip))
      assert.isUndefined(trusted.disconnection())
    }))

  it.effect("nothing is read from disk for a peer before it has read most of its queue", () =>
    Effect.gen(function*() {
      const chain = yield* testChain
      let reads = 0
      const counted = {
        ...chain,
        blockBytes: (hash: Uint8Array) =>
          Effect.suspend(() => {
            reads += 1
            return chain.blockBytes(hash)
          }),
        fullHeaders: (ids: ReadonlyArray<HeaderId>) =>
          Effect.suspend(() => {
            reads += 1
            return chain.fullHeaders(ids)
          })
      }
      const server = yield* Effect.provideService(serverWith(), Chain, counted)
      const drained = yield* Deferred.make<void>()
      const peer = { ...fakePeer(), ready: Deferred.await(drained) }
      const question: Message = { type: "getheaders", version: 1, locator: [yield* hashAt(9)], stop: ZEROS }
      const fibers = yield* Effect.forEach(
        [getdata(ItemType.witnessBlock, yield* hashAt(508)), question],
        (message) => Effect.fork(receive(server, peer, message))
      )
      for (let i = 0; i < 10; i++) yield* turnOfEventLoop
      assert.strictEqual(reads, 0)
      yield* Deferred.succeed(drained, undefined)
      for (const fiber of fibers) yield* Fiber.join(fiber)
      assert.isAbove(reads, 1)
    }))

  it.effect("other peers get answers while a peer that requested headers does not read", () =>
    Effect.gen(function*() {
      const server = yield* serverWith()
      const question: Message = { type: "getheaders", version: 1, locator: [yield* hashAt(9)], stop: ZEROS }
      const [silent, other] = [{ ...fakePeer(), send: () => Effect.never }, fakePeer()]
      const fiber = yield* Effect.fork(receive(server, silent, question))
      yield* Effect.yieldNow()
      yield* receive(server, other, question)
      assert.strictEqual(other.take()[0]?.type, "headers")
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("getblocks announces no more blocks than exist, and no tip after them", () =>
    Effect.gen(function*() {
      const server = yield* serverWith()
      const peer = fakePeer()
      yield* receive(server, peer, { type: "getblocks", version: 1, locator: [yield* hashAt(598)], stop: ZEROS })
      assert.deepStrictEqual(itemsOf(peer.take(), "inv").map(({ hash }) => toHex(hash)), [
        toHex(yield* hashAt(599)),
        toHex(yield* hashAt(600))
      ])
      yield* receive(server, peer, { type: "getblocks", version: 1, locator: [yield* hashAt(600)], stop: ZEROS })
      assert.deepStrictEqual(peer.take(), [])
      yield* receive(server, peer, getdata(ItemType.block, yield* hashAt(600)))
      assert.deepStrictEqual(peer.take().map(({ type }) => type), ["block"])
    }))

  it.effect("blocks are sent in the requested order, with turns for other peers between them", () =>
    Effect.gen(function*() {
      const chain = yield* testChain
      const server = yield* serverWith()
      const peer = fakePeer()
      const wanted = [yield* hashAt(300), yield* hashAt(2), yield* hashAt(600), yield* hashAt(0)]
      let turns = 0
      const count = (): void => {
        turns++
        handle = setImmediate(count)
      }
      let handle = setImmediate(count)
      yield* receive(server, peer, getdata(ItemType.witnessBlock, ...wanted, UNKNOWN))
      clearImmediate(handle)
      assert.isAtLeast(turns, 4)
      const bytes = yield* Effect.forEach(wanted, (hash) => chain.blockBytes(hash))
      assert.deepStrictEqual(peer.take().map(payloadOf), bytes.map(toHex))
    }))

  it.effect("witnesses are stripped for a peer that did not request them", () =>
    Effect.gen(function*() {
      const chain = yield* testChain
      const server = yield* serverWith()
      const peer = fakePeer()
      let stripped = 0
      for (let height = 500; height <= 600; height++) {
        const hash = yield* hashAt(height)
        const block = yield* chain.block(hash)
        yield* receive(server, peer, getdata(ItemType.block, hash))
        const [message] = ofType(peer.take(), "block")
        const payload = concat(...encodePayload(message ?? assert.fail("no block")))
        assert.strictEqual(payload.length, block.strippedSize)
        const read = decodeBlock(payload)
        assert.isFalse(read.transactions.some(({ hasWitness }) => hasWitness))
        assert.strictEqual(toHex(read.merkle.root), toHex(block.header.merkleRoot))
        if (block.size > block.strippedSize) stripped++
      }
      assert.isAbove(stripped, 5)
    }))

  it.effect("the last blocks are sent compact, the tip always in the same form, and older ones in full", () =>
    Effect.gen(function*() {
      const chain = yield* testChain
      yield* TestClock.setTime(1000 * (yield* chain.tip).header.time)
      let nonce = 0n
      const server = yield* serverWith({ nonce: () => ++nonce })
      const peer = fakePeer()
      const kinds: Array<string> = []
      for (const height of [600, 600, 595, 594]) {
        yield* receive(server, peer, getdata(ItemType.compactBlock, yield* hashAt(height)))
        for (const message of peer.take()) {
          kinds.push(message.type === "cmpctblock" ? `compact ${message.nonce}` : message.type)
        }
      }
      assert.deepStrictEqual(kinds, ["compact 1", "compact 1", "compact 2", "block"])
      yield* TestClock.adjust("4 hours")
      yield* receive(server, peer, getdata(ItemType.compactBlock, yield* hashAt(600)))
      assert.deepStrictEqual(peer.take().map(({ type }) => type), ["block"])
    }))

  it.effect("missing blocks, filtered blocks and unknown types get no answer", () =>
    Effect.gen(function*() {
      const server = yield* serverWith()
      const peer = fakePeer()
      const hash = yield* hashAt(3)
      yield* receive(server, peer, getdata(ItemType.block, UNKNOWN))
      yield* receive(server, peer, getdata(ItemType.filteredBlock, hash))
      yield* receive(server, peer, getdata(99, hash))
      yield* receive(server, peer, { type: "ping", nonce: 1n })
      assert.deepStrictEqual(peer.take(), [])
    }))

  it.effect("transactions of a block are sent up to ten blocks deep, otherwise the whole block", () =>
    Effect.gen(function*() {
      const chain = yield* testChain
      const server = yield* serverWith()
      const peer = fakePeer()
      for (const [height, type] of [[600, "blocktxn"], [590, "blocktxn"], [589, "block"]] as const) {
        const hash = yield* hashAt(height)
        yield* receive(server, peer, { type: "getblocktxn", hash, indexes: [0] })
        const [message] = peer.take()
        assert.strictEqual(message?.type, type)
        if (message?.type !== "blocktxn") continue
        const [coinbase] = (yield* chain.block(hash)).transactions
        assert.deepStrictEqual(message.transactions.map(({ bytes }) => toHex(bytes)), [toHex(coinbase?.bytes ?? EMPTY)])
      }
      yield* receive(server, peer, { type: "getblocktxn", hash: UNKNOWN, indexes: [0] })
      assert.deepStrictEqual(peer.take(), [])
      assert.isUndefined(peer.disconnection())
    }))

  it.effect("a transaction index beyond the end of a block is misbehaviour", () =>
    Effect.gen(function*() {
      const chain = yield* testChain
      const server = yield* serverWith()
      const hash = yield* hashAt(600)
      const { transactions } = yield* chain.block(hash)
      const [good, bad] = [fakePeer(), fakePeer()]
      yield* receive(server, good, { type: "getblocktxn", hash, indexes: [transactions.length - 1] })
      yield* receive(server, bad, { type: "getblocktxn", hash, indexes: [0, transactions.length] })
      assert.lengthOf(ofType(good.take(), "blocktxn"), 1)
      assert.deepStrictEqual(bad.take(), [])
      assert.isTrue(bad.disconnection()?.misbehaving)
    }))

  it.effect("the server waits for a peer that does not read, and stops when it disconnects", () =>
    Effect.gen(function*() {
      const server = yield* serverWith()
      const gate = yield* Deferred.make<void>()
      const peer = fakePeer({ reading: Deferred.await(gate) })
      const hashes = [yield* hashAt(1), yield* hashAt(2), yield* hashAt(3)]
      const fiber = yield* Effect.fork(receive(server, peer, getdata(ItemType.witnessBlock, ...hashes)))
      for (let i = 0; i < 10; i++) yield* turnOfEventLoop
      assert.lengthOf(peer.sent, 0)
      peer.disconnect({ reason: "test", misbehaving: false })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      assert.lengthOf(peer.sent, 1)
    }))

  it.effect("other peers get turns while headers are read", () =>
    Effect.gen(function*() {
      const server = yield* serverWith()
      const peer = fakePeer()
      let turns = 0
      const count = (): void => {
        turns++
        handle = setImmediate(count)
      }
      let handle = setImmediate(count)
      yield* receive(server, peer, { type: "getheaders", version: 1, locator: [yield* hashAt(0)], stop: ZEROS })
      clearImmediate(handle)
      assert.isAtLeast(turns, 5)
      const [message] = ofType(peer.take(), "headers")
      assert.lengthOf(message?.headers ?? [], 600)
    }))
})

describe("transactions", () => {
  const input = { prevout: outpoint(UNKNOWN, 0), scriptSig: EMPTY, sequence: 0, witness: [Uint8Array.of(1)] }
  const transaction = makeTransaction({
    version: 2,
    lockTime: 0,
    inputs: [input],
    outputs: [{ value: 1, script: Uint8Array.of(0x51) }]
  })

  const served = Layer.mock(Chain, {
    params: regtestParams,
    tree: treeOf(lineOf(3), 2),
    blockBytes: (hash) => new BlockUnavailable({ hash: toHex(hash), height: 1, pruned: false })
  }).pipe(Layer.merge(Logger.remove(Logger.defaultLogger)))

  it.effect("transactions are sent with witnesses for witness types", () =>
    Effect.gen(function*() {
      const server = yield* serverWith({ transactionFor: () => transaction })
      const peer = fakePeer()
      for (const type of [ItemType.tx, ItemType.witnessTx, ItemType.wtx]) {
        yield* receive(server, peer, getdata(type, transaction.txid))
      }
      const bare = toHex(transaction.strippedBytes())
      assert.deepStrictEqual(peer.take().map(payloadOf), [bare, toHex(transaction.bytes), toHex(transaction.bytes)])
    }).pipe(Effect.provide(served)))

  it.effect("missing transactions are reported together, before the next block is read", () =>
    Effect.gen(function*() {
      const asked: Array<number> = []
      const server = yield* serverWith({
        transactionFor: (_, { type }) => {
          asked.push(type)
          return type === ItemType.wtx ? transaction : undefined
        }
      })
      const peer = fakePeer()
      const items = [ItemType.tx, ItemType.wtx, ItemType.witnessTx, ItemType.block, ItemType.tx]
        .map((type, i) => ({ type, hash: new Uint8Array(32).fill(i) }))
      yield* receive(server, peer, { type: "getdata", items })
      assert.deepStrictEqual(asked, [ItemType.tx, ItemType.wtx, ItemType.witnessTx, ItemType.tx])
      assert.deepStrictEqual(peer.take().map(({ type }) => type), ["tx", "notfound", "notfound"])
      assert.deepStrictEqual(itemsOf(peer.sent, "notfound"), items.filter((_, i) => i === 0 || i === 2 || i === 4))
    }).pipe(Effect.provide(served)))

  for (
    const [what, peer] of [
      ["a block-relay-only peer", fakePeer({ type: "block-relay-only" })],
      ["a peer without transaction relay", fakePeer({ hello: { relay: false } })]
    ] as const
  ) {
    it.effect(`${what} gets no transactions`, () =>
      Effect.gen(function*() {
        const server = yield* serverWith({ transactionFor: () => transaction })
        yield* receive(server, peer, getdata(ItemType.wtx, transaction.wtxid))
        assert.deepStrictEqual(peer.take(), [])
      }).pipe(Effect.provide(served)))
  }

  it.effect("an unreadable block ends the connection, not as misbehaviour", () =>
    Effect.gen(function*() {
      const server = yield* serverWith()
      const peer = fakePeer()
      yield* receive(server, peer, getdata(ItemType.witnessBlock, hashOf(1), hashOf(2)))
      assert.deepStrictEqual(peer.take(), [])
      assert.deepStrictEqual(peer.disconnection(), {
        reason: "unreadable block: a requested block cannot be read",
        misbehaving: false
      })
    }).pipe(Effect.provide(served)))
})
