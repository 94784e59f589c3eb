import { assert } from "@effect/vitest"
import { Duration, Effect, Fiber, TestClock } from "effect"
import { displayHash } from "../../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { asleepFor } from "../../support/eventually.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")

const tipAt = (height: number) => ({ hash: displayHash(blocks[height]?.hash ?? assert.fail()), height })

const NOBODYS = "00".repeat(32)

layer(methodNode({ blocks: false }))("waiting for a tip", (it) => {
  it.effect("returns at once if the tip is there already", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      assert.deepStrictEqual((yield* call("waitforblock", tipAt(0).hash)).value, tipAt(0))
      assert.deepStrictEqual((yield* call("waitforblockheight", 0)).value, tipAt(0))
      assert.deepStrictEqual((yield* call("waitfornewblock", 0, NOBODYS)).value, tipAt(0))
    }))

  it.effect("returns the current tip when the time is over", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      for (const [name, ...params] of [["waitfornewblock"], ["waitforblock", NOBODYS], ["waitforblockheight", 9]]) {
        const fiber = yield* Effect.fork(call(String(name), ...params, 500))
        yield* asleepFor(Duration.millis(500))
        yield* TestClock.adjust("500 millis")
        assert.deepStrictEqual((yield* Fiber.join(fiber)).value, tipAt(0))
      }
    }))

  it.effect("refuses a negative timeout", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      for (const params of [["waitfornewblock"], ["waitforblock", NOBODYS], ["waitforblockheight", 9]]) {
        assert.deepStrictEqual(yield* refusal(String(params[0]), ...params.slice(1), -1), {
          code: -1,
          message: "Negative timeout"
        })
      }
    }))

  it.effect("returns the tip that was waited for, and when the node stops the current one", () =>
    Effect.gen(function*() {
      const { call, chain, lifecycle } = yield* MethodNode
      const anyNew = yield* Effect.fork(call("waitfornewblock"))
      const second = yield* Effect.fork(call("waitforblockheight", 2))
      const third = yield* Effect.fork(call("waitforblock", tipAt(3).hash, 60_000))
      const never = yield* Effect.fork(call("waitforblock", NOBODYS))
      yield* asleepFor(Duration.minutes(1))
      yield* chain.sink.submit(blocks[1] ?? assert.fail())
      assert.deepStrictEqual((yield* Fiber.join(anyNew)).value, tipAt(1))
      yield* chain.sink.submit(blocks[2] ?? assert.fail())
      assert.deepStrictEqual((yield* Fiber.join(second)).value, tipAt(2))
      yield* chain.sink.submit(blocks[3] ?? assert.fail())
      assert.deepStrictEqual((yield* Fiber.join(third)).value, tipAt(3))
      yield* lifecycle.stop
      assert.deepStrictEqual((yield* Fiber.join(never)).value, tipAt(3))
    }))
})
