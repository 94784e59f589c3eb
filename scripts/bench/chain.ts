import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import type { ChainOptions } from "../../src/chain/openChain.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"

/** Node.js options for a process with a chain: the bounds that svcd sets itself (`boundHeap`). */
export const BOUNDS: ReadonlyArray<string> = ["--heap-growing-percent=50", "--max-semi-space-size=2"]

type BenchOptions = Partial<ChainOptions> & Pick<ChainOptions, "verifyThreads">

/** A chain in a directory of a bench, of regtest where the options have no other one. */
export const benchChain = (directory: string, options: BenchOptions) =>
  Chain.layer({
    params: regtestParams,
    blocksDirectory: join(directory, "blocks"),
    chainstateDirectory: join(directory, "chainstate"),
    temporaryDirectory: directory,
    pageSize: 4096,
    coinCacheBytes: 32 * 1024 * 1024,
    ...options
  }).pipe(Layer.provide(DataHealth.layer))
