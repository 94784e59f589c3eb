import { Effect, Layer, Logger } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Chain from "../../src/chain/Chain.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { type Block, decodeBlock } from "../../src/protocol/block.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"

/** A chain on real files, and blocks of block files: also for scripts, which have no test runner. */

/** A directory of its own that is removed with the scope. */
export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "svcd-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A database of names in a temporary directory. */
export const temporaryNames = Layer.unwrapScoped(
  Effect.map(temporaryDirectory, (folder) => NameDb.layer({ filename: join(folder, "names.db"), pageSize: 4096 }))
)

/** A chain on real files in `directory`, without worker threads. Its log is dropped, if no `logging` is given. */
export const chainLayer = (
  directory: string,
  params: ConsensusParams = regtestParams,
  coinCacheBytes = 1e8,
  logging: Layer.Layer<never> = Logger.remove(Logger.defaultLogger),
  snapshotHash?: Uint8Array
) =>
  Layer.suspend(() => {
    for (const name of ["blocks", "chainstate"]) mkdirSync(join(directory, name), { recursive: true })
    return Chain.layer({
      params,
      blocksDirectory: join(directory, "blocks"),
      chainstateDirectory: join(directory, "chainstate"),
      temporaryDirectory: directory,
      pageSize: 4096,
      coinCacheBytes,
      verifyThreads: 0,
      now: () => Math.floor(Date.now() / 1000),
      snapshotHash
    })
  }).pipe(Layer.provide(logging), Layer.provideMerge(DataHealth.layer))

/** The blocks of a block file without mask, in its order. */
export const blocksIn = (bytes: Buffer): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32LE(at + 4)
    blocks.push(decodeBlock(Uint8Array.from(bytes.subarray(at + 8, at + 8 + size))))
    at += 8 + size
  }
  return blocks
}
