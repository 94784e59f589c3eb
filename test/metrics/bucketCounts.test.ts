import { assert, describe, it } from "@effect/vitest"
import { FastCheck, MetricBoundaries, MetricKey } from "effect"
import { unwrapped } from "../../src/metrics/bucketCounts.ts"

const WRAP = 2 ** 32

const BOUNDARIES = MetricBoundaries.fromIterable([1, 2])

/** A series of its own. */
const series = (name: string) => MetricKey.histogram(name, BOUNDARIES)

/** What Effect shows of counts that it keeps in 32 bits. */
const shown = (counts: ReadonlyArray<number>): Array<number> => {
  let total = 0
  return counts.map((count) => total += count % WRAP)
}

const cumulative = (counts: ReadonlyArray<number>): Array<number> => {
  let total = 0
  return counts.map((count) => total += count)
}

describe("unwrapped", () => {
  it("leaves counts as they are below the limit, and goes on above it", () => {
    const key = series("limit")
    for (const counts of [[0, 5, 1], [WRAP - 1, 5, 1], [WRAP, 5, 1], [WRAP + 7, 5, 2], [2 * WRAP, WRAP, 2]]) {
      assert.deepStrictEqual(unwrapped(key, shown(counts)), cumulative(counts))
    }
  })

  it("keeps series apart", () => {
    const [a, b] = [series("a"), series("b")]
    unwrapped(a, [100, 100])
    assert.deepStrictEqual(unwrapped(b, [3, 4]), [3, 4])
    assert.deepStrictEqual(unwrapped(a, [1, 2]), [WRAP + 1, WRAP + 2])
  })

  it.prop("knows every count that it is shown often enough", {
    steps: FastCheck.array(FastCheck.array(FastCheck.nat(WRAP - 1), { minLength: 3, maxLength: 3 }), { maxLength: 20 })
  }, ({ steps }) => {
    const key = series("any")
    let counts = [0, 0, 0]
    for (const step of steps) {
      counts = counts.map((count, i) => count + (step[i] ?? 0))
      assert.deepStrictEqual(unwrapped(key, shown(counts)), cumulative(counts))
    }
  })
})
