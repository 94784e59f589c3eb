// A node in this process that answers the examples of docs/rpc.md: without peers, without a wallet, with one webhook.

import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as ExpiringNames from "../../build/src/alerts/ExpiringNames.js"
import { AlertMail } from "../../build/src/alerts/mail/AlertMail.js"
import * as WatchList from "../../build/src/alerts/WatchList.js"
import * as NodeClock from "../../build/src/base/NodeClock.js"
import * as Scheduler from "../../build/src/base/Scheduler.js"
import * as Chain from "../../build/src/chain/Chain.js"
import * as Indexes from "../../build/src/chain/indexes/Indexes.js"
import * as SyncStatus from "../../build/src/chain/SyncStatus.js"
import * as TxIndex from "../../build/src/chain/TxIndex.js"
import * as Warnings from "../../build/src/chain/Warnings.js"
import { regtestParams } from "../../build/src/consensus/params.js"
import * as LightPart from "../../build/src/light/LightPart.js"
import * as NameAnswers from "../../build/src/light/NameAnswers.js"
import * as SyncReporter from "../../build/src/light/SyncReporter.js"
import * as FeeEstimator from "../../build/src/mempool/fees/FeeEstimator.js"
import * as Mempool from "../../build/src/mempool/Mempool.js"
import * as Miner from "../../build/src/mempool/mining/Miner.js"
import * as NameDb from "../../build/src/names/NameDb.js"
import { PeerManager } from "../../build/src/network/PeerManager.js"
import { DebugSwitches } from "../../build/src/node/logging.js"
import * as Publishers from "../../build/src/publish/Publishers.js"
import { AnswerOptions } from "../../build/src/rpc/AnswerOptions.js"
import * as DeskLinks from "../../build/src/rpc/DeskLinks.js"
import * as Lifecycle from "../../build/src/rpc/Lifecycle.js"
import { LogControl } from "../../build/src/rpc/LogControl.js"
import * as ReadThread from "../../build/src/rpc/reader/ReadThread.js"
import * as DataHealth from "../../build/src/storage/DataHealth.js"
import { Wallets } from "../../build/src/wallet/Wallets.js"
import { Webhooks } from "../../build/src/webhooks/Webhooks.js"

/** A network without peers. */
const absent = Layer.mock(PeerManager, {
  peers: Effect.succeed([]),
  count: Effect.succeed({ inbound: 0, outbound: 0 }),
  services: 0x409n,
  userAgent: "/svcd/",
  proxy: undefined
})

const { all: parts } = new DebugSwitches({ level: "info", debugSubsystems: [] })
const log = { path: "", categories: { current: Effect.succeed(parts), set: () => Effect.void } }

/** Wallets are enabled, and none is loaded. */
const noWallet = Layer.mock(Wallets, { enabled: true, loaded: () => [], get: () => undefined })

const HOOK = "0123456789abcdef"

/** Mail for one address, whose server takes it. */
const alertMail = Layer.mock(AlertMail, {
  test: Effect.succeed([{ address: "me@example.org", isAccepted: true, answer: "250 2.0.0 Ok: queued" }])
})

/** One webhook, whose receiver has all messages. */
const webhooks = Layer.mock(Webhooks, {
  list: Effect.succeed([{
    id: HOOK,
    source: "rpc",
    url: "https://example.com/hook",
    filter: { names: [], prefixes: ["d/"], owners: [], types: ["expired", "transferred"] },
    state: "active",
    cursor: "a0000600.08388608.0123456789abcdef",
    lag: 0,
    delivered: 12,
    deliveredAt: 1_700_000_000_000,
    failures: 0
  }]),
  add: () => Effect.succeed({ id: HOOK, secret: Redacted.make("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX") }),
  remove: () => Effect.void,
  resume: () => Effect.void,
  test: () => Effect.succeed({ _tag: "Answered", status: 204, milliseconds: 12, body: "" })
})

/** The services that the methods need, with their files in a directory. */
export const stores = (directory) => {
  const [blocksDirectory, chainstateDirectory] = ["blocks", "chainstate"].map((name) => join(directory, name))
  for (const path of [blocksDirectory, chainstateDirectory]) mkdirSync(path)
  const chain = Chain.layer({
    params: regtestParams,
    blocksDirectory,
    chainstateDirectory,
    temporaryDirectory: directory,
    pageSize: 4096,
    coinCacheBytes: 1e8,
    verifyThreads: 0
  }).pipe(Layer.provideMerge(DataHealth.layer))
  const waiting = Layer.merge(Miner.layer(), FeeEstimator.layer({ filename: undefined })).pipe(
    Layer.provideMerge(Mempool.layer({ filename: undefined })),
    Layer.provideMerge(Layer.merge(SyncStatus.layer({ offline: true }), Warnings.layer)),
    Layer.provideMerge(DataHealth.layer),
    Layer.provideMerge(chain)
  )
  const names = Layer.provide(
    NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 }),
    DataHealth.layer
  )
  const answers = SyncReporter.layer.pipe(
    Layer.provideMerge(NameAnswers.layer()),
    Layer.provideMerge(LightPart.layerWhole),
    Layer.provideMerge(Layer.merge(waiting, names))
  )
  const expiring = ExpiringNames.layer.pipe(
    Layer.provideMerge(WatchList.layerMemory),
    Layer.provideMerge(Layer.merge(answers, noWallet))
  )
  return Layer.mergeAll(
    expiring,
    absent,
    Scheduler.layer,
    DataHealth.layer,
    NodeClock.layer(),
    TxIndex.layerOff,
    Indexes.layerNone,
    ReadThread.layerAbsent,
    Publishers.layerSilent,
    webhooks,
    alertMail,
    Lifecycle.layer,
    Layer.succeed(LogControl, log),
    DeskLinks.layer({ isOn: false, behindProxy: false }),
    Layer.succeed(AnswerOptions, {
      nameEncoding: "ascii",
      valueEncoding: "ascii",
      allowExpired: false,
      nameHistory: true,
      nameHashIndex: false
    })
  ).pipe(Layer.provideMerge(Logger.remove(Logger.defaultLogger)))
}
