import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Where the process is in its life, for those who answer before it is ready and while it goes:
 *
 *   WarmUp (step, step, …) ──▶ Running ──▶ Stopping
 *          └──────────────────────────────────▲
 */
export type Phase =
  /** Nothing is answered yet but -28 and the step (reference/rpc.md 1.9). */
  | { readonly _tag: "WarmUp"; readonly step: string }
  | { readonly _tag: "Running" }
  /** What runs is finished, what comes is turned away (reference/rpc.md 1.10). */
  | { readonly _tag: "Stopping" }

export class Lifecycle extends Context.Tag("svcd/Lifecycle")<Lifecycle, {
  /** The phase now. Synchronous: asked once a request. */
  readonly phase: () => Phase
  /** Names the step that the start has come to. Nothing once the start is over. */
  readonly warmUp: (step: string) => Effect.Effect<void>
  /** Ends the warm-up. */
  readonly running: Effect.Effect<void>
  /** Begins to stop, from any phase. The first call counts. */
  readonly stop: Effect.Effect<void>
  /** Waits until `stop` was called. */
  readonly stopRequested: Effect.Effect<void>
}>() {}

/** What the reference node says before its first step. */
const FIRST_STEP = "RPC server started"

const make = Effect.gen(function*() {
  const stopRequested = yield* Deferred.make<void>()
  let phase: Phase = { _tag: "WarmUp", step: FIRST_STEP }

  return Lifecycle.of({
    phase: () => phase,
    warmUp: (step) =>
      Effect.sync(() => {
        if (phase._tag === "WarmUp") phase = { _tag: "WarmUp", step }
      }),
    running: Effect.sync(() => {
      if (phase._tag === "WarmUp") phase = { _tag: "Running" }
    }),
    stop: Effect.suspend(() => {
      phase = { _tag: "Stopping" }
      return Effect.asVoid(Deferred.succeed(stopRequested, undefined))
    }),
    stopRequested: Deferred.await(stopRequested)
  })
})

export const layer: Layer.Layer<Lifecycle> = Layer.effect(Lifecycle, make)
