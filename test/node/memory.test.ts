import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Budget } from "../../src/base/MemoryBudget.ts"
import { memoryBudget, memoryEvicted, memoryRefused } from "../../src/metrics/metrics.ts"
import * as Memory from "../../src/node/memory.ts"

describe("limitedLog", () => {
  it("logs the first event of an action at once, and the events of the next ten seconds as one number", () => {
    const lines: Array<readonly [string, unknown]> = []
    let now = 0
    const listener = Memory.limitedLog((message, { omitted }) => lines.push([message, omitted]), () => now)
    const event = { kind: "frames", owner: "peer 1", held: 5 } as const
    listener({ ...event, action: "refused" })
    for (let i = 0; i < 1_000; i++) listener({ ...event, action: "refused" })
    listener({ ...event, action: "evicted" })
    now = 9_999
    listener({ ...event, action: "refused" })
    now = 10_000
    listener({ ...event, action: "refused" })
    assert.deepStrictEqual(lines.map(([, omitted]) => omitted), [0, 0, 1_001])
    assert.strictEqual(lines[0]?.[0], lines[2]?.[0])
  })
})

describe("the memory budget of a node", () => {
  it.scoped("counts refusals and evictions by kind, and names the peer in the log", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const collect = Logger.make<unknown, void>(({ message }) => void lines.push(JSON.stringify(message)))
      const before = { refused: memoryRefused.of("frames").value(), evicted: memoryEvicted.of("frames").value() }
      yield* Effect.gen(function*() {
        const budget = yield* Budget
        const limit = budget.limit("frames")
        const options = { share: 1, evictable: true, evict: () => {} }
        const first = budget.open({ ...options, owner: "peer 1.2.3.4:5" })
        const second = budget.open({ ...options, owner: "peer 6.7.8.9:10" })
        assert.isFalse(first.take("frames", limit + 1))
        assert.isTrue(first.take("frames", limit))
        yield* yield* Memory.sampleMemory
        assert.strictEqual(memoryBudget.of("frames").value(), limit)
        assert.isTrue(second.take("frames", 1))
        assert.strictEqual(memoryRefused.of("frames").value(), before.refused + 1)
        assert.strictEqual(memoryEvicted.of("frames").value(), before.evicted + 1)
        yield* Effect.yieldNow()
      }).pipe(Effect.provide(Memory.layer.pipe(Layer.provideMerge(Logger.replace(Logger.defaultLogger, collect)))))
      assert.strictEqual(lines.length, 2)
      assert.include(lines[0], "peer 1.2.3.4:5")
      assert.include(lines[1], "peer 1.2.3.4:5")
    }))
})
