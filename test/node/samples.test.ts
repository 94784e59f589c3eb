import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { Indexes } from "../../src/chain/indexes/Indexes.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { TxIndex } from "../../src/chain/TxIndex.ts"
import { difficultyOf } from "../../src/consensus/difficulty.ts"
import { Mempool } from "../../src/mempool/Mempool.ts"
import * as Metrics from "../../src/metrics/metrics.ts"
import * as Samples from "../../src/metrics/Samples.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { PeerManager } from "../../src/network/PeerManager.ts"
import {
  hashNumber,
  sampleChain,
  sampleIndexes,
  sampleMempool,
  sampleNames,
  samplePeers,
  sampleSync,
  sampleTraffic
} from "../../src/node/layers/samples.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import { parseNameScript } from "../../src/protocol/nameOperation.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { servicesOf } from "../support/chain.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { ownFixture } from "../support/fixtures.ts"
import { layer } from "../support/layer.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"
import { peerManager } from "../support/peers.ts"
import { wholeAnswers } from "../support/wholeAnswers.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")
const last = blocks.at(-1) ?? assert.fail("no blocks")

/** Name operations in the outputs of blocks. Each of the fixture's is in force. */
const operationsIn = (all: ReadonlyArray<Block>): Record<string, number> => {
  const counts: Record<string, number> = { name_new: 0, name_firstupdate: 0, name_update: 0 }
  for (const { outputs } of all.flatMap(({ transactions }) => transactions)) {
    for (const { script } of outputs) {
      const op = parseNameScript(script)?.operation.op
      if (op !== undefined) counts[op] = (counts[op] ?? 0) + 1
    }
  }
  return counts
}

/** A name that a transaction registered. */
const firstNameIn = (all: ReadonlyArray<Block>) => {
  for (const { outputs } of all.flatMap(({ transactions }) => transactions)) {
    for (const { script } of outputs) {
      const operation = parseNameScript(script)?.operation
      if (operation?.op === "name_firstupdate") return operation.name
    }
  }
  return assert.fail("no names")
}

const counted = () => ({
  connected: Metrics.blocks.of("connected").value(),
  disconnected: Metrics.blocks.of("disconnected").value(),
  timed: Metrics.blockConnectDuration.count(),
  refused: Metrics.validationErrors.of("block").value(),
  headers: Metrics.validationErrors.of("header").value(),
  consensus: Metrics.validationErrors.of("transaction_consensus").value(),
  flushes: Metrics.chainstateFlushDuration.count(),
  writes: Metrics.nameDbWriteLatency.count(),
  reads: Metrics.nameDbReadLatency.count(),
  ...Object.fromEntries(Metrics.NAME_OPERATIONS.map((op) => [op, Metrics.nameOperations.of(op).value()]))
})

type Counts = Record<keyof ReturnType<typeof counted>, number> & Record<string, number>

/** How much each count grew while `work` ran. */
const growth = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before: Record<string, number> = counted()
    yield* work
    const after = Object.entries(counted()).map(([name, value]) => [name, value - (before[name] ?? 0)])
    return Object.fromEntries(after) as Counts
  })

/** Bytes that the network counted. */
const traffic = { sent: 100, received: 200 }

const sampler = Effect.gen(function*() {
  const { chain, names, pool, status } = yield* MethodNode
  const manager = peerManager({
    count: Effect.succeed({ inbound: 3, outbound: 4 }),
    totals: Effect.sync(() => ({ ...traffic }))
  })
  const added = Layer.scopedDiscard(Effect.gen(function*() {
    const { add, addTotals } = yield* Samples.Samples
    yield* Effect.forEach(
      yield* Effect.all([sampleChain, sampleSync, sampleNames, samplePeers, sampleMempool]),
      add,
      { discard: true }
    )
    yield* addTotals(yield* sampleTraffic)
  }))
  const context = yield* Layer.build(added.pipe(
    Layer.provideMerge(Samples.layer),
    Layer.provide(wholeAnswers),
    Layer.provide(Layer.mergeAll(
      servicesOf(chain),
      Layer.succeed(SyncStatus, status),
      DataHealth.layer,
      Layer.succeed(NameDb, names),
      Layer.succeed(Mempool, pool),
      Layer.succeed(PeerManager, manager),
      Logger.remove(Logger.defaultLogger)
    ))
  ))
  return Context.get(context, Samples.Samples)
})

