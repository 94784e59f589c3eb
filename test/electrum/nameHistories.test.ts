import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { regtestParams } from "../../src/consensus/params.ts"
import { makeNameHistories } from "../../src/electrum/sources/nameHistories.ts"
import { type HeaderId, scriptKey } from "../../src/protocol/keys.ts"
import { nameIndexHash } from "../../src/protocol/nameOperation.ts"
import { blockAt, text, withNewDb } from "../names/blocks.ts"
import { noTree } from "../support/noTree.ts"

const name = text("d/example")
const key = scriptKey(nameIndexHash(name))

describe("the history of a name", () => {
  it.effect("is an error while names are not complete, or a window answers", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const state = { complete: true, window: false }
        const histories = makeNameHistories({
          names: db,
          commits: yield* db.commits,
          answers: { complete: Effect.sync(() => state.complete), fromWindow: () => state.window },
          chain: { params: regtestParams, tree: noTree }
        })
        yield* db.follower.apply([
          blockAt(0),
          blockAt(1, [{ name }]),
          blockAt(2, [{ name }, { name: text("d/other") }])
        ])
        assert.deepStrictEqual((yield* histories.confirmed(key)).map(({ height }) => height), [1, 2])
        assert.deepStrictEqual(yield* histories.confirmed(scriptKey(new Uint8Array(32))), [])
        for (const change of [{ complete: false }, { complete: true, window: true }]) {
          Object.assign(state, change)
          const failure = yield* Effect.flip(histories.confirmed(key))
          assert.deepStrictEqual([failure.code, failure.message], [2, "syncing"])
        }
      })
    ))

  it.effect("is that of the last commit, through reorganizations", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const histories = makeNameHistories({
          names: db,
          commits: yield* db.commits,
          answers: { complete: Effect.succeed(true), fromWindow: () => false },
          chain: { params: regtestParams, tree: noTree }
        })
        const heights = Effect.map(histories.confirmed(key), (all) => all.map(({ height }) => height))
        yield* db.follower.apply([blockAt(0), blockAt(1, [{ name }])])
        assert.deepStrictEqual(yield* heights, [1])
        yield* db.follower.apply([blockAt(2, [{ name: text("d/other") }])])
        assert.deepStrictEqual(yield* heights, [1])
        yield* db.follower.apply([blockAt(3, [{ name }])])
        assert.deepStrictEqual(yield* heights, [1, 3])
        assert.deepStrictEqual(yield* heights, [1, 3])
        yield* db.follower.rewind(blockAt(2))
        assert.deepStrictEqual(yield* heights, [1])
      })
    ))

  it.effect("has a coin until the block before the name expires", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const at = { tip: 2 }
        const histories = makeNameHistories({
          names: db,
          commits: yield* db.commits,
          answers: { complete: Effect.succeed(true), fromWindow: () => false },
          chain: { params: regtestParams, tree: { ...noTree, tip: () => 0 as HeaderId, height: () => at.tip } }
        })
        yield* db.follower.apply([blockAt(0), blockAt(1), blockAt(2, [{ name }])])
        const heights = Effect.map(histories.unspent(key), (coins) => coins.map(({ height }) => height))
        at.tip = 30
        assert.deepStrictEqual(yield* heights, [2])
        at.tip = 31
        assert.deepStrictEqual(yield* heights, [])
      })
    ))
})
