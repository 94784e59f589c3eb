import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { isDeepStrictEqual } from "node:util"
import { regtestParams } from "../../src/consensus/params.ts"
import type { FoundHistory } from "../../src/electrum/sources/Histories.ts"
import { makeNameHistories } from "../../src/electrum/sources/nameHistories.ts"
import { type HeaderId, nameKey, scriptKey } from "../../src/protocol/keys.ts"
import { nameIndexHash } from "../../src/protocol/nameOperation.ts"
import { blockAt, text, withNewDb } from "../names/blocks.ts"
import { eventually } from "../support/eventually.ts"
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
          chain: { params: regtestParams, tree: { ...noTree, tip: () => 0 as HeaderId } }
        })
        yield* db.follower.apply([
          blockAt(0),
          blockAt(1, [{ name }]),
          blockAt(2, [{ name }, { name: text("d/other") }])
        ])
        assert.deepStrictEqual((yield* histories.confirmed(key)).map(({ height }) => height), [1, 2])
        assert.deepStrictEqual(yield* histories.confirmed(scriptKey(new Uint8Array(32))), [])
        yield* eventually(
          "memory has it",
          Effect.map(histories.all(key), (all) => isDeepStrictEqual(histories.known?.(key), all))
        )
        let height = 3
        for (const change of [{ complete: false }, { complete: true, window: true }]) {
          Object.assign(state, change)
          // A commit makes the source ask again.
          yield* db.follower.apply([blockAt(height++)])
          assert.isUndefined(histories.known?.(key))
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
          chain: { params: regtestParams, tree: { ...noTree, tip: () => 0 as HeaderId } }
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
        yield* db.follower.apply([blockAt(3), blockAt(4, [{ name }, { name }])])
        assert.deepStrictEqual(yield* heights, [1, 4, 4])
        yield* db.follower.apply([blockAt(5, [{ name }])])
        yield* db.follower.apply([blockAt(6, [{ name }])])
        assert.deepStrictEqual(yield* heights, [1, 4, 4, 5, 6])
        yield* db.follower.rewind(blockAt(3))
        yield* db.follower.apply([blockAt(4), blockAt(5, [{ name }])])
        assert.deepStrictEqual(yield* heights, [1, 5])
      })
    ))

  it.effect("is read as a whole if the chain went back behind what memory has, although nobody told of it", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const commits = { count: 0, touchedBehind: () => new Set([nameKey(name)]) }
        const histories = makeNameHistories({
          names: db,
          commits,
          answers: { complete: Effect.succeed(true), fromWindow: () => false },
          chain: { params: regtestParams, tree: { ...noTree, tip: () => 0 as HeaderId } }
        })
        const heights = Effect.map(histories.confirmed(key), (all) => all.map(({ height }) => height))
        yield* db.follower.apply([blockAt(0), blockAt(1, [{ name }]), blockAt(2, [{ name }])])
        assert.deepStrictEqual(yield* heights, [1, 2])
        yield* db.follower.rewind(blockAt(1))
        commits.count++
        assert.deepStrictEqual(yield* heights, [1])
        yield* db.follower.rewind(blockAt(0))
        commits.count++
        assert.deepStrictEqual(yield* heights, [])
      })
    ))

  it.effect("is the same read with others, some at a time", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const state = { complete: true }
        const histories = makeNameHistories({
          names: db,
          commits: yield* db.commits,
          answers: { complete: Effect.sync(() => state.complete), fromWindow: () => false },
          chain: { params: regtestParams, tree: { ...noTree, tip: () => 0 as HeaderId } }
        })
        const names = Array.from({ length: 300 }, (_, at) => text(`d/${at}`))
        const keys = [...names.map((each) => scriptKey(nameIndexHash(each))), scriptKey(new Uint8Array(32))]
        const all = Effect.gen(function*() {
          const found: Array<FoundHistory> = []
          while (found.length < keys.length) {
            const some = yield* histories.several(keys.slice(found.length))
            assert.isNotEmpty(some)
            found.push(...some)
          }
          return found
        })
        yield* db.follower.apply([blockAt(0), blockAt(1, names.map((each) => ({ name: each })))])
        yield* all
        // Some are in memory now, and some of these are old.
        yield* db.follower.apply([blockAt(2, names.slice(100, 200).map((each) => ({ name: each })))])
        const found = yield* all
        assert.deepStrictEqual(found, yield* Effect.forEach(keys, (each) => Effect.either(histories.all(each))))
        const lengths = found.map((each) => Either.isRight(each) ? each.right.confirmed.length : undefined)
        assert.deepStrictEqual([lengths[0], lengths[100], lengths[299], lengths[300]], [1, 2, 1, 0])
        assert.deepStrictEqual(yield* histories.several([]), [])
        state.complete = false
        yield* db.follower.apply([blockAt(3)])
        assert.strictEqual((yield* Effect.flip(histories.several(keys))).code, 2)
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
