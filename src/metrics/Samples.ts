import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Pulse } from "../base/pulse.ts"
import { METRICS } from "./metrics.ts"
import { sampleProcess, watchEventLoop } from "./processMetrics.ts"

/** Updates sampled metrics. They are per process: gauges are those of its first node until it ends, totals add up. */
export class Samples extends Context.Tag("svcd/Samples")<Samples, {
  /** Samples gauges until the scope closes. */
  readonly add: (sample: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  readonly addTotals: (sample: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  readonly take: Effect.Effect<void>
}>() {}

/** Milliseconds. Without requests, so that a host program finds current values in its registry. */
const INTERVAL = 15_000

/** The node whose gauges are sampled, of each process. A simulated node is a process of its own. */
export class Sampled extends Context.Reference<Sampled>()("svcd/Sampled", {
  defaultValue: (): { node: symbol | undefined } => ({ node: undefined })
}) {}

const make = Effect.gen(function*() {
  const own = Symbol()
  const sampled = yield* Sampled
  let isOpen = true
  const gauges = new Set<Effect.Effect<void>>()
  const totals = new Set<Effect.Effect<void>>()
  const addTo = (samples: Set<Effect.Effect<void>>) => (sample: Effect.Effect<void>) =>
    Effect.asVoid(Effect.acquireRelease(
      Effect.sync(() => samples.add(sample)),
      () => Effect.sync(() => samples.delete(sample))
    ))
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      sampled.node ??= own
    }),
    () =>
      Effect.sync(() => {
        isOpen = false
        if (sampled.node === own) sampled.node = undefined
      })
  )
  const take = Effect.suspend(() => {
    if (isOpen) sampled.node ??= own
    return Effect.all([sampleProcess, ...totals, ...sampled.node === own ? gauges : []], { discard: true })
  })
  for (const family of METRICS) family.register()
  yield* watchEventLoop
  yield* Effect.forkScoped(Effect.repeat(take, Schedule.spaced(INTERVAL * (yield* Pulse))))
  return Samples.of({ add: addTo(gauges), addTotals: addTo(totals), take })
}).pipe(Effect.annotateLogs("subsystem", "metrics"))

export const layer: Layer.Layer<Samples> = Layer.scoped(Samples, make)
