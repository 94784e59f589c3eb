import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { Budget } from "../../base/MemoryBudget.ts"
import { Slot } from "../../base/Slot.ts"
import type { Credentials, Settings } from "../../config/settings.ts"
import { Health, type HealthReport } from "../../http/health.ts"
import * as HttpListener from "../../http/RpcServer.ts"
import { callerLimit } from "../../rpc/CallerMemory.ts"
import * as Dispatch from "../../rpc/Dispatch.ts"
import { Lifecycle, listenerLife } from "../../rpc/Lifecycle.ts"
import { recordCall, recordMalformed, recordRefusal } from "../../rpc/recordCalls.ts"
import * as NodePages from "../pages.ts"

/** The listener of JSON-RPC. It answers at once, with -28 until the node's methods exist. */

export class ListenerStart extends Context.Tag("svcd/ListenerStart")<ListenerStart, {
  readonly health: Slot<Effect.Effect<HealthReport>>
  readonly running: Effect.Effect<void>
}>() {}

const starting = ({ chain: { network } }: Settings): HealthReport => ({
  network,
  initializing: true,
  syncing: true,
  phase: undefined,
  proof: undefined,
  light: false,
  blockHeight: 0,
  names: undefined,
  peers: 0,
  doubts: [],
  notices: []
})

const startOf = (settings: Settings): Layer.Layer<Health | ListenerStart, never, Lifecycle> =>
  Layer.effectContext(Effect.map(Lifecycle, ({ running }) => {
    const health = new Slot(Effect.succeed(starting(settings)))
    return Context.make(ListenerStart, { health, running }).pipe(
      Context.add(Health, { report: Effect.suspend(() => health.current) })
    )
  }))

/** Counts each call, and logs it only while `shows` says so, to save the cost. */
const noteCalls = ({ rpc: { checkAnswers } }: Settings, shows: () => boolean) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const log = Runtime.runFork(yield* Effect.runtime())
    const budget = yield* Budget
    return Dispatch.layer({
      checksAnswers: checkAnswers,
      maxValues: Dispatch.valuesWithin(callerLimit(budget, "rpc_bodies")),
      observe: (call) => {
        recordCall(call)
        if (!shows()) return
        const { abandoned, error, method, seconds } = call
        const how = abandoned ? { abandoned } : { error: error?.code }
        const facts = { method, milliseconds: Math.round(seconds * 1e6) / 1000, ...how }
        log(Effect.logDebug("call", facts).pipe(Effect.annotateLogs("subsystem", "rpc")))
      },
      observeMalformed: recordMalformed
    })
  }))

export interface ListenerAccess {
  readonly credentials: Credentials | undefined
  readonly showsCalls: () => boolean
}

const serverOf = ({ methods, rpc }: Settings, { credentials }: ListenerAccess) =>
  HttpListener.layer({
    ...rpc,
    listen: rpc.listenAddr,
    credentials,
    hashedUsers: rpc.rpcAuth,
    permissions: { ...methods, rights: rpc.rights },
    limits: {
      concurrentRequests: rpc.workQueue,
      idleTimeout: rpc.serverTimeout * 1000,
      headersTimeout: rpc.serverTimeout * 1000
    },
    onRefused: recordRefusal
  })

/** The listener stops alone: its node may have another one, or continue without. */
export const listenerLayer = (settings: Settings, access: ListenerAccess) =>
  serverOf(settings, access).pipe(
    Layer.provideMerge(noteCalls(settings, access.showsCalls)),
    Layer.provideMerge(startOf(settings)),
    Layer.provideMerge(NodePages.layer(settings)),
    Layer.provide(Layer.effect(Lifecycle, Effect.flatMap(Lifecycle, listenerLife)))
  )
