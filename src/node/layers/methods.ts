import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { DataDirectory } from "../../config/DataDirectory.ts"
import type { Settings } from "../../config/settings.ts"
import type { HealthReport } from "../../http/health.ts"
import { type AnyHandler, Pages } from "../../http/Pages.ts"
import { RpcServer } from "../../http/RpcServer.ts"
import { isSyncing } from "../../light/syncReport.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { rpcInFlight } from "../../metrics/metrics.ts"
import { Samples } from "../../metrics/Samples.ts"
import { PeerManager } from "../../network/PeerManager.ts"
import { AnswerOptions } from "../../rpc/AnswerOptions.ts"
import * as DeskLinks from "../../rpc/DeskLinks.ts"
import { Dispatch } from "../../rpc/Dispatch.ts"
import { Lifecycle } from "../../rpc/Lifecycle.ts"
import { type Method, methodTable } from "../../rpc/method/methodTable.ts"
import { allMethods } from "../../rpc/methods/all.ts"
import * as ReadThread from "../../rpc/reader/ReadThread.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import { Webhooks } from "../../webhooks/Webhooks.ts"
import { alertMailLayer } from "../alertMail.ts"
import { alertsOfNode } from "../alerts.ts"
import { pagesOfNode } from "../pages.ts"
import { webhooksLayer } from "../webhooks.ts"
import { ListenerStart } from "./listener.ts"

/** The answers of JSON-RPC once the node exists. */

const reportOf = ({ chain: { network } }: Settings) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const reporter = yield* SyncReporter
    const manager = yield* PeerManager
    const data = yield* DataHealth
    return Effect.gen(function*() {
      const now = yield* reporter.report
      const { tip } = yield* chain.progress
      const { inbound, outbound } = yield* manager.count
      return {
        network,
        initializing: false,
        syncing: isSyncing(now),
        phase: now.phase,
        proof: now.proof,
        light: now.window !== undefined,
        blockHeight: tip.height,
        names: { height: now.height, complete: now.synced },
        peers: inbound + outbound,
        doubts: yield* data.doubts,
        notices: yield* data.notices
      } satisfies HealthReport
    })
  })

export class MethodExists extends Schema.TaggedError<MethodExists>()("MethodExists", { method: Schema.String }) {
  override get message(): string {
    return `${this.method} is a method of the node already`
  }
}

export interface OwnAnswers {
  readonly methods: ReadonlyArray<Method>
  readonly handlers: ReadonlyArray<AnyHandler>
}

/** Replaces -28 until the layer closes; calls in progress may then end. */
const answering = (settings: Settings, own: OwnAnswers) =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const dispatch = yield* Dispatch
    const webhooks = yield* Webhooks
    const pages = yield* Pages
    const lifecycle = yield* Lifecycle
    const { drain } = yield* RpcServer
    const { add } = yield* Samples
    const { health, running } = yield* ListenerStart
    yield* add(Effect.sync(() => rpcInFlight.set(dispatch.inFlight())))
    yield* add(webhooks.sample)
    const known = methodTable(yield* allMethods)
    const taken = own.methods.find(({ name }) => known.has(name))
    if (taken !== undefined) return yield* new MethodExists({ method: taken.name })
    yield* dispatch.install(methodTable([...known.values()], own.methods))
    yield* pages.install([...own.handlers, ...yield* pagesOfNode(settings)])
    yield* health.fill(yield* reportOf(settings))
    yield* Effect.addFinalizer(() => drain)
    yield* running
    yield* lifecycle.running
    yield* webhooks.start
    yield* yield* alertsOfNode
  }))

const readThread = Layer.unwrapEffect(
  Effect.map(DataDirectory, (directory) => ReadThread.layer({ namesFile: directory.file("names.db") }))
)

export const methodsLayer = (settings: Settings, own: OwnAnswers = { methods: [], handlers: [] }) =>
  answering(settings, own).pipe(
    Layer.provide(readThread),
    Layer.provideMerge(webhooksLayer(settings)),
    Layer.provideMerge(alertMailLayer(settings)),
    Layer.provide(DeskLinks.layer({ isOn: settings.rpc.webWallet, behindProxy: settings.rpc.webWalletProxy })),
    Layer.provide(Layer.succeed(AnswerOptions, { ...settings.answers, dnsTtl: settings.dns.ttl }))
  )
