import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import * as Warnings from "../../src/chain/Warnings.ts"
import { DataHealth } from "../../src/storage/DataHealth.ts"
import { chainLayer, temporaryDirectory, type TestChain, testChain } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { emptyChain } from "../support/regtest.ts"
import { allBlocks } from "../support/twoBranches.ts"

/** Runs a test on a chain of ten blocks. */
const onTenBlocks = <A, E, R>(use: (chain: TestChain) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const chain = yield* testChain
    yield* chain.sink.deliver(allBlocks(emptyChain(10)).slice(1), false)
    return yield* use(chain)
  }).pipe(
    Effect.provide(Layer.unwrapScoped(Effect.map(temporaryDirectory, (directory) =>
      Warnings.layer.pipe(Layer.provideMerge(chainLayer(directory))))))
  )

const current = Effect.flatMap(Warnings.Warnings, (warnings) => warnings.current)

describe("Warnings", () => {
  it.scopedLive("an invalid chain has to be more than six blocks ahead", () =>
    onTenBlocks((chain) =>
      Effect.gen(function*() {
        const [fourth, fifth] = [chain.tree.hash(chain.tree.at(4)).slice(), chain.tree.hash(chain.tree.at(5)).slice()]
        assert.deepStrictEqual(yield* current, [])
        yield* chain.control.invalidate(fifth)
        assert.deepStrictEqual(yield* current, [], "six blocks ahead of block 4")
        yield* chain.control.invalidate(fourth)
        assert.deepStrictEqual(yield* current, [Warnings.LONG_INVALID_CHAIN], "seven blocks ahead of block 3")
        yield* chain.control.reconsider(fifth)
        assert.deepStrictEqual(yield* current, [])
      })
    ))

  it.scopedLive("doubts and notices are warnings, and each is raised when it appears", () =>
    onTenBlocks((chain) =>
      Effect.gen(function*() {
        const health = yield* DataHealth
        const raised: Array<string> = []
        const withdraw = yield* health.doubt({ what: "names.db", reason: "page 7 is damaged" })
        const { raised: stream } = yield* Warnings.Warnings
        yield* Effect.forkScoped(Stream.runForEach(stream, (warning) => Effect.sync(() => void raised.push(warning))))
        yield* eventually("the first is raised", () => raised.length === 1)
        yield* Effect.asVoid(health.notice({ what: "blocks", reason: "block 9 is missing" }))
        yield* Effect.asVoid(health.notice({ what: "blocks", reason: "block 9 is missing" }))
        yield* eventually("the second is raised", () => raised.length === 2)
        assert.deepStrictEqual(raised, ["names.db: page 7 is damaged", "blocks: block 9 is missing"])
        assert.deepStrictEqual(yield* current, raised)
        yield* withdraw
        yield* chain.control.invalidate(chain.tree.hash(chain.tree.at(1)).slice())
        yield* eventually("the event of the chain raises the third", () => raised.length === 3)
        assert.deepStrictEqual(raised.slice(2), [Warnings.LONG_INVALID_CHAIN])
        assert.deepStrictEqual(yield* current, [Warnings.LONG_INVALID_CHAIN, "blocks: block 9 is missing"])
      })
    ))
})
