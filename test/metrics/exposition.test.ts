import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Metric, MetricBoundaries } from "effect"
import { escapeHelp, escapeLabel, exposition } from "../../src/metrics/exposition.ts"
import { metricsOf, type Table } from "../../src/metrics/families.ts"
import { readExposition } from "../support/exposition.ts"

const { counter, counterBy, gauge, gaugeBy, histogram, histogramBy } = metricsOf("test")

const shown = (table: Table) => Effect.map(exposition(table), readExposition)

describe("exposition", () => {
  it.effect("shows the families of the table in its order, and nothing else of the registry", () =>
    Effect.gen(function*() {
      yield* Metric.increment(Metric.counter("host_things_total"))
      const other = counter("other_things_total", "Of another table.")
      other.increase()
      const table = (["test_b_total", "test_c_total", "test_a_total"] as const).map((name) =>
        counter(name, `Help of ${name}.`)
      )
      const families = yield* shown(table)
      assert.deepStrictEqual(
        families,
        table.map(({ help, name }) => ({ name, help, type: "counter", samples: [{ name, labels: {}, value: 0 }] }))
      )
    }))

  it.effect("has HELP and TYPE of a family without series", () =>
    Effect.gen(function*() {
      const empty = counterBy("test_empty_total", "Empty.", { label: "method" })
      assert.strictEqual(
        yield* exposition([empty]),
        "# HELP test_empty_total Empty.\n# TYPE test_empty_total counter\n"
      )
    }))

  it.effect("counts a histogram's buckets upwards, ends with +Inf, and puts bounds into the lower bucket", () =>
    Effect.gen(function*() {
      const sizes = histogram("test_size_bytes", "Size.", [1, 10, 100])
      for (const size of [0.5, 1, 1.5, 10, 100, 101, 1e9]) sizes.observe(size)
      assert.strictEqual(
        yield* exposition([sizes]),
        [
          "# HELP test_size_bytes Size.",
          "# TYPE test_size_bytes histogram",
          "test_size_bytes_bucket{le=\"1\"} 2",
          "test_size_bytes_bucket{le=\"10\"} 4",
          "test_size_bytes_bucket{le=\"100\"} 5",
          "test_size_bytes_bucket{le=\"+Inf\"} 7",
          `test_size_bytes_sum ${0.5 + 1 + 1.5 + 10 + 100 + 101 + 1e9}`,
          "test_size_bytes_count 7",
          ""
        ].join("\n")
      )
    }))

  it.effect("has one order, however the series came about", () =>
    Effect.gen(function*() {
      const level = gaugeBy("test_order", "Order.", { label: "which" })
      for (const which of ["m", "z", "a", "k"]) level.of(which).set(1)
      const [family] = yield* shown([level])
      assert.deepStrictEqual(family?.samples.map(({ labels }) => labels["which"]), ["a", "k", "m", "z"])
    }))

  it.effect("writes values as a collector reads them", () =>
    Effect.gen(function*() {
      const level = gaugeBy("test_value", "Value.", { label: "at" })
      const values = { a: Infinity, b: -Infinity, c: NaN, d: 1e-7, e: 2 ** 52 + 1, f: -0.1, g: 1e300 }
      for (const [at, value] of Object.entries(values)) level.of(at).set(value)
      const [family] = yield* shown([level])
      assert.deepStrictEqual(family?.samples.map(({ value }) => value), Object.values(values))
    }))

  it.prop("escapes labels and help so that what is read is what was meant", {
    help: FastCheck.string({ unit: "binary" }),
    value: FastCheck.string({ unit: "binary" })
  }, ({ help, value }) => {
    const text = `# HELP test ${escapeHelp(help)}\n# TYPE test gauge\ntest{text="${escapeLabel(value)}"} 1\n`
    const [family] = readExposition(text)
    assert.strictEqual(family?.help, help)
    assert.deepStrictEqual(family?.samples, [{ name: "test", labels: { text: value }, value: 1 }])
  })

  it.effect("escapes the labels and the help of what it shows", () =>
    Effect.gen(function*() {
      const count = counterBy("test_escape_total", "A \\ and\nanother line.", { label: "text" })
      count.of("a\"b\\c\nd").increase()
      assert.strictEqual(
        yield* exposition([count]),
        [
          "# HELP test_escape_total A \\\\ and\\nanother line.",
          "# TYPE test_escape_total counter",
          "test_escape_total{text=\"a\\\"b\\\\c\\nd\"} 1",
          ""
        ].join("\n")
      )
    }))

  it.effect("leaves out what a host keeps under one of our names as something else", () =>
    Effect.gen(function*() {
      const ours = gauge("test_clash", "Ours.")
      ours.set(4)
      yield* Metric.increment(Metric.counter("test_clash"))
      yield* Metric.update(Metric.histogram("test_clash", MetricBoundaries.fromIterable([1])), 1)
      const [family] = yield* shown([ours])
      assert.deepStrictEqual(family?.samples, [{ name: "test_clash", labels: {}, value: 4 }])
    }))

  it.effect("keeps the labels of a histogram before its bounds", () =>
    Effect.gen(function*() {
      const times = histogramBy("test_m_seconds", "T.", { label: "method", buckets: [1] })
      times.of("b").observe(2)
      times.of("a").observe(1)
      const lines = (yield* exposition([times])).split("\n").slice(2, -1)
      assert.deepStrictEqual(lines, [
        "test_m_seconds_bucket{method=\"a\",le=\"1\"} 1",
        "test_m_seconds_bucket{method=\"a\",le=\"+Inf\"} 1",
        "test_m_seconds_sum{method=\"a\"} 1",
        "test_m_seconds_count{method=\"a\"} 1",
        "test_m_seconds_bucket{method=\"b\",le=\"1\"} 0",
        "test_m_seconds_bucket{method=\"b\",le=\"+Inf\"} 1",
        "test_m_seconds_sum{method=\"b\"} 2",
        "test_m_seconds_count{method=\"b\"} 1"
      ])
    }))
})
