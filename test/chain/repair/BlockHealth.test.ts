import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, TestClock } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import * as BlockHealth from "../../../src/chain/repair/BlockHealth.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { displayHash } from "../../../src/protocol/bytes.ts"
import type { FileFamily } from "../../../src/storage/BlockFiles.ts"
import { DataHealth } from "../../../src/storage/DataHealth.ts"
import { chainLayer, lossesOf, temporaryDirectory, type TestChain, testChain } from "../../support/chain.ts"
import type { MemoryChain } from "../../support/MemoryChain.ts"
import { mine } from "../../support/regtest.ts"
import { allBlocks, firstOf, twoBranches } from "../../support/twoBranches.ts"

const { long, short } = twoBranches({ fork: 5, short: 20, long: 22 })
const missing = short.blockAt(12)

interface Setting {
  readonly chain: TestChain
  readonly health: typeof DataHealth.Service
  readonly logged: Array<string>
  readonly lose: (block: Block, family?: FileFamily) => void
  /** Waits until the doubts and notices about the blocks begin with these words. */
  readonly until: (says: { readonly doubts?: RegExp; readonly notices?: RegExp }) => Effect.Effect<void>
}

/** A node with blocks and its health. */
const watched = (blocks: ReadonlyArray<Block>, use: (setting: Setting) => Effect.Effect<void, unknown>) =>
  Effect.gen(function*() {
    const logged: Array<string> = []
    const logging = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void logged.push(Array.isArray(message) ? String(message[0]) : String(message)))
    )
    const body = Effect.gen(function*() {
      const chain = yield* testChain
      const health = yield* DataHealth
      yield* chain.sink.deliver(blocks.slice(1), false)
      const says = (list: ReadonlyArray<{ readonly reason: string }>, expected: RegExp | undefined): boolean =>
        expected === undefined ? list.length === 0 : list.length === 1 && expected.test(list[0]?.reason ?? "")
      const until: Setting["until"] = (expected) =>
        Effect.gen(function*() {
          for (let i = 0; i < 2_000; i++) {
            const [doubts, notices] = [yield* health.doubts, yield* health.notices]
            if (says(doubts, expected.doubts) && says(notices, expected.notices)) return
            yield* turnOfEventLoop
          }
          const found = JSON.stringify([yield* health.doubts, yield* health.notices])
          assert.fail(`${String(expected.doubts)} and ${String(expected.notices)} are not said, but ${found}`)
        })
      const lose: Setting["lose"] = ({ hash }, family = "blk") => {
        const id = chain.tree.find(hash)
        lossesOf(chain).lose({ family, id, height: chain.tree.height(id), reason: "it was cut off" })
      }
      yield* use({ chain, health, lose, logged, until })
    })
    const layer = BlockHealth.layer.pipe(
      Layer.provideMerge(chainLayer(yield* temporaryDirectory)),
      Layer.provideMerge(logging)
    )
    yield* Effect.provide(body, layer)
  })

const tipIs = (chain: TestChain, { tip }: MemoryChain) =>
  Effect.map(chain.tip, ({ header }) => assert.strictEqual(displayHash(header.hash), displayHash(tip.hash)))

const WAITS = /^a reorg has to disconnect block [0-9a-f]{64} at height 12, which is missing; svcd requests it/

/** A node on the short branch that would switch to the long one, but lacks a block that it has to disconnect. */
const waiting = (use: (setting: Setting) => Effect.Effect<void, unknown>) =>
  watched(allBlocks(short), (setting) =>
    Effect.gen(function*() {
      const { chain, health, lose } = setting
      lose(missing)
      yield* chain.sink.deliver(allBlocks(long).slice(6), false)
      while ((yield* health.doubts).length < 2) yield* turnOfEventLoop
      assert.match((yield* health.doubts)[1]?.reason ?? "", WAITS)
      yield* tipIs(chain, short)
      yield* use(setting)
    }))

const GIVEN_UP = /^the chain with the most work is on another branch, .* block [0-9a-f]{64} at height 12, .*-loadblock/

