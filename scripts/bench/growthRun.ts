// Imports a generated chain into a data directory, or opens one, and prints what it costs as JSON. One process a run. Arguments:
// `all`, the directory, the block file and its height: every script checked, the cost at each tenth of the chain.
// `part`, the directory, a block file and the hash of its last block: more of the chain, its scripts assumed to be valid.
// `open` and the directory: how long it takes to open it.

import { Effect, Fiber, Layer, Logger, type Scope } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { displayHash, parseDisplayHash } from "../../src/protocol/bytes.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { shapedParams } from "../../test/support/shapedNetwork.ts"
import { benchChain } from "./chain.ts"
import { ownCpuSeconds, readProc } from "./cpuTime.ts"
import type { GrowthMark } from "./growth.ts"

/** Milliseconds between two looks at the tip. */
const LOOK = 20

const [mode = "", directory = "", file = "", end = "0"] = process.argv.slice(2)
for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name), { recursive: true })

const node = (params = shapedParams()) =>
  Layer.merge(
    benchChain(directory, { params, verifyThreads: 1 }),
    NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 })
  ).pipe(Layer.provide(DataHealth.layer), Layer.provideMerge(Logger.remove(Logger.defaultLogger)))

/** A line of the status of this process, in MB as the node's metrics count them. */
const statusMB = (line: "VmHWM" | "VmRSS"): number =>
  Math.round(Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readProc("self/status"))?.[1] ?? 0) / 1024)

/** Imports the file; returns a mark for each tenth of the chain, and one for the end of the work. */
const imported = Effect.gen(function*() {
  const chain = yield* Chain.Chain
  const control = yield* ChainControl
  const sink = yield* ChainSink
  const names = yield* NameDb.NameDb
  yield* control.register(names.follower)
  const started = performance.now()
  const cpuBefore = ownCpuSeconds()
  const marks: Array<GrowthMark> = []
  const mark = (at: number): void => {
    marks.push({
      height: at,
      seconds: (performance.now() - started) / 1000,
      cpuSeconds: ownCpuSeconds() - cpuBefore,
      memoryMB: statusMB("VmRSS")
    })
  }
  const watch = Effect.map(chain.tip, (tip) => {
    while (tip.height >= (marks.length + 1) * Number(end) / 10 && marks.length < 10) mark(tip.height)
  })
  const watching = yield* Effect.fork(Effect.forever(Effect.delay(watch, LOOK)))
  yield* sink.importFrom([file])
  yield* watch
  yield* Fiber.interrupt(watching)
  const tip = yield* chain.tip
  return { marks, tip: displayHash(tip.hash), peakMemoryMB: statusMB("VmHWM") }
})

/** Imports the file with its scripts assumed to be valid, as `importRun.ts` does. */
const importedPart = Effect.gen(function*() {
  const names = yield* NameDb.NameDb
  yield* (yield* ChainControl).register(names.follower)
  yield* (yield* ChainSink).importFrom([file])
  return { tip: displayHash((yield* (yield* Chain.Chain).tip).hash) }
})

/** Seconds until the tip of an existing directory is known. */
const opened = Effect.gen(function*() {
  const began = performance.now()
  const { height } = yield* Effect.provide(Effect.flatMap(Chain.Chain, ({ tip }) => tip), node())
  return { height, seconds: (performance.now() - began) / 1000 }
})

const assumed = { ...shapedParams(), assumeValid: parseDisplayHash(end), targetSpacing: 2_000_000 }
const result: Effect.Effect<object, unknown, Scope.Scope> = mode === "all"
  ? Effect.provide(imported, node())
  : mode === "part"
  ? Effect.provide(importedPart, node(assumed))
  : opened
console.log(JSON.stringify(await Effect.runPromise(Effect.scoped(result))))
process.exit()
