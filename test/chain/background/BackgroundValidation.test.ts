import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, type Scope } from "effect"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { noThreads } from "../../../src/base/threads.ts"
import { SnapshotWriter } from "../../../src/chain/snapshot/SnapshotWriter.ts"
import { CoinStats } from "../../../src/chain/state/coinStats.ts"
import type { Follower } from "../../../src/chain/write/Follower.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Coin } from "../../../src/consensus/view.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { compare, displayHash, fromBinaryString } from "../../../src/protocol/bytes.ts"
import { prevoutIndex, prevoutTxid } from "../../../src/protocol/transaction.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { chainLayer, coinState, temporaryDirectory, type TestChain, testChain } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import {
  ANYONE,
  currency,
  emptyChain,
  input,
  mine,
  nameNew,
  nameTransaction,
  rewardOf,
  saltOf,
  text
} from "../../support/regtest.ts"
import { realThreads, withThreads } from "../../support/threads.ts"
import { allBlocks } from "../../support/twoBranches.ts"

const BASE = 146
const TIP = 149

/** Blocks with two names, one of them expired at the base; with a script that fails at height 110, if wanted. */
const makeChain = (withBadScript: boolean) => {
  const chain = emptyChain(101)
  const [kept, expired] = [text("d/kept"), text("d/expired")]
  const first = nameTransaction(nameNew(expired, saltOf(1)), [rewardOf(chain, 1)])
  mine(chain, [first])
  const pays = currency([input(rewardOf(chain, 2))], [{ value: 1_000_000, script: Uint8Array.of(0) }])
  mine(chain, [pays])
  while (chain.height < 109) mine(chain)
  // The test's chain trusts scripts.
  const spends = currency([input({ transaction: pays, vout: 0 })], [{ value: 900_000, script: ANYONE }])
  mine(chain, withBadScript ? [spends] : [])
  const second = nameTransaction(nameNew(kept, saltOf(2)), [rewardOf(chain, 3)])
  mine(chain, [second])
  while (chain.height < 114) mine(chain)
  const begins = (name: Uint8Array, salt: number, from: typeof first) =>
    nameTransaction({ op: "name_firstupdate", name, value: text("v"), rand: saltOf(salt) }, [{
      transaction: from,
      vout: 0
    }])
  mine(chain, [begins(expired, 1, first)])
  while (chain.height < 123) mine(chain)
  mine(chain, [begins(kept, 2, second)])
  while (chain.height < BASE) mine(chain)
  const coins = new Map(chain.coins)
  while (chain.height < TIP) mine(chain)
  return { blocks: allBlocks(chain), coins, after: chain.coins }
}

const good = makeChain(false)
const bad = makeChain(true)

/** Writes a snapshot file. Returns the hash of its coins. */
const writeSet = (path: string, base: Uint8Array, coins: ReadonlyMap<string, Coin>): Uint8Array => {
  const writer = new SnapshotWriter({ path, network: regtestParams.network, base })
  const stats = new CoinStats("hash_serialized_3")
  const sorted = [...coins].map(([key, coin]) => ({ outpoint: fromBinaryString(key), coin })).sort((a, b) =>
    compare(prevoutTxid(a.outpoint), prevoutTxid(b.outpoint)) || prevoutIndex(a.outpoint) - prevoutIndex(b.outpoint)
  )
  for (const { coin, outpoint } of sorted) {
    stats.add(outpoint, coin)
    writer.add(prevoutTxid(outpoint), prevoutIndex(outpoint), coin)
  }
  writer.finish()
  return stats.finish().hash ?? assert.fail()
}

const blockAt = (blocks: ReadonlyArray<Block>, height: number): Block => blocks[height] ?? assert.fail()

interface Place {
  readonly directory: string
  readonly path: string
  readonly hash: Uint8Array
  readonly blocks: ReadonlyArray<Block>
}

const place = (
  { blocks, coins }: { readonly blocks: ReadonlyArray<Block>; readonly coins: ReadonlyMap<string, Coin> }
): Effect.Effect<Place, never, Scope.Scope> =>
  Effect.map(temporaryDirectory, (directory) => {
    const path = join(directory, "set.dat")
    return { directory, path, hash: writeSet(path, blockAt(blocks, BASE).hash, coins), blocks }
  })

const onNode = <A, E>(
  { directory, hash }: Place,
  use: (chain: TestChain) => Effect.Effect<A, E, DataHealth.DataHealth>
) => Effect.provide(Effect.flatMap(testChain, use), chainLayer(directory, regtestParams, 1e8, undefined, hash))

/** Loads the snapshot, and gives the node the blocks after it. */
const load = (chain: TestChain, { blocks, path }: Place) =>
  Effect.gen(function*() {
    yield* chain.sink.acceptHeaders(blocks.slice(1))
    yield* chain.snapshots.load(path)
    yield* chain.sink.deliver(blocks.slice(BASE + 1), false)
  })

const progressIs = (chain: TestChain, height: number) =>
  eventually(
    `validated up to ${height}`,
    Effect.map(chain.snapshots.background, (at) => at?.height === height)
  )

