import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, MetricState } from "effect"
import { eventLoopDelay, residentMemory } from "../../src/metrics/metrics.ts"
import { nextInterval, sampleProcess, watchEventLoop } from "../../src/metrics/processMetrics.ts"

/** How often the delay of the event loop was measured, and its sum in seconds. */
const delay = () => {
  const pair = Metric.unsafeSnapshot().find(({ metricKey }) => metricKey.name === eventLoopDelay.name)
  if (pair === undefined || !MetricState.isHistogramState(pair.metricState)) return { count: 0, sum: 0 }
  const { count, sum } = pair.metricState
  return { count, sum }
}

const looked = Effect.async<void>((resume) => {
  const before = delay().count
  const poll = setInterval(() => {
    if (delay().count === before) return
    clearInterval(poll)
    resume(Effect.void)
  }, 1)
})

describe("processMetrics", () => {
  it.live("measure how long work blocked the event loop", () =>
    Effect.gen(function*() {
      const before = delay()
      yield* Effect.scoped(Effect.gen(function*() {
        yield* watchEventLoop
        const until = performance.now() + 220
        while (performance.now() < until);
        yield* looked
      }))
      const after = delay()
      assert.isAtLeast(after.count - before.count, 1)
      assert.isAtLeast(after.sum - before.sum, 0.19)
    }))

  it("measure seldom while the process is idle, and often again after a delay", () => {
    let wakeUps = 0
    let interval = 20
    for (let passed = 0; passed < 60_000; passed += interval) {
      wakeUps++
      interval = nextInterval(interval, { delay: 1, share: 0.001 })
    }
    assert.isAtMost(wakeUps, 60)
    assert.strictEqual(nextInterval(interval, { delay: 30, share: 0.001 }), 20)
    assert.strictEqual(nextInterval(interval, { delay: 1, share: 0.5 }), 20)
  })

  it.effect("report the memory of the process", () =>
    Effect.gen(function*() {
      yield* sampleProcess
      assert.isBelow(Math.abs(residentMemory.value() / process.memoryUsage.rss() - 1), 0.5)
    }))
})
