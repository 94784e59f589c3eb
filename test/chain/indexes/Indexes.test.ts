import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { join } from "node:path"
import * as Indexes from "../../../src/chain/indexes/Indexes.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash, toHex } from "../../../src/protocol/bytes.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { blocksOf, coinState, temporaryDirectory, type TestChain, withChain } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { fixtureJson } from "../../support/fixtures.ts"
import { checkAll, damageOf, doubted, flipIn, untilSound } from "../../support/liveDamage.ts"

interface Stale {
  readonly branches: ReadonlyArray<{
    readonly forkHeight: number
    readonly hashes: ReadonlyArray<string>
    readonly overtakenAt: number
  }>
}

type Service = typeof Indexes.Indexes.Service

const blocks = blocksOf("regtest-names/blocks.dat")
const stale = blocksOf("regtest-names/stale.dat")
const branches = fixtureJson<Stale>("regtest-names/stale.json").branches

const quiet = Logger.remove(Logger.defaultLogger)

const layerIn = (directory: string) =>
  Indexes.layer({
    directory: join(directory, "chainstate"),
    pageSize: 4096,
    params: regtestParams,
    filters: true,
    spenders: true,
    coinStats: true,
    scripts: true
  })

const withIndexes = <A, E>(directory: string, use: (chain: TestChain, indexes: Service) => Effect.Effect<A, E>) =>
  withChain(directory, (chain) =>
    Effect.gen(function*() {
      const indexes = yield* Indexes.Indexes
      yield* Effect.forEach(indexes.followers, chain.control.register, { discard: true })
      return yield* use(chain, indexes)
    }).pipe(Effect.provide(layerIn(directory).pipe(Layer.provide(DataHealth.layer)))))

const submitAll = (chain: TestChain, list: ReadonlyArray<Block>) =>
  Effect.forEach(list, (block) => chain.sink.submit(block), { discard: true })

const partsOf = ({ coinStats, filters, spenders }: Service) => ({
  coinStats: coinStats ?? assert.fail("no coin statistics"),
  filters: filters ?? assert.fail("no filters"),
  spenders: spenders ?? assert.fail("no spenders")
})

/** The statistics of the index agree with a scan of all coins; the filters form a chain; each input has its spender. */
const isSound = (chain: TestChain, indexes: Service, list: ReadonlyArray<Block>) =>
  Effect.gen(function*() {
    const { coinStats, filters, spenders } = partsOf(indexes)
    // The filters of a batch are made in one turn of the event loop.
    assert.isAtMost(filters.follower.batchBytes ?? Infinity, 256 * 1024)
    const tip = { height: list.length - 1, hash: list.at(-1)?.hash ?? assert.fail() }
    const stats = (yield* coinStats.stats(tip)) ?? assert.fail(`no statistics at ${tip.height}`)
    const scanned = yield* coinState(chain)
    const { bogosize, coins, muhash, names, txouts } = stats
    assert.deepStrictEqual(
      { txouts, bogosize, muhash: displayHash(muhash), coins: coins / 1e8, names: names / 1e8 },
      {
        txouts: scanned.txouts,
        bogosize: scanned.bogosize,
        muhash: scanned.muhash,
        coins: scanned.amount.coins,
        names: scanned.amount.names
      }
    )
    const places = list.map(({ hash }, height) => ({ hash, height }))
    const stored = (yield* filters.filters(places)) ?? assert.fail("filters are missing")
    assert.deepStrictEqual(stored.map(({ hash }) => toHex(hash)), list.map(({ hash }) => toHex(hash)))
    for (const [height, { transactions }] of list.entries()) {
      for (const [position, { inputs }] of transactions.entries()) {
        for (const { prevout } of position === 0 ? [] : inputs) {
          assert.deepInclude(yield* spenders.candidates(prevout), { height, position })
        }
      }
    }
  })

