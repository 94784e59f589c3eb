import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as MetricKey from "effect/MetricKey"
import type * as MetricPair from "effect/MetricPair"
import * as MetricState from "effect/MetricState"
import { unwrapped } from "./bucketCounts.ts"
import type { MetricFamily, Table } from "./families.ts"

/** The exposition format 0.0.4 of Prometheus. */

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const LABEL_ESCAPES: ReadonlyMap<string, string> = new Map([["\\", "\\\\"], ["\"", "\\\""], ["\n", "\\n"]])

export const escapeLabel = (value: string): string => value.replace(/[\\"\n]/g, (char) => LABEL_ESCAPES.get(char) ?? "")

export const escapeHelp = (help: string): string => help.replace(/[\\\n]/g, (char) => LABEL_ESCAPES.get(char) ?? "")

const formatValue = (value: number | bigint): string => {
  if (value === Infinity) return "+Inf"
  return value === -Infinity ? "-Inf" : String(value)
}

type Labels = ReadonlyArray<readonly [name: string, value: string]>

const sample = (name: string, labels: Labels, value: number | bigint): string => {
  const inner = labels.map(([key, value]) => `${key}="${escapeLabel(value)}"`).join(",")
  return `${name}${inner === "" ? "" : `{${inner}}`} ${formatValue(value)}`
}

interface Series {
  readonly key: MetricKey.MetricKey.Untyped
  readonly labels: Labels
  readonly state: MetricState.MetricState.Untyped
}

/** Empty if the state is not of the family's kind. */
const seriesLines = ({ kind, name }: MetricFamily, { key, labels, state }: Series): Array<string> => {
  if (kind === "counter" && MetricState.isCounterState(state)) return [sample(name, labels, state.count)]
  if (kind === "gauge" && MetricState.isGaugeState(state)) return [sample(name, labels, state.value)]
  if (kind !== "histogram" || !MetricState.isHistogramState(state)) return []
  const bounds = state.buckets.map(([bound]) => bound).filter(Number.isFinite)
  const counts = unwrapped(key, state.buckets.map(([, count]) => count))
  return [
    ...bounds.map((bound, i) => sample(`${name}_bucket`, [...labels, ["le", String(bound)]], counts[i] ?? 0)),
    sample(`${name}_bucket`, [...labels, ["le", "+Inf"]], state.count),
    sample(`${name}_sum`, labels, state.sum),
    sample(`${name}_count`, labels, state.count)
  ]
}

const valueOfLabel = ({ labels }: Series): string => labels[0]?.[1] ?? ""

const familyLines = (family: MetricFamily, series: ReadonlyArray<Series>): Array<string> => {
  const { help, kind, name } = family
  const sorted = series.toSorted((a, b) => valueOfLabel(a) < valueOfLabel(b) ? -1 : 1)
  return [
    `# HELP ${name} ${escapeHelp(help)}`,
    `# TYPE ${name} ${kind}`,
    ...sorted.flatMap((one) => seriesLines(family, one))
  ]
}

/** Families in order, series by label. The registry is the process's, so other metrics are left out. */
export const render = (table: Table, pairs: Iterable<MetricPair.MetricPair.Untyped>): string => {
  const found = new Map<string, Array<Series>>(table.map(({ name }) => [name, []]))
  for (const { metricKey, metricState } of pairs) {
    found.get(metricKey.name)?.push({
      key: metricKey,
      labels: metricKey.tags.map(({ key, value }) => [key, value] as const),
      state: metricState
    })
  }
  return `${table.flatMap((family) => familyLines(family, found.get(family.name) ?? [])).join("\n")}\n`
}

/** Includes families without a recorded value. */
export const exposition = (table: Table): Effect.Effect<string> =>
  Effect.sync(() => {
    for (const family of table) family.register()
    return render(table, Metric.unsafeSnapshot())
  })
