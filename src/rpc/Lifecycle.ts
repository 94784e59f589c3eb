import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ImportFailed } from "../chain/errors.ts"
import type { StorageFailure } from "../storage/errors.ts"

/**
 * The phase of the process, for components that answer before it is ready and while it stops:
 *
 *   WarmUp (step, step, …) ──▶ Running ──▶ Stopping
 *          └──────────────────────────────────▲
 */
export type Phase =
  /** Every call is answered with -28 and the step (reference/rpc.md 1.9). */
  | { readonly _tag: "WarmUp"; readonly step: string }
  | { readonly _tag: "Running" }
  /** Running calls finish, new ones are refused (reference/rpc.md 1.10). */
  | { readonly _tag: "Stopping" }

export type NodeFailure = ImportFailed | StorageFailure

export class Lifecycle extends Context.Tag("svcd/Lifecycle")<Lifecycle, {
  /** Synchronous, because every request reads it. */
  readonly phase: () => Phase
  /** Without effect once the start is over. */
  readonly warmUp: (step: string) => Effect.Effect<void>
  readonly running: Effect.Effect<void>
  /** From any phase. Only the first call counts. */
  readonly stop: Effect.Effect<void>
  readonly stopRequested: Effect.Effect<void>
  /** Ends the node after a failure. Only the first call counts. */
  readonly fail: (cause: Cause.Cause<NodeFailure>) => Effect.Effect<void>
  /** Waits until a caller stops the node or a part fails. */
  readonly ended: Effect.Effect<void, NodeFailure>
}>() {}

/** The reference node's first step. */
const FIRST_STEP = "RPC server started"

const make = Effect.gen(function*() {
  const stopRequested = yield* Deferred.make<void>()
  const failed = yield* Deferred.make<never, NodeFailure>()
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
    stopRequested: Deferred.await(stopRequested),
    fail: (cause) => Effect.asVoid(Deferred.failCause(failed, cause)),
    ended: Effect.raceFirst(Deferred.await(failed), Deferred.await(stopRequested))
  })
})

/** The life of one listener of a node: answers -28 until it has methods, and stops alone or with the node. */
export const listenerLife = (node: typeof Lifecycle.Service): Effect.Effect<typeof Lifecycle.Service> =>
  Effect.map(make, (own) =>
    Lifecycle.of({
      ...node,
      phase: () => {
        const [ours, nodes] = [own.phase(), node.phase()]
        if (ours._tag !== "WarmUp") return nodes._tag === "Stopping" ? nodes : ours
        return nodes._tag === "Running" ? ours : nodes
      },
      running: own.running,
      stop: own.stop,
      stopRequested: Effect.raceFirst(own.stopRequested, node.stopRequested)
    }))

export const layer: Layer.Layer<Lifecycle> = Layer.effect(Lifecycle, make)
