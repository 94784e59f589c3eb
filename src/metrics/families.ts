import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"

// Values are in the registry of the process, where a host finds them with its own. A series is looked up once.
// Recording is then a plain call (about 20 ns) without a fiber.

export type MetricKind = "counter" | "gauge" | "histogram"

/** For collectors and documents. */
export interface MetricFamily {
  readonly name: string
  readonly kind: MetricKind
  /** The subject, such as `network`, which orders documents. */
  readonly category: string
  /** One sentence: what the number counts, and what a change in it means. */
  readonly help: string
  /** The label's name; `undefined` for a single series. */
  readonly label: string | undefined
  /** Values of the label, if known in advance. Their series start at 0. */
  readonly values: ReadonlyArray<string> | undefined
  /** Upper bounds of a histogram's buckets, ascending, without infinity. */
  readonly buckets: ReadonlyArray<number> | undefined
  /** Registers the series known in advance, as the registry omits unused metrics. */
  readonly register: () => void
}

export type Table = ReadonlyArray<MetricFamily>

export interface Counter {
  /** A negative amount changes nothing. */
  readonly increase: (amount?: number) => void
  readonly value: () => number
}

export interface Gauge {
  readonly set: (value: number) => void
  readonly value: () => number
}

/** Durations are in seconds. */
export interface Histogram {
  readonly observe: (value: number) => void
  readonly count: () => number
}

export type Single<Series> = MetricFamily & Series

/** One series per label value, which lives as long as the process. Values are a closed set, never remote text. */
export interface Labelled<Value extends string, Series> extends MetricFamily {
  readonly of: (value: Value) => Series
  /** Whether any series exists, from the start where the values are known in advance. */
  readonly isUsed: () => boolean
}

/** Words with underscores. */
type MetricName = `${string}_${string}`

/** A label and, if the compiler knows them, all its values. */
interface Label<Value extends string> {
  readonly label: string
  readonly values?: ReadonlyArray<Value>
}

type Buckets = ReadonlyArray<number>

type Facts = Pick<MetricFamily, "name" | "help">

/** No labels make a single series. */
interface Maker<Series> {
  readonly kind: MetricKind
  readonly buckets?: Buckets
  readonly make: (labels: ReadonlyArray<MetricLabel.MetricLabel>) => Series & { readonly register: () => void }
}

const counterOf = ({ help, name }: Facts): Maker<Counter> => ({
  kind: "counter",
  make: (labels) => {
    const key = MetricKey.counter(name, { description: help, incremental: true })
    const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labels))
    return {
      increase: (amount = 1) => metric.unsafeUpdate(amount, []),
      value: () => metric.unsafeValue([]).count,
      register: () => void metric.register()
    }
  }
})

const gaugeOf = ({ help, name }: Facts): Maker<Gauge> => ({
  kind: "gauge",
  make: (labels) => {
    const metric = Metric.fromMetricKey(
      MetricKey.taggedWithLabels(MetricKey.gauge(name, { description: help }), labels)
    )
    return {
      set: (value) => metric.unsafeUpdate(value, []),
      value: () => metric.unsafeValue([]).value,
      register: () => void metric.register()
    }
  }
})

const histogramOf = ({ help, name }: Facts, buckets: Buckets): Maker<Histogram> => {
  const boundaries = MetricBoundaries.fromIterable(buckets)
  return {
    kind: "histogram",
    buckets,
    make: (labels) => {
      const key = MetricKey.histogram(name, boundaries, help)
      const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labels))
      return {
        observe: (value) => metric.unsafeUpdate(value, []),
        count: () => metric.unsafeValue([]).count,
        register: () => void metric.register()
      }
    }
  }
}

/** Makes the metrics of a subject. `table` lists them in the order of their making. */
export const metricsOf = (category: string) => {
  const made: Array<MetricFamily> = []
  const table: Table = made
  const listed = <Family extends MetricFamily>(family: Family): Family => {
    made.push(family)
    return family
  }
  const single = <Series>(facts: Facts, { buckets, kind, make }: Maker<Series>): Single<Series> =>
    listed({ ...facts, category, kind, label: undefined, values: undefined, buckets, ...make([]) })
  const labelled = <Value extends string, Series>(
    facts: Facts,
    { label, values }: Label<Value>,
    { buckets, kind, make }: Maker<Series>
  ): Labelled<Value, Series> => {
    const series = new Map<Value, ReturnType<typeof make>>()
    const of = (value: Value) => {
      const known = series.get(value)
      if (known !== undefined) return known
      const made = make([MetricLabel.make(label, value)])
      series.set(value, made)
      return made
    }
    const register = (): void => values?.forEach((value) => of(value).register())
    return listed({ ...facts, category, kind, label, values, buckets, of, isUsed: () => series.size > 0, register })
  }
  return {
    table,
    counter: (name: MetricName, help: string) => single({ name, help }, counterOf({ name, help })),
    counterBy: <Value extends string>(name: MetricName, help: string, by: Label<Value>) =>
      labelled({ name, help }, by, counterOf({ name, help })),
    gauge: (name: MetricName, help: string) => single({ name, help }, gaugeOf({ name, help })),
    gaugeBy: <Value extends string>(name: MetricName, help: string, by: Label<Value>) =>
      labelled({ name, help }, by, gaugeOf({ name, help })),
    histogram: (name: MetricName, help: string, buckets: Buckets) =>
      single({ name, help }, histogramOf({ name, help }, buckets)),
    histogramBy: <Value extends string>(
      name: MetricName,
      help: string,
      { buckets, ...by }: Label<Value> & { readonly buckets: Buckets }
    ) => labelled({ name, help }, by, histogramOf({ name, help }, buckets))
  }
}
