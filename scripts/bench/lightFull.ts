// A full node in an empty directory, with the light part or without it, in a process of its own: prints what it measured as JSON.
// Arguments: data directory, ports of the peers (JSON), directory of the generated chain, "light" or "alone".

import { Effect, Layer, Logger } from "effect"
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Scheduler from "../../src/base/Scheduler.ts"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import * as Indexes from "../../src/chain/indexes/Indexes.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import * as DataDirectory from "../../src/config/DataDirectory.ts"
import { LightPart } from "../../src/light/LightPart.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import * as LightStart from "../../src/node/lightStart.ts"
import * as Memory from "../../src/node/memory.ts"
import * as Peers from "../../src/node/peers.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { anchorOf, type ShapedFacts } from "../../test/support/shapedFile.ts"
import { shapedParams } from "../../test/support/shapedNetwork.ts"
import { ownCpuSeconds } from "./cpuTime.ts"
import { settingsFor, withPeers, YEARS } from "./lightSettings.ts"

const [path = "", portList = "[]", chainDirectory = "", how = "alone"] = process.argv.slice(2)
const ports: ReadonlyArray<number> = JSON.parse(portList)
const facts: ShapedFacts = JSON.parse(readFileSync(join(chainDirectory, "facts.json"), "utf8"))
const params = shapedParams(how === "light" ? [anchorOf(facts)] : [])
for (const name of ["blocks", "chainstate"]) mkdirSync(join(path, name), { recursive: true })

const settings = settingsFor(path, withPeers(ports))

const chain = Chain.layer({
  params,
  blocksDirectory: join(path, "blocks"),
  chainstateDirectory: join(path, "chainstate"),
  temporaryDirectory: path,
  pageSize: settings.chain.pageSize,
  coinCacheBytes: settings.chain.dbCache * 1024 * 1024,
  verifyThreads: settings.chain.verifyThreads
})

const names = NameDb.layer({ filename: join(path, "names.db"), pageSize: settings.chain.pageSize })

const node = Peers.layer(settings, join(path, "peers.json")).pipe(
  Layer.provideMerge(LightStart.layer(settings)),
  Layer.provide(Layer.merge(Mempool.layer({ filename: undefined }), Indexes.layerNone)),
  Layer.provideMerge(SyncStatus.layer({ offline: false, expectsPeers: true, maxTipAge: YEARS })),
  Layer.provideMerge(Layer.merge(chain, names)),
  Layer.provide(DataDirectory.layer({ path, network: settings.chain.network })),
  Layer.provide(Scheduler.layer),
  Layer.provide(DataHealth.layer),
  Layer.provide(Memory.layer),
  Layer.provide(Logger.remove(Logger.defaultLogger))
)

const started = performance.now()

const now = () => ({ seconds: (performance.now() - started) / 1000, cpuSeconds: ownCpuSeconds() })

/** Blocks between two marks. */
const STEP = 2_000

const LOOK = "50 millis"

const program = Effect.gen(function*() {
  const { tip } = yield* Chain.Chain
  const { follower } = yield* NameDb.NameDb
  const part = yield* LightPart
  yield* (yield* ChainControl).register(follower)
  yield* (yield* SyncStatus.SyncStatus).loaded
  /** When the chain reached each multiple of `STEP` blocks. */
  const marks: Array<ReturnType<typeof now>> = []
  /** Blocks of the chain when all names of the light part were signed. */
  let lightDone: number | undefined
  for (;;) {
    const { height } = yield* tip
    while (marks.length < Math.floor(height / STEP)) marks.push(now())
    const light = part.current()
    if (light !== undefined && lightDone === undefined) {
      const { phase, unchecked } = yield* light.progress
      if (phase === "ready" && unchecked === 0) lightDone = height
    }
    if (height === facts.height) return { ...now(), marks, step: STEP, lightDone }
    yield* Effect.sleep(LOOK)
  }
})

const result = await Effect.runPromise(Effect.scoped(Effect.provide(program, node)))
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit()
