import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Logger } from "effect"
import * as NodeClock from "../../../src/base/NodeClock.ts"
import { turnOfEventLoop } from "../../../src/base/turnOfEventLoop.ts"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { PoolEntry } from "../../../src/mempool/PoolEntry.ts"
import * as SyncManager from "../../../src/network/sync/SyncManager.ts"
import { makeCompactBlock } from "../../../src/network/wire/compactBlock.ts"
import type { MessageOf } from "../../../src/network/wire/message.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"
import { Block, decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { displayHash, equal, toHex } from "../../../src/protocol/bytes.ts"
import { makeHeader } from "../../../src/protocol/header.ts"
import { headerId, peerId } from "../../../src/protocol/keys.ts"
import { Op } from "../../../src/protocol/script.ts"
import type { Transaction } from "../../../src/protocol/transaction.ts"
import { chainLayer, servicesOf, temporaryDirectory, type TestChain, testChain } from "../../support/chain.ts"
import { eventually, settled } from "../../support/eventually.ts"
import { MemoryChain, trustScripts } from "../../support/MemoryChain.ts"
import { receive } from "../../support/receive.ts"
import {
  ANYONE,
  BLOCK_VERSION,
  buildBlock,
  currency,
  emptyChild,
  input,
  makeCoinbase,
  mine,
  minimalAuxpow
} from "../../support/regtest.ts"
import { allBlocks, firstOf } from "../../support/twoBranches.ts"
import { entryOf, mempoolWith } from "../relay/fakePool.ts"
import { FakePeer, type FakePeerOptions, ServedBlocks } from "./fakePeers.ts"

/** A chain whose tip is some minutes old. Every third block has a merged-mining proof. */
const recentChain = (count: number, salt = 0): MemoryChain => {
  const chain = new MemoryChain(regtestParams, trustScripts)
  const start = Math.floor(Date.now() / 1000) - 60 * count - 300
  for (let i = 0; i < count; i++) grow(chain, salt, start + 60 * i)
  return chain
}

/** Adds a block; `salt` distinguishes branches. */
const grow = (chain: MemoryChain, salt = 0, time = chain.tip.header.time + 60): Block => {
  const height = chain.height + 1
  const coinbase = makeCoinbase(height, [{ value: 5_000_000_000 / 2 ** Math.floor(height / 150), script: ANYONE }], {
    extra: Uint8Array.of(Op.OP_0 + salt, 1)
  })
  return mine(chain, [], { coinbase, time })
}

interface Network {
  readonly chain: TestChain
  readonly status: typeof SyncStatus.SyncStatus.Service
  readonly manager: SyncManager.SyncManager
  /** Connects a peer that serves blocks. */
  readonly connect: (served: ServedBlocks, options?: FakePeerOptions) => Effect.Effect<FakePeer>
  readonly untilTip: (tip: Block) => Effect.Effect<void>
  readonly until: (what: string, holds: () => boolean) => Effect.Effect<void>
}

/** Runs a test on a node with a chain on disk and peers in memory. */
const network = <A, E>(
  directory: string,
  use: (network: Network) => Effect.Effect<A, E>,
  { altered = (chain) => chain, loaded = true, pool = [] }: {
    /** Replaces parts of the chain for the sync. */
    readonly altered?: (chain: TestChain) => TestChain
    readonly loaded?: boolean
    readonly pool?: ReadonlyArray<PoolEntry>
  } = {}
) =>
  Effect.scoped(Effect.gen(function*() {
    const chain = yield* testChain
    const status = yield* SyncStatus.SyncStatus
    if (loaded) yield* status.loaded
    const manager = yield* Effect.provide(SyncManager.make(), servicesOf(altered(chain)))
    const scope = yield* Effect.scope
    return yield* use({
      chain,
      status,
      manager,
      connect: (served, options) =>
        Effect.gen(function*() {
          const peer = new FakePeer(served, options)
          yield* Effect.forkIn(peer.live(manager), scope)
          return peer
        }),
      until: eventually,
      untilTip: (tip) =>
        eventually(`tip ${displayHash(tip.hash)}`, () => equal(chain.tree.hash(chain.tree.tip()), tip.hash))
    })
  })).pipe(
    Effect.provide(
      Layer.mergeAll(
        SyncStatus.layer({ offline: false, expectsPeers: true }).pipe(Layer.provideMerge(chainLayer(directory))),
        mempoolWith({ entries: () => pool }),
        Logger.remove(Logger.defaultLogger)
      )
    )
  )

const test = (name: string, use: (network: Network) => Effect.Effect<void>) =>
  it.scopedLive(name, () => Effect.flatMap(temporaryDirectory, (directory) => network(directory, use)), 30_000)

const headersOf = (blocks: ReadonlyArray<Block>) => ({ type: "headers" as const, headers: blocks })

/** A block with an excessive coinbase amount. */
const greedyBlock = (chain: MemoryChain): Block =>
  buildBlock(chain, [], {
    coinbase: makeCoinbase(chain.height + 1, [{ value: 5_100_000_000, script: ANYONE }]),
    time: chain.tip.header.time + 60
  })

/** A block with another chain's proof of work. */
const mergedOn = (chain: MemoryChain): Block => {
  const { header: { bits, merkleRoot, prevHash, time }, transactions } = buildBlock(chain, [], {
    time: chain.tip.header.time + 60
  })
  const header = makeHeader({ version: BLOCK_VERSION | 0x100, prevHash, merkleRoot, time, bits, nonce: 0 })
  return makeBlock({ header, auxpow: minimalAuxpow(header) }, transactions)
}

/** Blocks on top of a block, valid or not. */
const onTop = (block: Block, height: number, count: number): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let last = block
  for (let i = 1; i <= count; i++) {
    last = emptyChild(last, height + i, { time: last.header.time + 60 })
    blocks.push(last)
  }
  return blocks
}

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
