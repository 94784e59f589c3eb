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
import { recordCall, recordMalformed, recordRefusal } from "../../rpc/recordCalls.ts"
import * as NodePages from "../pages.ts"

/** The listener of JSON-RPC. It answers as soon as it is built, with -28 until the methods of the node are there. */

/** The health of the node, once there is one. */
export class HealthSlot extends Context.Tag("svcd/HealthSlot")<HealthSlot, Slot<Effect.Effect<HealthReport>>>() {}

/** The report until the node is built. */
const starting = ({ network }: Settings): HealthReport => ({
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

const healthOf = (settings: Settings): Layer.Layer<Health | HealthSlot> =>
  Layer.sync(HealthSlot, () => new Slot(Effect.succeed(starting(settings)))).pipe((slot) =>
    Layer.provideMerge(
      Layer.effect(Health, Effect.map(HealthSlot, (slot) => ({ report: Effect.suspend(() => slot.current) }))),
      slot
    )
  )

/** Counts each call, and logs it while `shows` says so: otherwise there is no cost. */
const noteCalls = ({ rpcDocCheck }: Settings, shows: () => boolean) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const log = Runtime.runFork(yield* Effect.runtime())
    const budget = yield* Budget
    return Dispatch.layer({
      checksAnswers: rpcDocCheck,
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
  /** One user with a password. Without any user no credentials are required. */
  readonly credentials: Credentials | undefined
  /** Whether the log shows each call. */
  readonly showsCalls: () => boolean
}

const serverOf = (settings: Settings, { credentials }: ListenerAccess) =>
  HttpListener.layer({
    listen: settings.rpc,
    credentials,
    hashedUsers: settings.hashedUsers,
    permissions: settings.permissions,
    binds: settings.rpcBinds,
    allowed: settings.rpcAllowed,
    limits: {
      concurrentRequests: settings.rpcWorkQueue,
      idleTimeout: settings.rpcTimeout * 1000,
      headersTimeout: settings.rpcTimeout * 1000
    },
    rateLimit: settings.rateLimit,
    maxRequestSize: settings.maxRequestSize,
    onRefused: recordRefusal
  })

export const listenerLayer = (settings: Settings, access: ListenerAccess) =>
  serverOf(settings, access).pipe(
    Layer.provideMerge(noteCalls(settings, access.showsCalls)),
    Layer.provideMerge(healthOf(settings)),
    Layer.provideMerge(NodePages.layer(settings))
  )
