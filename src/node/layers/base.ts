import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { CertificateUnusable } from "../../base/givenCertificate.ts"
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
import type { Settings } from "../../config/settings.ts"
import * as ErrorCount from "../../metrics/countErrors.ts"
import * as Samples from "../../metrics/Samples.ts"
import type { Publishers } from "../../publish/Publishers.ts"
import * as Lifecycle from "../../rpc/Lifecycle.ts"
import * as DataHealth from "../../storage/DataHealth.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest } from "../../wallet/errors.ts"
import * as Memory from "../memory.ts"
import { NodeSettings, type PartOptions } from "./NodeSettings.ts"

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

/** A function, because a constant layer would be shared by two nodes of a program. */
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

/** Keeps a layer's clock and loggers from the surrounding program. */
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

/** A part of a node with its options, in the terms of `NodeSettings`. */
export const partLayer = <A, E, R>(part: PartOptions, layerOf: (settings: Settings) => Layer.Layer<A, E, R>) =>
  inNode(Layer.unwrapEffect(Effect.map(Effect.flatMap(NodeSettings, (node) => node.with(part)), layerOf)))

/** Keeps a follower at the tip of the chain until the scope closes. */
export const following = (
  follower: Follower
): Effect.Effect<void, BlocksPruned | StorageFailure, ChainControl | Scope.Scope> =>
  Effect.flatMap(
    ChainControl,
    // Not `acquireRelease`: catching up may take long, and can be interrupted.
    (control) => Effect.zipRight(Effect.addFinalizer(() => control.unregister(follower)), control.register(follower))
  )

export const starting = (step: string): Effect.Effect<void, never, Lifecycle.Lifecycle> =>
  Effect.flatMap(
    Lifecycle.Lifecycle,
    ({ warmUp }) => Effect.zipRight(warmUp(step), Effect.logDebug("starting", { step }))
  )

export const inBackground = <R>(
  work: Effect.Effect<unknown, Lifecycle.NodeFailure, R>
): Effect.Effect<void, never, R | Lifecycle.Lifecycle | Scope.Scope> =>
  Effect.asVoid(Effect.forkScoped(withoutSpan(endingNode(work))))

/** Ends the node on a failure or defect of work that it cannot do without. */
export const endingNode = <A, R>(
  work: Effect.Effect<A, Lifecycle.NodeFailure, R>
): Effect.Effect<A | void, never, R | Lifecycle.Lifecycle> =>
  Effect.flatMap(Lifecycle.Lifecycle, ({ fail }) => Effect.catchAllCause(work, fail))

type PartFailure = BindFailed | BlocksPruned | EmbeddedOpenFailure | InvalidWalletRequest | ValidatedByOtherRules

/** In the terms of a program that gave options. */
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

/** The same for a server with a certificate. */
export const serverFailure = (
  failure: CertificateUnusable | PartFailure
): BindFailed | EmbeddedOpenFailure => {
  switch (failure._tag) {
    case "BindFailed":
      return failure
    case "CertificateUnusable":
      return new InvalidConfig({ field: "certificate", reason: failure.message })
    default:
      return openFailure(failure)
  }
}
