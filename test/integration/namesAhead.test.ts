import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as Names from "../../src/names/NameDb.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { applyAll, blockAt } from "../names/blocks.ts"
import { temporaryNames } from "../support/chainLayer.ts"
import { startNode, until, wholeDirectory } from "../support/daemon.ts"

describe("names.db", () => {
  it.effect("keeps the last 300 blocks, through batches and rewinds", () =>
    Effect.gen(function*() {
      const db = yield* Names.NameDb
      const trail = Effect.map(db.follower.trail ?? assert.fail(), (blocks) => blocks.map(({ height }) => height))
      const blocks = Array.from({ length: 700 }, (_, height) => blockAt(height))
      yield* applyAll(db, [blocks.slice(0, 600), blocks.slice(600, 650)])
      const kept = yield* trail
      assert.deepStrictEqual([kept.length, kept[0], kept.at(-1)], [300, 649, 350])
      const { hash, height } = blocks[600] ?? assert.fail()
      yield* db.follower.rewind({ height, hash })
      assert.deepStrictEqual([(yield* trail)[0], (yield* trail).at(-1)], [600, 350])
      yield* db.follower.rewind({ height: 10, hash: blocks[10]?.hash ?? assert.fail() })
      assert.deepStrictEqual(yield* trail, [10])
    }).pipe(Effect.provide(Layer.provide(temporaryNames, DataHealth.layer))))

  it.scopedLive(
    "one unknown block ahead of the chain goes back by that block, and denies no name meanwhile",
    () =>
      Effect.gen(function*() {
        const [directory, before] = [yield* wholeDirectory, yield* wholeDirectory]
        // One more block, which the chain then does not know: blocks and chainstate are those from before it.
        const second = yield* startNode(directory)
        yield* second.ready
        const address = yield* second.call("getnewaddress")
        yield* second.call("generatetoaddress", 1, address)
        yield* second.running.end()
        for (const name of ["blocks", "chainstate"]) {
          rmSync(join(directory, name), { recursive: true })
          cpSync(join(before, name), join(directory, name), { recursive: true })
        }
        const third = yield* startNode(directory, "-debugsubsystem", "names")
        yield* until(third, "getblockcount", (count) => count === 600)
        assert.strictEqual(yield* third.status("/ready"), 503)
        const denial = yield* Effect.either(third.call("name_show", "d/never"))
        assert.match(JSON.stringify(denial), /-10|downloading/)
        // Another block in the place of the lost one.
        const other = yield* third.call("getnewaddress")
        yield* third.call("generatetoaddress", 1, other)
        assert.match(JSON.stringify(yield* Effect.either(third.call("name_show", "d/never"))), /never existed/)
        assert.isTrue(yield* third.call("name_checkdb"))
        assert.strictEqual(yield* third.status("/ready"), 200)
        assert.match(third.running.stdout, /names rolled back height=600/)
      }),
    120_000
  )
})
