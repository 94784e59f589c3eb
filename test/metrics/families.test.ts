import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { metricsOf } from "../../src/metrics/families.ts"

const { counter, counterBy, gauge, gaugeBy, histogram, histogramBy } = metricsOf("test")

const named = Effect.map(
  Metric.snapshot,
  (pairs) => (name: string) =>
    pairs.filter(({ metricKey }) => metricKey.name === name).map(({ metricKey, metricState }) => ({
      labels: Object.fromEntries(metricKey.tags.map(({ key, value }) => [key, value])),
      state: metricState
    }))
)

describe("families", () => {
  it.effect("are in the registry of the process under the name, help and labels that they were made with", () =>
    Effect.gen(function*() {
      const seen = counterBy("test_seen_total", "Seen.", { label: "what" })
      seen.of("a").increase()
      seen.of("b").increase(3)
      const found = (yield* named)("test_seen_total")
      assert.deepStrictEqual(found.map(({ labels }) => labels["what"]).sort(), ["a", "b"])
      // A host that uses Effect's own API meets the same series.
      const theirs = Metric.counter("test_seen_total", { description: "Seen.", incremental: true })
      assert.strictEqual((yield* Metric.value(Metric.tagged(theirs, "what", "b"))).count, 3)
    }))

  it.effect("of a closed set have all their series once they are registered, at 0", () =>
    Effect.gen(function*() {
      const closed = counterBy("test_closed_total", "Closed.", { label: "kind", values: ["x", "y"] })
      assert.deepStrictEqual((yield* named)("test_closed_total"), [])
      closed.register()
      const found = (yield* named)("test_closed_total")
      assert.sameDeepMembers(found.map(({ labels }) => labels), [{ kind: "x" }, { kind: "y" }])
      closed.of("x").increase(2)
      closed.register()
      assert.deepStrictEqual([closed.of("x").value(), closed.of("y").value()], [2, 0])
    }))

  it("count up and never down", () => {
    const count = counter("test_up_total", "Up.")
    count.increase()
    count.increase(0)
    count.increase(-5)
    count.increase(2.5)
    assert.strictEqual(count.value(), 3.5)
  })

  it("show what was set last", () => {
    const one = gauge("test_level", "Level.")
    one.set(5)
    one.set(-2)
    const many = gaugeBy("test_levels", "Levels.", { label: "which" })
    many.of("a").set(1)
    many.of("b").set(2)
    many.of("a").set(3)
    assert.deepStrictEqual([one.value(), many.of("a").value(), many.of("b").value()], [-2, 3, 2])
  })

  it("count what they observe, each series for itself", () => {
    const one = histogram("test_seconds", "Seconds.", [0.1, 1])
    one.observe(0.05)
    one.observe(7)
    const many = histogramBy("test_by_seconds", "S.", { label: "m", buckets: [1] })
    many.of("a").observe(1)
    assert.deepStrictEqual([one.count(), many.of("a").count(), many.of("b").count()], [2, 1, 0])
  })

  it("are listed in the table of their subject, in the order in which they were made", () => {
    const { gauge, histogramBy, table } = metricsOf("listed")
    const made = [gauge("test_listed_b", "B."), histogramBy("test_listed_a", "A.", { label: "of", buckets: [1] })]
    assert.deepStrictEqual(table, made)
    assert.deepStrictEqual(table.map(({ category }) => category), ["listed", "listed"])
  })
})
