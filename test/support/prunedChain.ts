import { Effect, Layer, Logger } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import type { PruneOptions } from "../../src/chain/prune/Pruning.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { type TestChain, testChain } from "./chain.ts"
import { emptyChain } from "./regtest.ts"
import { allBlocks } from "./twoBranches.ts"

export const TIP = 420

/** A chain of empty blocks. */
export const SOURCE = emptyChain(TIP)
export const BLOCKS = allBlocks(SOURCE)

/** Some 40 empty blocks. */
const SMALL_FILE = 8 * 1024
/** Prunes on request. */
export const MANUAL: PruneOptions = { target: undefined, after: 100 }

/** Runs work on a chain with small block files in a directory, and closes it. */
export const onPruned = <A, E>(
  directory: string,
  prune: PruneOptions | undefined,
  use: (chain: TestChain) => Effect.Effect<A, E, Chain.ChainServices>
) => {
  for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name), { recursive: true })
  const layer = Chain.layer({
    params: regtestParams,
    blocksDirectory: join(directory, "blocks"),
    chainstateDirectory: join(directory, "chainstate"),
    temporaryDirectory: directory,
    pageSize: 4096,
    coinCacheBytes: 1e8,
    verifyThreads: 0,
    now: () => 1_900_000_000,
    maxFileSize: SMALL_FILE,
    ...prune === undefined ? {} : { prune }
  }).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)), Layer.provide(DataHealth.layer))
  return Effect.provide(Effect.flatMap(testChain, use), layer)
}
