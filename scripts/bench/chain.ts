import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"

/** A regtest chain in a directory of a bench. `verifyThreads`: 0 where scripts are not checked. */
export const benchChain = (directory: string, verifyThreads: number, snapshotHash?: Uint8Array) =>
  Chain.layer({
    params: regtestParams,
    blocksDirectory: join(directory, "blocks"),
    chainstateDirectory: join(directory, "chainstate"),
    temporaryDirectory: directory,
    pageSize: 4096,
    coinCacheBytes: 100 * 1024 * 1024,
    verifyThreads,
    snapshotHash
  }).pipe(Layer.provide(DataHealth.layer))
