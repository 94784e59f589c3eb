import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"

/**
 * A long-lived fiber would keep the span in which it starts, with an event per log entry, and extend its trace forever.
 */

/** For fibers that outlive the caller. Their spans begin new traces. */
export const withoutSpan: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.locallyWith(
  FiberRef.currentContext,
  Context.omit(Tracer.ParentSpan)
)

/** A span without children, for work that starts long-lived fibers or takes hours. */
export const withLoneSpan =
  (name: string, options: Tracer.SpanOptions = {}) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.useSpan(name, options, () => withoutSpan(work))

const noTracer = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** Creates a span only if the host has a tracer, for work that takes less time than the span itself. */
export const withTracedSpan =
  (name: string, options: Tracer.SpanOptions) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tracerWith((tracer) => tracer === noTracer ? work : Effect.withSpan(work, name, options))

export const spannedLayer =
  (names: { readonly open: string; readonly close: string }) =>
  <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
    Layer.scopedContext(Effect.gen(function*() {
      const scope = yield* Effect.acquireRelease(
        Scope.make(),
        (scope, exit) => withLoneSpan(names.close)(Scope.close(scope, exit))
      )
      // A layer that the caller provides in several places is built only once.
      const known = yield* Layer.CurrentMemoMap
      return yield* withLoneSpan(names.open)(Layer.buildWithMemoMap(layer, known, scope))
    }))