const isValidated = (chain: TestChain) =>
  eventually("validated", Effect.map(chain.snapshots.base, (base) => base === undefined))

const databasesOf = (directory: string): ReadonlyArray<string> =>
  ["chainstate", "chainstate_snapshot", "chainstate_background"].filter((name) =>
    existsSync(join(directory, name, "chainstate.db"))
  )

/** The coins of a complete node at the tip. */
const expected = Effect.runSync(Effect.cached(Effect.scoped(Effect.gen(function*() {
  const at = yield* place(good)
  return yield* onNode(at, (chain) => Effect.zipRight(chain.sink.deliver(at.blocks.slice(1), true), coinState(chain)))
}))))

describe("the blocks below the base of a snapshot", () => {
  it.scoped(
    "are validated as they arrive, across restarts; then the chain state is as any other",
    () =>
      Effect.gen(function*() {
        const at = yield* place(good)
        const { blocks, directory } = at
        yield* onNode(at, (chain) =>
          Effect.gen(function*() {
            yield* load(chain, at)
            yield* progressIs(chain, 0)
            // Out of order, and with a gap at 61.
            yield* chain.sink.deliver(blocks.slice(31, 61), false)
            yield* chain.sink.deliver([...blocks.slice(1, 31), ...blocks.slice(62, BASE + 1)], false)
            yield* progressIs(chain, 60)
            assert.strictEqual((yield* chain.snapshots.base)?.height, BASE)
            const undo = yield* chain.undo(blockAt(blocks, 60).hash)
            assert.isDefined(undo)
            assert.isUndefined(yield* chain.undo(blockAt(blocks, 62).hash))
          }))
        assert.deepStrictEqual(databasesOf(directory), ["chainstate", "chainstate_snapshot", "chainstate_background"])
        yield* onNode(at, (chain) =>
          Effect.gen(function*() {
            yield* progressIs(chain, 60)
            yield* chain.sink.deliver([blockAt(blocks, 61)], false)
            yield* isValidated(chain)
            assert.isUndefined(yield* chain.snapshots.background)
            assert.isTrue(yield* chain.snapshots.began)
            assert.deepStrictEqual(databasesOf(directory), ["chainstate_snapshot"])
            // Its directory is in use: another snapshot may not take its place.
            assert.include(
              String(yield* Effect.flip(chain.snapshots.load(at.path))),
              "Can't activate a snapshot-based chainstate more than once"
            )
            assert.deepStrictEqual(databasesOf(directory), ["chainstate_snapshot"])
          }))
        yield* onNode(at, (chain) =>
          Effect.gen(function*() {
            assert.isUndefined(yield* chain.snapshots.base)
            assert.isTrue(yield* chain.snapshots.began)
            assert.deepStrictEqual(databasesOf(directory), ["chainstate"])
            assert.isFalse(existsSync(join(directory, "chainstate_snapshot")))
            assert.deepStrictEqual(yield* coinState(chain), yield* expected)
            // The undo data below the base are here: the chain can go back, and forward again.
            const { checked, damaged } = yield* chain.control.verify({ blocks: 0, level: 4 })
            assert.deepStrictEqual({ checked, damaged }, { checked: TIP, damaged: 0 })
            yield* chain.control.invalidate(blockAt(blocks, 50).hash)
            assert.strictEqual((yield* chain.tip).height, 49)
            yield* chain.control.reconsider(blockAt(blocks, 50).hash)
            assert.deepStrictEqual(yield* coinState(chain), yield* expected)
          }))
      }),
    60_000
  )

  it.scoped("cannot leave the chain before they are validated", () =>
    Effect.gen(function*() {
      const at = yield* place(good)
      yield* onNode(at, (chain) =>
        Effect.gen(function*() {
          yield* load(chain, at)
          const failure = yield* Effect.flip(chain.control.invalidate(blockAt(at.blocks, BASE).hash))
          assert.strictEqual(
            failure.message,
            `the chain cannot go back below height ${BASE}: it began with a snapshot of the block at height ${BASE}, ` +
              "and the blocks below are not validated yet. Wait until getchainstates shows that they are"
          )
          yield* chain.control.invalidate(blockAt(at.blocks, BASE + 1).hash)
          assert.strictEqual((yield* chain.tip).height, BASE)
        }))
    }))

  it.scoped(
    "are not passed to a store that needs their coins, before they are validated",
    () =>
      Effect.gen(function*() {
        const at = yield* place(good)
        yield* onNode(at, (chain) =>
          Effect.gen(function*() {
            yield* load(chain, at)
            const spent: Array<number> = []
            let height = 100
            const follower: Follower = {
              name: "a store",
              needsCoins: true,
              cursor: Effect.succeed({ height, hash: blockAt(at.blocks, height).hash }),
              rewind: () => Effect.void,
              apply: (blocks) =>
                Effect.sync(() => {
                  for (const block of blocks) {
                    height = block.height
                    spent.push(block.coins?.spent.flat().length ?? 0)
                  }
                })
            }
            yield* chain.sink.deliver([...at.blocks.slice(1, 61), ...at.blocks.slice(62, BASE + 1)], false)
            yield* chain.control.register(follower)
            assert.strictEqual(height, 100)
            yield* chain.sink.deliver([blockAt(at.blocks, 61)], false)
            yield* isValidated(chain)
            yield* eventually("at the tip", () => height === TIP)
            // Two registrations of two transactions each, and one payment.
            assert.strictEqual(spent.reduce((sum, count) => sum + count, 0), 5)
          }))
      }),
    60_000
  )

  it.scoped.each([false, true])(
    "begin at the node's own chain state, if that is on the way; thread: %s",
    (isThread) => {
      const started: Array<string> = []
      return Effect.gen(function*() {
        const at = yield* place(good)
        yield* onNode(at, (chain) =>
          Effect.gen(function*() {
            yield* chain.sink.deliver(at.blocks.slice(1, 81), false)
            yield* load(chain, at)
            yield* progressIs(chain, 80)
            yield* chain.sink.deliver(at.blocks.slice(81, BASE + 1), false)
            yield* isValidated(chain)
            assert.deepStrictEqual(yield* coinState(chain), yield* expected)
          }))
        assert.deepStrictEqual(started, isThread ? ["backgroundWorker.js"] : [])
      }).pipe(withThreads(isThread ? realThreads(started) : noThreads))
    }
  )
})

