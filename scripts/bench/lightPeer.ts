// A full node on the network of generated chains, which serves blocks to peers. Prints its height once it has the chain.
// Arguments: data directory, port, and the block file to import where the directory is new.

import { Effect, Layer, Logger } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Scheduler from "../../src/base/Scheduler.ts"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import * as Indexes from "../../src/chain/indexes/Indexes.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import * as Memory from "../../src/node/memory.ts"
import * as Peers from "../../src/node/peers.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { shapedParams } from "../../test/support/shapedNetwork.ts"
import { benchChain } from "./chain.ts"
import { settingsFor, YEARS } from "./lightSettings.ts"

const [directory = "", port = "0", file = ""] = process.argv.slice(2)
for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name), { recursive: true })

const settings = settingsFor(directory, [`-listen=127.0.0.1:${port}`, "-maxoutbound=0"])

const chain = benchChain(directory, { params: shapedParams(), verifyThreads: 1 })

const node = Peers.layer(settings, join(directory, "peers.json")).pipe(
  Layer.provide(Mempool.layer({ filename: undefined })),
  Layer.provide(Indexes.layerNone),
  Layer.provideMerge(SyncStatus.layer({ offline: false, expectsPeers: false, maxTipAge: YEARS })),
  Layer.provideMerge(chain),
  Layer.provide(Scheduler.layer),
  Layer.provide(DataHealth.layer),
  Layer.provide(Memory.layer),
  Layer.provide(Logger.remove(Logger.defaultLogger))
)

const program = Effect.gen(function*() {
  const sink = yield* ChainSink
  const status = yield* SyncStatus.SyncStatus
  if (file !== "") yield* sink.importFrom([file])
  yield* status.loaded
  const { height } = yield* (yield* Chain.Chain).tip
  process.stdout.write(`${height}\n`)
  return yield* Effect.never
})

const fiber = Effect.runFork(Effect.scoped(Effect.provide(program, node)))
process.once("SIGTERM", () => {
  void Effect.runPromise(fiber.interruptAsFork(fiber.id())).then(() => fiber.addObserver(() => process.exit(0)))
})
