// Builds the index of scripts of a chain from its stored blocks, as a node does: for the crash test, which kills it.
// Arguments: the directory with blocks, chainstate and the file blocks.dat, from which it takes the chain first. Prints "building", and "complete" at the tip.

import { Effect, Layer, Logger } from "effect"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { openScriptIndex } from "../../src/chain/indexes/ScriptIndex.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"

const [directory = ""] = process.argv.slice(2)

/** Small parts, slices and batches, so that a kill comes between any two of them. */
const SIZES = { partRows: 300, rowsATurn: 40 }
const BATCH_BYTES = 16 * 1024

const build = Effect.gen(function*() {
  const control = yield* ChainControl
  const { tip } = yield* Chain.Chain
  const { importFrom } = yield* ChainSink
  if ((yield* tip).height === 0) yield* importFrom([join(directory, "blocks.dat")])
  const index = yield* openScriptIndex({ directory: join(directory, "chainstate"), pageSize: 4096 }, SIZES)
  const { height } = yield* tip
  process.stdout.write("building\n")
  yield* control.register({ ...index.follower, batchBytes: BATCH_BYTES })
  const isDone = Effect.map(index.at, (at) => at?.height === height)
  yield* Effect.repeat(Effect.zipRight(Effect.sleep("1 millis"), isDone), { until: (done) => done })
  process.stdout.write("complete\n")
})

await Effect.runPromise(
  Effect.scoped(build).pipe(
    Effect.provide(
      Chain.layer({
        params: regtestParams,
        blocksDirectory: join(directory, "blocks"),
        chainstateDirectory: join(directory, "chainstate"),
        temporaryDirectory: directory,
        pageSize: 4096,
        coinCacheBytes: 8 * 1024 * 1024,
        verifyThreads: 0,
        check: { blocks: 1, level: 0 }
      }).pipe(Layer.provideMerge(DataHealth.layer), Layer.merge(Logger.remove(Logger.defaultLogger)))
    )
  )
)