/** The end of a node: its message. */
const ends = (chain: TestChain) =>
  Effect.map(Effect.exit(chain.control.failure), (exit) => Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "")

/** Loads the snapshot and gives the blocks below. Returns why the node ends. */
const refused = (at: Place) =>
  onNode(at, (chain) =>
    Effect.gen(function*() {
      yield* load(chain, at)
      yield* chain.sink.deliver(at.blocks.slice(1, BASE + 1), false)
      return yield* ends(chain)
    }))

/** What the next start has: its own chain state, a notice, and no second load of the snapshot. */
const afterwards = (at: Place, height: number) =>
  onNode(at, (chain) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* chain.tip).height, height)
      assert.isUndefined(yield* chain.snapshots.base)
      assert.isFalse(yield* chain.snapshots.began)
      assert.deepStrictEqual(databasesOf(at.directory), ["chainstate"])
      assert.deepStrictEqual(readdirSync(join(at.directory, "chainstate_snapshot")), ["INVALID"])
      const [notice] = yield* (yield* DataHealth.DataHealth).notices
      assert.include(notice?.reason, `the snapshot of block ${displayHash(blockAt(at.blocks, BASE).hash)} is invalid`)
      const again = yield* Effect.flip(chain.snapshots.load(at.path))
      assert.include(again.message, "This snapshot was loaded before and is invalid")
      assert.deepStrictEqual(readdirSync(join(at.directory, "chainstate_snapshot")), ["INVALID"])
    }))

describe("a wrong snapshot ends the node, and the next start continues without it", () => {
  it.scoped("with coins that the blocks do not lead to", () =>
    Effect.gen(function*() {
      const coins = new Map(good.coins)
      const [key, coin] = [...coins][5] ?? assert.fail()
      coins.set(key, { ...coin, value: coin.value + 1 })
      const at = yield* place({ ...good, coins })
      const message = yield* refused(at)
      const right = yield* place(good)
      assert.include(message, join(at.directory, "chainstate_snapshot"))
      assert.include(
        message,
        `the snapshot of block ${displayHash(blockAt(at.blocks, BASE).hash)} at height ${BASE} is invalid: its coins ` +
          `have the hash ${displayHash(at.hash)}, and the blocks lead to ${good.coins.size} coins with the hash ` +
          displayHash(right.hash)
      )
      assert.include(message, "Start the node again: it continues from its own chain state")
      yield* afterwards(at, TIP)
    }), 60_000)

  it.scoped("above a block with a script that fails", () =>
    Effect.gen(function*() {
      const at = yield* place(bad)
      const message = yield* refused(at)
      assert.include(
        message,
        `is invalid: block ${
          displayHash(blockAt(at.blocks, 110).hash)
        } at height 110, which its base block builds on, ` +
          "is invalid (block-script-verify-flag-failed ("
      )
      yield* afterwards(at, 109)
    }), 60_000)
})

/** Changes one bit in the middle of a file. */
const damage = (file: string): void => {
  const bytes = readFileSync(file)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

it.scoped("a damaged database of the background is made again", () =>
  Effect.gen(function*() {
    const at = yield* place(good)
    yield* onNode(at, (chain) =>
      Effect.gen(function*() {
        yield* load(chain, at)
        yield* chain.sink.deliver(at.blocks.slice(1, 61), false)
        yield* progressIs(chain, 60)
      }))
    damage(join(at.directory, "chainstate_background", "chainstate.db"))
    yield* onNode(at, (chain) =>
      Effect.gen(function*() {
        yield* progressIs(chain, 60)
        yield* chain.sink.deliver(at.blocks.slice(61, BASE + 1), false)
        yield* isValidated(chain)
        assert.deepStrictEqual(yield* coinState(chain), yield* expected)
      }))
  }), 60_000)
