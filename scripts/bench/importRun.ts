// Imports a block file into a new data directory and prints the cost as JSON. One process a run, so that the memory of
// one run is not the memory of another. Arguments: file, "checked" or "assumed", worker threads, the hash of the tip,
// and the indexes to build, separated by commas (filters, spenders, coinStats, scripts, transactions,
// search).

import SQLite from "better-sqlite3"
import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import * as Indexes from "../../src/chain/indexes/Indexes.ts"
import * as TxIndex from "../../src/chain/TxIndex.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { displayHash, parseDisplayHash } from "../../src/protocol/bytes.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { ownCpuSeconds } from "./cpuTime.ts"

const [file = "", mode = "checked", threads = "1", tip = "", wanted = ""] = process.argv.slice(2)
const indexed = new Set(wanted.split(","))

const directory = mkdtempSync(join(tmpdir(), "svcd-bench-"))
for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name))

// The reference node never assumes the scripts of the last two weeks of work to be valid, a third of this chain; with a
// spacing that makes every block worth weeks the whole chain can be measured.
const assumeValid = parseDisplayHash(tip)
const params = mode === "assumed" && assumeValid !== undefined
  ? { ...regtestParams, assumeValid, targetSpacing: 2_000_000 }
  : regtestParams

const chain = Chain.layer({
  params,
  blocksDirectory: join(directory, "blocks"),
  chainstateDirectory: join(directory, "chainstate"),
  temporaryDirectory: directory,
  pageSize: 4096,
  coinCacheBytes: 32 * 1024 * 1024,
  verifyThreads: Number(threads)
})
const namesFile = join(directory, "names.db")
const names = NameDb.layer({ filename: namesFile, pageSize: 4096 })
const place = { directory: join(directory, "chainstate"), pageSize: 4096 }
const indexes = Layer.merge(
  Indexes.layer({
    ...place,
    params,
    filters: indexed.has("filters"),
    spenders: indexed.has("spenders"),
    coinStats: indexed.has("coinStats"),
    scripts: indexed.has("scripts")
  }),
  indexed.has("transactions") ? TxIndex.layer(place) : TxIndex.layerOff
)

/** Leaves the search indexes out: to them, every name is indexed already. */
const withoutSearch = (): void => {
  const database = new SQLite(namesFile)
  database.prepare("UPDATE search SET operation = ?").run(Number.MAX_SAFE_INTEGER)
  database.close()
}

const program = Effect.gen(function*() {
  const chain = yield* Chain.Chain
  const control = yield* ChainControl
  const sink = yield* ChainSink
  const names = yield* NameDb.NameDb
  const { coinStats, followers } = yield* Indexes.Indexes
  const transactions = yield* TxIndex.TxIndex
  if (!indexed.has("search")) withoutSearch()
  for (const follower of [names.follower, ...followers, transactions.follower]) {
    if (follower !== undefined) yield* control.register(follower)
  }
  const started = performance.now()
  const cpuBefore = ownCpuSeconds()
  const report = yield* sink.importFrom([file])
  const best = yield* chain.tip
  const stats = coinStats === undefined ? undefined : yield* coinStats.stats(best)
  const seconds = (performance.now() - started) / 1000
  const timings = yield* control.timings
  return {
    seconds,
    cpuSeconds: ownCpuSeconds() - cpuBefore,
    blocks: report.stored,
    height: best.height,
    tip: displayHash(best.hash),
    muhash: stats === undefined ? undefined : displayHash(stats.muhash),
    timings
  }
})

const result = await Effect.runPromise(
  Effect.provide(
    program,
    Layer.mergeAll(chain, names, indexes).pipe(
      Layer.provide(DataHealth.layer),
      Layer.merge(Logger.remove(Logger.defaultLogger))
    )
  )
)
rmSync(directory, { recursive: true, force: true })
console.log(JSON.stringify({ ...result, peakMemoryMB: Math.round(process.resourceUsage().maxRSS * 1024 / 1e6) }))
