import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { BindFailed } from "../../base/listening.ts"
import type { Budget } from "../../base/MemoryBudget.ts"
import * as NodeClock from "../../base/NodeClock.ts"
import * as Scheduler from "../../base/Scheduler.ts"
import { withoutSpan } from "../../base/spans.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import type { BlocksPruned, ValidatedByOtherRules } from "../../chain/errors.ts"
import type { Follower } from "../../chain/write/Follower.ts"
import { type EmbeddedOpenFailure, InvalidConfig } from "../../client/errors.ts"
import * as DataDirectory from "../../config/DataDirectory.ts"
import * as ErrorCount from "../../metrics/countErrors.ts"
import * as Samples from "../../metrics/Samples.ts"
import type { Publishers } from "../../publish/Publishers.ts"
import * as Lifecycle from "../../rpc/Lifecycle.ts"
import * as DataHealth from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest } from "../../wallet/errors.ts"
import * as Memory from "../memory.ts"
import { NodeSettings } from "./NodeSettings.ts"

/** What every node has before it opens anything: its settings, its directory, its clock, and what its parts share. */
export type NodeBase =
  | Budget
  | DataDirectory.DataDirectory
  | DataHealth.DataHealth
  | Lifecycle.Lifecycle
  | NodeClock.MockTime
  | NodeClock.NodeTime
  | NodeSettings
  | Publishers
  | Samples.Samples
  | Scheduler.Scheduler

/**
 * The base of a node, over its settings and its publishers. Layers of nodes are made by functions: one that is a constant would be the same
 * for two nodes of a program.
 */
export const baseLayer = () =>
  Layer.unwrapEffect(
    Effect.map(
      NodeSettings,
      ({ settings: { chain: { dataDir, mockTime, network } } }) =>
        Layer.mergeAll(Lifecycle.layer, Samples.layer, Scheduler.layer, DataHealth.layer).pipe(
          Layer.provideMerge(
            DataDirectory.layer({ path: dataDir, network }).pipe(Layer.annotateLogs("subsystem", "storage"))
          ),
          Layer.provideMerge(NodeClock.layer(mockTime === 0 ? undefined : mockTime)),
          Layer.provideMerge(Memory.layer)
        )
    )
  )

/** Keeps the clock and the loggers that a layer sets for its fibers from the program that it is provided to. */
export const leavingHost = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.scopedContext(Effect.gen(function*() {
    const scope = yield* Effect.scope
    const known = yield* Layer.CurrentMemoMap
    const services = yield* FiberRef.get(DefaultServices.currentServices)
    const loggers = yield* FiberRef.get(FiberRef.currentLoggers)
    const context = yield* Layer.buildWithMemoMap(layer, known, scope)
    yield* FiberRef.set(DefaultServices.currentServices, services)
    yield* FiberRef.set(FiberRef.currentLoggers, loggers)
    return context
  }))

/** Builds a layer with the clock of the node, and counts the errors that it logs. */
export const inNode = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R | NodeClock.NodeTime> =>
  Layer.unwrapEffect(Effect.map(
    NodeClock.NodeTime,
    (clock) => layer.pipe(Layer.provide(Layer.setClock(clock)), Layer.provide(ErrorCount.layer))
  )).pipe(leavingHost)

/** Brings a follower to the tip of the chain, and keeps it there until the scope closes. */
export const following = (
  follower: Follower
): Effect.Effect<void, BlocksPruned | StorageFailure, ChainControl | Scope.Scope> =>
  Effect.flatMap(
    ChainControl,
    // To catch up may take long, and can be interrupted: so it is no `acquireRelease`.
    (control) => Effect.zipRight(Effect.addFinalizer(() => control.unregister(follower)), control.register(follower))
  )

/** Reports a step of the start to callers that wait, and to the log. */
export const starting = (step: string): Effect.Effect<void, never, Lifecycle.Lifecycle> =>
  Effect.flatMap(
    Lifecycle.Lifecycle,
    ({ warmUp }) => Effect.zipRight(warmUp(step), Effect.logDebug("starting", { step }))
  )

/** Runs work of the node in the background. The node ends if it fails. */
export const inBackground = <R>(
  work: Effect.Effect<unknown, Lifecycle.NodeFailure, R>
): Effect.Effect<void, never, R | Lifecycle.Lifecycle | Scope.Scope> =>
  Effect.asVoid(Effect.forkScoped(withoutSpan(endingNode(work))))

/** Ends the node if work of it fails, or has a defect: otherwise it would go on without that part. */
export const endingNode = <A, R>(
  work: Effect.Effect<A, Lifecycle.NodeFailure, R>
): Effect.Effect<A | void, never, R | Lifecycle.Lifecycle> =>
  Effect.flatMap(Lifecycle.Lifecycle, ({ fail }) => Effect.catchAllCause(work, fail))

/** What the parts of a node fail with when they are opened. */
type PartFailure = BindFailed | BlocksPruned | EmbeddedOpenFailure | InvalidWalletRequest | ValidatedByOtherRules

/** A failure to open, in the terms of a program that gave options. */
export const openFailure = (failure: PartFailure): EmbeddedOpenFailure => {
  switch (failure._tag) {
    case "InvalidWalletRequest":
      return new InvalidConfig({ field: "wallet", reason: failure.message })
    case "BlocksPruned":
    case "ValidatedByOtherRules":
      return new InvalidConfig({ field: "dataDir", reason: failure.message })
    case "BindFailed":
      return new InvalidConfig({ field: "listen", reason: failure.message })
    default:
      return failure
  }
}
