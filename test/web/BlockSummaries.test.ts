import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Chain } from "../../src/chain/Chain.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import type { Block } from "../../src/protocol/block.ts"
import { equal } from "../../src/protocol/bytes.ts"
import { NAME_TX_VERSION } from "../../src/protocol/nameOperation.ts"
import { BlockSummaries } from "../../src/web/BlockSummaries.ts"
import { MemoryChain } from "../support/MemoryChain.ts"
import { noTree } from "../support/noTree.ts"
import { buildBlock, type ChainEnd, makeCoinbase, nameOutput } from "../support/regtest.ts"

/** Blocks in a row, the first at height 0, each with updates of names of so many bytes in its coinbase. */
const blocksWith = (lengths: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<Block> => {
  const { params, tip } = new MemoryChain(regtestParams)
  const end: ChainEnd = { height: 0, params, tip }
  return lengths.map((names, height) =>
    buildBlock(end, [], {
      coinbase: makeCoinbase(
        height + 1,
        names.map((length, i) =>
          nameOutput({ op: "name_update", name: new Uint8Array(length).fill(i), value: new Uint8Array(1) })
        ),
        { version: NAME_TX_VERSION }
      )
    })
  )
}

/** Summaries of these blocks, and the heights of the blocks that they read from the chain. */
const summariesOf = (blocks: ReadonlyArray<Block>) => {
  const read: Array<number> = []
  const layer = Layer.mock(Chain, {
    params: regtestParams,
    tree: noTree,
    block: (hash) =>
      Effect.suspend(() => {
        const height = blocks.findIndex((block) => equal(block.hash, hash))
        read.push(height)
        return Effect.succeed(blocks[height] ?? assert.fail("no such block"))
      }),
    headerAt: (height) =>
      Effect.sync(() => {
        const block = blocks[height] ?? assert.fail("no such block")
        return {
          hash: block.hash,
          height,
          header: block.header,
          chainwork: 1n,
          medianTimePast: 0,
          transactions: 1,
          confirmations: 1,
          next: undefined
        }
      })
  })
  return Effect.map(Effect.provide(Chain, layer), (chain) => ({ summaries: new BlockSummaries(chain), read }))
}

describe("the summaries of blocks", () => {
  it.effect("a block is read once, unless its names take more bytes than operations of transactions can have", () =>
    Effect.gen(function*() {
      const { read, summaries } = yield* summariesOf(
        blocksWith([[1], [255, 255], Array(16).fill(255), [4_081], [2_000, 2_081]])
      )
      const first = yield* summaries.newest(4, 5)
      assert.deepStrictEqual(read.splice(0), [4, 3, 2, 1, 0])
      assert.deepStrictEqual(yield* summaries.newest(4, 5), first)
      assert.deepStrictEqual(read, [4, 3])
      assert.deepStrictEqual(first.map(({ content }) => content?.operations), [2, 1, 16, 2, 1])
    }))

  it.effect("only the last operations of a block and the last blocks are kept", () =>
    Effect.gen(function*() {
      const { read, summaries } = yield* summariesOf(
        blocksWith([Array(100).fill(3), ...Array.from({ length: 70 }, () => [1])])
      )
      const [first] = yield* summaries.newest(0, 1)
      assert.deepStrictEqual([first?.content?.operations, first?.content?.changes.length], [100, 16])
      yield* summaries.newest(70, 70)
      read.length = 0
      yield* summaries.newest(70, 71)
      // The lowest block with the names, and those that were read first, are forgotten.
      assert.includeMembers(read, [70, 0])
      yield* summaries.newest(3, 4)
      read.length = 0
      yield* summaries.newest(3, 4)
      assert.deepStrictEqual(read, [])
    }))
})