describe("BlockHealth", () => {
  it.scoped("BlockHealth reports each loss once, and sets a doubt while one of the last blocks is missing", () =>
    watched(allBlocks(short), ({ chain, health, logged, lose, until }) =>
      Effect.gen(function*() {
        yield* until({})
        lose(short.blockAt(7))
        lose(short.blockAt(8))
        yield* until({ doubts: /^some of the last 288 blocks are missing/ })
        yield* chain.sink.deliver([short.blockAt(7)], false)
        yield* until({ doubts: /^some of the last 288 blocks are missing/ })
        yield* chain.sink.deliver([short.blockAt(8)], false)
        yield* until({})
        assert.strictEqual(logged.filter((line) => line === "a stored block is damaged").length, 2)
        assert.strictEqual(logged.filter((line) => line.startsWith("blocks of the best chain are missing")).length, 1)
        assert.include(logged, "the best chain is complete again")
        assert.strictEqual((yield* health.progress).find(({ what }) => what === "blocks")?.damaged, 2)
      })))

  it.scoped("BlockHealth reports lost undo data of one of the last blocks, and sets no doubt for them", () =>
    watched(allBlocks(short), ({ logged, lose, until }) =>
      Effect.gen(function*() {
        lose(short.blockAt(7), "undo")
        yield* until({ notices: /^undo data of some of the last 288 blocks are lost/ })
        assert.include(logged, "the undo data of a block are damaged")
      })))

  it.scoped("the chain gives a branch up after ten minutes, reports the missing block, and later switches", () =>
    waiting(({ chain, lose, until }) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("9 minutes")
        yield* tipIs(chain, short)
        assert.isDefined(chain.tree.losses.waitsFor)
        yield* TestClock.adjust("1 minute")
        yield* until({ notices: GIVEN_UP })
        assert.isFalse((yield* chain.progress).behind)
        yield* tipIs(chain, short)
        // Other blocks may be missing as well, and set a doubt.
        lose(short.blockAt(15))
        yield* until({ doubts: /^some of the last/, notices: GIVEN_UP })
        yield* chain.sink.deliver([short.blockAt(15)], false)
        yield* until({ notices: GIVEN_UP })
        yield* chain.sink.deliver([missing], false)
        yield* until({})
        yield* tipIs(chain, long)
      })
    ))

  it.scoped("the chain gives a branch up after a number of refusals", () =>
    waiting(({ chain, until }) =>
      Effect.gen(function*() {
        const { losses, tip } = chain.tree
        const id = chain.tree.find(missing.hash)
        for (let i = 1; i < BlockHealth.GIVE_UP.refusals; i++) losses.refusedBy(id)
        losses.refusedBy(tip())
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(losses.waitsFor, id)
        losses.refusedBy(id)
        yield* until({ notices: GIVEN_UP })
      })
    ))

  it.scoped("BlockHealth sets a doubt again if the branch that was given up is far ahead", () =>
    waiting(({ chain, until }) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("10 minutes")
        yield* until({ notices: GIVEN_UP })
        const ahead = firstOf(long, long.height)
        while (ahead.height < short.height + 6) mine(ahead)
        yield* chain.sink.deliver(allBlocks(ahead).slice(long.height + 1), false)
        yield* TestClock.adjust("1 minute")
        yield* until({ notices: GIVEN_UP })
        yield* chain.sink.deliver([mine(ahead)], false)
        yield* TestClock.adjust("1 minute")
        yield* until({ doubts: /^the chain with the most work is more than 6 blocks ahead/, notices: GIVEN_UP })
        // The node's chain grows longer than the branch.
        const higher = firstOf(short, short.height)
        while (higher.height <= ahead.height) mine(higher)
        yield* chain.sink.deliver(allBlocks(higher).slice(short.height + 1), false)
        yield* TestClock.adjust("1 minute")
        yield* until({})
      })
    ))

  it.scoped("the chain continues to wait if the operator invalidated the tip, and reports a remedy", () =>
    watched(allBlocks(short), ({ chain, health, lose, until }) =>
      Effect.gen(function*() {
        lose(short.blockAt(19))
        yield* chain.control.invalidate(short.blockAt(18).hash)
        yield* TestClock.adjust("10 minutes")
        const inVain = /at height 19, which is missing and which no peer sends; .*reconsiderblock.*chainstate/
        while (!(yield* health.doubts).some(({ reason }) => inVain.test(reason))) yield* turnOfEventLoop
        assert.strictEqual((yield* health.doubts).length, 2)
        yield* chain.control.reconsider(short.blockAt(18).hash)
        yield* until({ doubts: /^some of the last/ })
      })))

  it.scoped("BlockHealth reports the missing next block of the chain after ten minutes", () =>
    watched(allBlocks(short).slice(0, 15), ({ chain, until }) =>
      Effect.gen(function*() {
        yield* chain.sink.acceptHeaders(allBlocks(short).slice(15))
        yield* chain.sink.deliver(allBlocks(short).slice(16), false)
        yield* TestClock.adjust("9 minutes")
        yield* until({})
        yield* TestClock.adjust("2 minutes")
        yield* until({ notices: /^the chain is stuck at height 14: block [0-9a-f]{64} at height 15 .*-loadblock/ })
        yield* chain.sink.deliver([short.blockAt(15)], false)
        yield* TestClock.adjust("1 minute")
        yield* until({})
        yield* tipIs(chain, short)
      })))
})
