import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"

/**
 * Spans of work that starts fibers. A fiber inherits the span in which it was started: one that lives as long as the
 * node would add its spans to a trace that never ends, and keep that span, with an event for each log entry, in memory.
 */

/** Runs work outside the span of its caller: for fibers that outlive the caller. Their spans begin new traces. */
export const withoutSpan: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.locallyWith(
  FiberRef.currentContext,
  Context.omit(Tracer.ParentSpan)
)

/** A span that is the parent of no other span: for work that starts such fibers, or that takes hours. */
export const withLoneSpan =
  (name: string, options: Tracer.SpanOptions = {}) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.useSpan(name, options, () => withoutSpan(work))

/** The tracer where the host has none: its spans go nowhere. */
const noTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** A span that is only made if the host has a tracer: for work that would take less time than its span. */
export const withTracedSpan =
  (name: string, options: Tracer.SpanOptions) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tracerWith((tracer) => tracer === noTracer ? work : Effect.withSpan(work, name, options))

/** A layer with a span of its build and a span of its release. Neither is the parent of what the layer does. */
export const spannedLayer =
  (names: { readonly open: string; readonly close: string }) =>
  <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
    Layer.scopedContext(Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(
        Scope.make(),
        (scope, exit) => withLoneSpan(names.close)(Scope.close(scope, exit))
      )
      // A layer that the caller provides in several places stays one.
      const known = yield* Layer.CurrentMemoMap
      return yield* withLoneSpan(names.open)(Layer.buildWithMemoMap(layer, known, scope))
    }))