describe("the metrics of a node", () => {
  layer(methodNode({ blocks: false }))("", (it) => {
    it.effect("count blocks, name operations, and stores with their duration, while a chain connects", () =>
      Effect.gen(function*() {
        const { chain } = yield* MethodNode
        const grown = yield* growth(chain.sink.importFrom([ownFixture("regtest-names/blocks.dat")]))
        const { height } = yield* chain.tip
        const { connected, disconnected, flushes, headers, refused, timed, writes, ...operations } = grown
        assert.deepStrictEqual({ connected, disconnected, timed, refused, headers }, {
          connected: height,
          disconnected: 0,
          timed: height,
          refused: 0,
          headers: 0
        })
        assert.deepInclude(operations, operationsIn(blocks))
        assert.isAbove(flushes, 0)
        assert.isAbove(writes, 0)
      }))

    it.effect("time reads from names.db, but not hits in its cache", () =>
      Effect.gen(function*() {
        const { names } = yield* MethodNode
        const name = firstNameIn(blocks)
        assert.deepInclude(yield* growth(names.resolve(name)), { reads: 1 })
        // A record is kept for the second who asks.
        assert.deepInclude(yield* growth(names.resolve(name)), { reads: 1 })
        assert.deepInclude(yield* growth(names.resolve(name)), { reads: 0 })
      }))

    it.scoped("read the tip, the names, the pool and the peers", () =>
      Effect.gen(function*() {
        const { chain, names } = yield* MethodNode
        const { take } = yield* sampler
        yield* take
        const { header, height } = yield* chain.tip
        const stats = yield* names.stats({ params: chain.params, tipHeight: height })
        assert.isAbove(stats.active, 0)
        assert.isAbove(stats.names, stats.active)
        assert.deepStrictEqual([
          Metrics.blockchainHeight.value(),
          Metrics.blockchainBestHash.value(),
          Metrics.blockchainDifficulty.value(),
          Metrics.blockchainTipTime.value(),
          Metrics.blockchainHeaders.value(),
          Metrics.blockchainSyncing.value(),
          Metrics.nameDbNames.value(),
          Metrics.nameDbSize.value(),
          Metrics.peersConnected.value(),
          Metrics.mempoolTransactions.value(),
          Metrics.mempoolSize.value()
        ], [
          height,
          Number.parseInt(displayHash(last.hash).slice(-13), 16),
          difficultyOf(header.bits),
          header.time,
          height,
          0,
          stats.active,
          stats.fileSize,
          7,
          0,
          0
        ])
        assert.isAbove(Metrics.residentMemory.value(), 10_000_000)
        assert.closeTo(Metrics.processStart.value(), Date.now() / 1000 - process.uptime(), 5)
      }))

    it.scoped("count the bytes of the network, for all nodes in the process", () =>
      Effect.gen(function*() {
        const bytes = () => [Metrics.bytesReceived.value(), Metrics.bytesSent.value()]
        const first = yield* sampler
        yield* first.take
        const before = bytes()
        traffic.received += 10
        traffic.sent += 1
        yield* first.take
        yield* first.take
        assert.deepStrictEqual(bytes(), [(before[0] ?? 0) + 10, (before[1] ?? 0) + 1])
        const second = yield* sampler
        yield* second.take
        assert.deepStrictEqual(bytes(), [(before[0] ?? 0) + 10 + 210, (before[1] ?? 0) + 1 + 101])
      }))

    it.effect("count refused blocks, headers and transactions", () =>
      Effect.gen(function*() {
        const { chain, pool } = yield* MethodNode
        const spoiled = last.bytes.slice()
        spoiled[spoiled.length - 1] = (spoiled.at(-1) ?? 0) ^ 1
        const block = yield* growth(chain.sink.submit(decodeBlock(spoiled)))
        assert.deepInclude(block, { refused: 1, headers: 0, connected: 0 })
        const nowhere = last.bytes.slice()
        nowhere.fill(1, 4, 36)
        const refusedHeader = yield* growth(chain.sink.acceptHeaders([decodeBlock(nowhere)]))
        assert.deepInclude(refusedHeader, { refused: 0, headers: 1 })
        const [coinbase = assert.fail("no coinbase")] = last.transactions
        const transaction = yield* growth(Effect.flip(pool.accept(coinbase)))
        assert.deepInclude(transaction, { consensus: 1, refused: 0 })
      }))

    it.effect("count a block that is disconnected, and one that is connected again", () =>
      Effect.gen(function*() {
        const { chain } = yield* MethodNode
        const away = yield* growth(chain.control.invalidate(last.hash))
        assert.deepInclude(away, { connected: 0, disconnected: 1 })
        const back = yield* growth(chain.control.reconsider(last.hash))
        assert.deepInclude(back, { connected: 1, disconnected: 0, timed: 1 })
      }))
  })

  layer(methodNode({ txIndex: true, indexes: true }))("", (it) => {
    it.scoped("read the heights of the optional indexes, and none of an index that is off", () =>
      Effect.gen(function*() {
        const { indexes, txIndex } = yield* MethodNode
        const sampled = (on: typeof Indexes.Service, transactions: typeof TxIndex.Service) =>
          sampleIndexes.pipe(
            Effect.flatten,
            Effect.provideService(Indexes, on),
            Effect.provideService(TxIndex, transactions)
          )
        const heights = () =>
          ["txindex", ...indexes.followers.map(({ name }) => name)].map((name) => Metrics.indexHeight.of(name).value())
        yield* sampled(indexes, txIndex)
        assert.deepStrictEqual(heights(), Array.from({ length: 5 }, () => blocks.length - 1))
        Metrics.indexHeight.of("txindex").set(7)
        yield* sampled({ ...indexes, followers: [] }, { ...txIndex, follower: undefined })
        assert.strictEqual(Metrics.indexHeight.of("txindex").value(), 7)
      }))
  })

  it("show a hash by its distinguishing digits, exactly", () => {
    assert.strictEqual(hashNumber(new Uint8Array(32).fill(0xff)), 2 ** 52 - 1)
    assert.strictEqual(hashNumber(Uint8Array.of(1, 0x02, ...new Uint8Array(30))), 0x0201)
  })
})