describe("the optional indexes", () => {
  it.scopedLive("follow the chain through names that expire, and go on after a restart", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withIndexes(directory, (chain, indexes) =>
        Effect.gen(function*() {
          yield* submitAll(chain, blocks.slice(1, 200))
          yield* isSound(chain, indexes, blocks.slice(0, 200))
        }))
      yield* withIndexes(directory, (chain, indexes) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks.slice(200), false)
          yield* isSound(chain, indexes, blocks)
        }))
    }))

  it.scopedLive("catch up with a chain that was there before them", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) => chain.sink.deliver(blocks.slice(1, 300), false))
      yield* withIndexes(directory, (chain, indexes) => isSound(chain, indexes, blocks.slice(0, 300)))
    }))

  it.scopedLive("leave a branch with the chain, and keep what they know of its blocks", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const branch = branches.find(({ hashes }) => hashes.length >= 3) ?? assert.fail("no branch")
      const { forkHeight, hashes, overtakenAt } = branch
      const before = branches.slice(0, branches.indexOf(branch)).reduce((sum, one) => sum + one.hashes.length, 0)
      const side = stale.slice(before, before + hashes.length)
      yield* withIndexes(directory, (chain, indexes) =>
        Effect.gen(function*() {
          yield* submitAll(chain, [...blocks.slice(1, forkHeight + 1), ...side])
          yield* isSound(chain, indexes, [...blocks.slice(0, forkHeight + 1), ...side])
          const { coinStats, filters } = partsOf(indexes)
          const last = { height: forkHeight + side.length, hash: side.at(-1)?.hash ?? assert.fail() }
          const known = [yield* filters.filter(last), yield* coinStats.stats(last)]
          yield* submitAll(chain, blocks.slice(forkHeight + 1, overtakenAt + 1))
          yield* isSound(chain, indexes, blocks.slice(0, overtakenAt + 1))
          assert.deepStrictEqual([yield* filters.filter(last), yield* coinStats.stats(last)], known)
          assert.isUndefined(yield* filters.filter({ height: 1, hash: new Uint8Array(32) }))
        }))
    }))

  it.scopedLive("account for every amount: subsidies are outputs or lost", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withIndexes(directory, (chain, indexes) =>
        Effect.gen(function*() {
          yield* chain.sink.deliver(blocks.slice(1), false)
          const { coinStats } = partsOf(indexes)
          for (const height of [0, 1, 150, 600]) {
            const hash = blocks[height]?.hash ?? assert.fail()
            const stats = (yield* coinStats.stats({ height, hash })) ?? assert.fail()
            const { coinbase, created, genesis, scripts, spent, subsidy, unclaimed } = stats
            assert.strictEqual(spent + subsidy, created + coinbase + genesis + scripts + unclaimed)
          }
        }))
    }))

  it.scopedLive("are rebuilt while the chain runs, when a bit flips", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const some = blocks.slice(0, 120)
      yield* withIndexes(directory, (chain) => submitAll(chain, some.slice(1)))
      yield* withChain(directory, (chain) =>
        Effect.gen(function*() {
          const indexes = yield* Indexes.Indexes
          yield* Effect.forEach(indexes.followers, chain.control.register, { discard: true })
          flipIn(join(directory, "chainstate", "blockfilters.db"), some[60]?.hash ?? assert.fail())
          yield* checkAll("blockfilters.db")
          assert.deepStrictEqual(yield* doubted, ["blockfilters.db"])
          assert.strictEqual(yield* damageOf("blockfilters.db"), 1)
          yield* untilSound
          yield* isSound(chain, indexes, some)
        }).pipe(Effect.provide(layerIn(directory))))
    }).pipe(Effect.provide(quiet)))
})

describe("an index that is far behind", () => {
  it.scopedLive("catches up in the background, even with blocks that arrive meanwhile", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      yield* withChain(directory, (chain) => chain.sink.deliver(blocks.slice(1, -2), false))
      yield* withIndexes(directory, (chain, indexes) =>
        Effect.gen(function*() {
          const { filters } = partsOf(indexes)
          const height = Effect.map(filters.follower.cursor, (cursor) => cursor?.height ?? -1)
          assert.isBelow(yield* height, blocks.length - 3)
          yield* submitAll(chain, blocks.slice(-2))
          yield* eventually("the index is at the tip", Effect.map(height, (at) => at === blocks.length - 1))
          const places = blocks.map(({ hash }, height) => ({ hash, height }))
          assert.lengthOf((yield* filters.filters(places)) ?? [], blocks.length)
        }))
    }).pipe(Effect.provide(quiet)))
})
