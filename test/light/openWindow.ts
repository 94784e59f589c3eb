import { assert } from "@effect/vitest"
import { join } from "node:path"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { LightChain } from "../../src/light/LightChain.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { WindowFile } from "../../src/light/WindowFile.ts"
import type { Block } from "../../src/protocol/block.ts"

/** The window file of a light node, without the node. */

export interface OpenWindow {
  readonly file: WindowFile
  readonly chain: LightChain
}

/** `keeps`: whether it keeps what proofs need. */
export const openWindow = (directory: string, keeps: boolean): OpenWindow => {
  const file = new WindowFile(join(directory, "names-window.db"), 4096)
  file.keepProofs(keeps)
  const index = new BlockIndex()
  const stored = file.state()
  if (stored !== undefined) index.load(file.pages(), stored.headerCount)
  return { file, chain: new LightChain(file, new LightHeaders(index, regtestParams, () => 1_900_000_000)) }
}

/** Takes the blocks as from peers, the newest first. */
export const fill = ({ chain }: OpenWindow, given: ReadonlyArray<Block>): void => {
  for (const block of given) chain.headers.accept(block)
  chain.begin()
  for (const block of given.toReversed()) {
    assert.isUndefined(chain.take(block))
    chain.settle()
  }
  chain.flush()
}
