// Imports a generated chain into a new data directory, opens it again, and prints the cost at each tenth of the chain as JSON.
// Arguments: the data directory, the block file, its height.

import { Effect, Fiber, Layer, Logger } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { displayHash } from "../../src/protocol/bytes.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { shapedParams } from "../../test/support/shapedNetwork.ts"
import { benchChain } from "./chain.ts"
import { ownCpuSeconds } from "./cpuTime.ts"
import type { GrowthMark } from "./growth.ts"

/** Milliseconds between two looks at the tip. */
const LOOK = 20

const [directory = "", file = "", height = "0"] = process.argv.slice(2)
for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name), { recursive: true })

const node = () =>
  Layer.merge(
    benchChain(directory, { params: shapedParams(), verifyThreads: 1 }),
    NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 })
  ).pipe(Layer.provide(DataHealth.layer), Layer.merge(Logger.remove(Logger.defaultLogger)))

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
      memoryMB: Math.round(process.memoryUsage.rss() / 1e6)
    })
  }
  const watch = Effect.map(chain.tip, (tip) => {
    while (tip.height >= (marks.length + 1) * Number(height) / 10 && marks.length < 10) mark(tip.height)
  })
  const watching = yield* Effect.fork(Effect.forever(Effect.delay(watch, LOOK)))
  yield* sink.importFrom([file])
  yield* watch
  yield* Fiber.interrupt(watching)
  const tip = yield* chain.tip
  return { marks, tip: displayHash(tip.hash) }
})

/** Opens the directory again, until its tip is known. */
const started = Effect.flatMap(Chain.Chain, ({ tip }) => tip)

const first = await Effect.runPromise(Effect.scoped(Effect.provide(imported, node())))
const peakMemoryMB = Math.round(process.resourceUsage().maxRSS * 1024 / 1e6)
const before = performance.now()
const { height: reached } = await Effect.runPromise(Effect.scoped(Effect.provide(started, node())))
const openSeconds = (performance.now() - before) / 1000
console.log(JSON.stringify({ ...first, reached, peakMemoryMB, openSeconds }))
process.exit()
