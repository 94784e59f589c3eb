import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { namesExpiring } from "../../src/metrics/alertMetrics.ts"
import { exposition } from "../../src/metrics/exposition.ts"
import { METRICS } from "../../src/metrics/metrics.ts"
import { metricPart } from "../../src/metrics/shownMetrics.ts"
import { withDirectory } from "../support/temporary.ts"

const contrib = (path: string): string => fileURLToPath(new URL(`../../contrib/${path}`, import.meta.url))

const text = (path: string): string => readFileSync(contrib(path), "utf8")

const promtool = (args: ReadonlyArray<string>, input = "") =>
  spawnSync("promtool", args, { encoding: "utf8", input, cwd: contrib("prometheus") })

/** Tests that need Prometheus are skipped where it is not installed. */
const hasPromtool = promtool(["--version"]).status === 0

/** Series that a family is stored as. */
const seriesOf = ({ kind, name }: { readonly kind: string; readonly name: string }): ReadonlyArray<string> =>
  kind === "histogram" ? ["_bucket", "_sum", "_count"].map((suffix) => name + suffix) : [name]

const KNOWN: ReadonlySet<string> = new Set(METRICS.flatMap(seriesOf))

const namesIn = (expressions: string): ReadonlyArray<string> => expressions.match(/\bsvcd_[a-z_]+/g) ?? []

/** All members of a JSON value with a name, at any depth. */
const members = (json: unknown, name: string): ReadonlyArray<unknown> => {
  if (typeof json !== "object" || json === null) return []
  const own = Object.entries(json).flatMap(([key, value]) => key === name ? [value] : [])
  return [...own, ...Object.values(json).flatMap((value) => members(value, name))]
}

const dashboard: unknown = JSON.parse(text("grafana/svcd-dashboard.json"))
const panels = members(dashboard, "panels").flat()
const expressions = members(dashboard, "expr").filter((expr) => typeof expr === "string")

describe("alerts", () => {
  const rules = text("prometheus/svcd.rules.yml")
  const documented = readFileSync(fileURLToPath(new URL("../../docs/metrics.md", import.meta.url)), "utf8")
  const ROW = /^\| `(Svcd\w+)` ?(\*?) \|/gm

  it("are about existing metrics", () => {
    const used = namesIn(rules)
    assert.isAbove(used.length, 20)
    assert.deepStrictEqual(used.filter((name) => !KNOWN.has(name)), [])
  })

  it("have a test each, and a row in the documents", () => {
    const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, alert]) => alert ?? "")
    assert.isAbove(alerts.length, 10)
    assert.deepStrictEqual(alerts.filter((alert) => !text("prometheus/svcd.rules.test.yml").includes(alert)), [])
    assert.deepStrictEqual(Array.from(documented.matchAll(ROW), ([, alert]) => alert ?? ""), alerts)
  })

  it("that need -metricsdetail have a star in the documents", () => {
    const hidden = [...METRICS.filter((family) => metricPart(family) === "detail"), namesExpiring].flatMap(seriesOf)
    const needing = rules.split("- alert: ").slice(1).flatMap((rule) => {
      const needs = namesIn(rule).some((name) => hidden.includes(name))
      return needs ? [rule.slice(0, rule.indexOf("\n"))] : []
    })
    assert.isAbove(needing.length, 2)
    const starred = Array.from(documented.matchAll(ROW)).flatMap(([, alert = "", star]) => star === "*" ? [alert] : [])
    assert.deepStrictEqual(starred, needing.filter((alert) => alert !== "SvcdDetailMissing"))
  })

  it.skipIf(!hasPromtool)("are what Prometheus reads, and fire when they should", () => {
    for (const args of [["check", "config", "prometheus.yml"], ["test", "rules", "svcd.rules.test.yml"]]) {
      const { status, stderr, stdout } = promtool(args)
      assert.strictEqual(status, 0, `promtool ${args.join(" ")}: ${stdout}${stderr}`)
    }
  })
})

describe("the dashboard", () => {
  it("shows every metric, and only existing ones", () => {
    const used = new Set(expressions.flatMap(namesIn))
    assert.deepStrictEqual([...used].filter((name) => !KNOWN.has(name)), [])
    const shown = METRICS.filter((family) => seriesOf(family).some((name) => used.has(name)))
    assert.deepStrictEqual(METRICS.filter((family) => !shown.includes(family)).map(({ name }) => name), [])
  })

  it("refers to the data source variable, and to no address", () => {
    const sources = members(dashboard, "datasource").filter((source) => typeof source === "object")
    assert.isAbove(sources.length, 30)
    for (const source of sources) assert.deepStrictEqual(source, { type: "prometheus", uid: "${datasource}" })
    assert.notMatch(JSON.stringify(dashboard), /https?:|localhost|127\.0\.0\.1/)
  })

  it("has panels that do not overlap, each with a number of its own", () => {
    const places = panels.map((panel) => Object.assign({ id: 0, gridPos: { x: 0, y: 0, w: 0, h: 0 } }, panel))
    assert.isAbove(places.length, 30)
    assert.strictEqual(new Set(places.map(({ id }) => id)).size, places.length)
    const cells = places.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + i % w},${y + Math.floor(i / w)}`)
    )
    assert.strictEqual(new Set(cells).size, cells.length)
    assert.isTrue(places.every(({ gridPos: { w, x } }) => x >= 0 && x + w <= 24))
  })

  it.skipIf(!hasPromtool)("has expressions that Prometheus reads", () => {
    const rules = expressions.map((expr, i) => {
      const plain = expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$(job|instance)/g, ".*")
      return { record: `dashboard:expression_${i}`, expr: plain }
    })
    const { status, stderr, stdout } = withDirectory((directory) => {
      const file = join(directory, "dashboard.rules.json")
      writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }))
      return promtool(["check", "rules", file])
    })
    assert.strictEqual(status, 0, `${stdout}${stderr}`)
    assert.include(stdout + stderr, `${rules.length} rules found`)
  })
})

/** The name is the specification's, and Prometheus keeps this ending for histograms: nothing else is to be said. */
const KNOWN_COMPLAINTS = [
  "svcd_namedb_names_count non-histogram and non-summary metrics should not have \"_count\" suffix"
]

describe("the exposition", () => {
  it.effect.skipIf(!hasPromtool)(
    "is what Prometheus reads, and promtool finds one fault with it: a given name",
    () =>
      Effect.gen(function*() {
        const { stderr, stdout } = promtool(["check", "metrics"], yield* exposition(METRICS))
        assert.deepStrictEqual(`${stdout}${stderr}`.trim().split("\n"), KNOWN_COMPLAINTS)
      })
  )
})
