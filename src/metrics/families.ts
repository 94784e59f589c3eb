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
}

/** Words with underscores. */
export type MetricName = `${string}_${string}`

export interface Facts {
  readonly name: MetricName
  readonly category: string
  readonly help: string
}

/** A label and, if the compiler knows them, all its values. */
export interface LabelFacts<Value extends string> {
  readonly label: string
  readonly values?: ReadonlyArray<Value>
}

/** No labels make a single series. */
type MakeSeries<Series> = (labels: ReadonlyArray<MetricLabel.MetricLabel>) => Series & { readonly register: () => void }

const counterOf = ({ help, name }: Facts): MakeSeries<Counter> => (labels) => {
  const key = MetricKey.counter(name, { description: help, incremental: true })
  const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labels))
  return {
    increase: (amount = 1) => metric.unsafeUpdate(amount, []),
    value: () => metric.unsafeValue([]).count,
    register: () => void metric.register()
  }
}

const gaugeOf = ({ help, name }: Facts): MakeSeries<Gauge> => (labels) => {
  const key = MetricKey.gauge(name, { description: help })
  const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labels))
  return {
    set: (value) => metric.unsafeUpdate(value, []),
    value: () => metric.unsafeValue([]).value,
    register: () => void metric.register()
  }
}

const histogramOf = ({ help, name }: Facts, buckets: ReadonlyArray<number>): MakeSeries<Histogram> => {
  const boundaries = MetricBoundaries.fromIterable(buckets)
  return (labels) => {
    const key = MetricKey.histogram(name, boundaries, help)
    const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labels))
    return {
      observe: (value) => metric.unsafeUpdate(value, []),
      count: () => metric.unsafeValue([]).count,
      register: () => void metric.register()
    }
  }
}

interface Family<Series> {
  readonly kind: MetricKind
  readonly make: MakeSeries<Series>
  readonly buckets?: ReadonlyArray<number>
}

const single = <Series>(
  facts: Facts,
  { buckets, kind, make }: Family<Series>
): Single<Series> => ({ ...facts, kind, label: undefined, values: undefined, buckets, ...make([]) })

const labelled = <Value extends string, Series>(
  { label, values, ...facts }: Facts & LabelFacts<Value>,
  { buckets, kind, make }: Family<Series>
): Labelled<Value, Series> => {
  const series = new Map<Value, ReturnType<MakeSeries<Series>>>()
  const of = (value: Value) => {
    const known = series.get(value)
    if (known !== undefined) return known
    const made = make([MetricLabel.make(label, value)])
    series.set(value, made)
    return made
  }
  const register = (): void => values?.forEach((value) => of(value).register())
  return { ...facts, kind, label, values, buckets, of, register }
}

export const counter = (facts: Facts): Single<Counter> => single(facts, { kind: "counter", make: counterOf(facts) })

export const counterBy = <Value extends string>(facts: Facts & LabelFacts<Value>): Labelled<Value, Counter> =>
  labelled(facts, { kind: "counter", make: counterOf(facts) })

export const gauge = (facts: Facts): Single<Gauge> => single(facts, { kind: "gauge", make: gaugeOf(facts) })

export const gaugeBy = <Value extends string>(facts: Facts & LabelFacts<Value>): Labelled<Value, Gauge> =>
  labelled(facts, { kind: "gauge", make: gaugeOf(facts) })

export const histogram = ({ buckets, ...facts }: Facts & { readonly buckets: ReadonlyArray<number> }) =>
  single<Histogram>(facts, { kind: "histogram", make: histogramOf(facts, buckets), buckets })

export const histogramBy = <Value extends string>(
  { buckets, ...facts }: Facts & LabelFacts<Value> & { readonly buckets: ReadonlyArray<number> }
): Labelled<Value, Histogram> => labelled(facts, { kind: "histogram", make: histogramOf(facts, buckets), buckets })
