import { assert, describe, it } from "@effect/vitest"
import { isExpired } from "../../src/consensus/expiry.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import type { LightChain } from "../../src/light/LightChain.ts"
import { verifyLink } from "../../src/light/signatures.ts"
import type { WindowFile } from "../../src/light/WindowFile.ts"
import type { Block } from "../../src/protocol/block.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import { fill, GENESIS_BLOCK, looseBlock, type OpenLightChain, openLightChain, UNEVEN } from "../support/lightChain.ts"
import { grown, nextBlock, registered, updated } from "../support/lightNode.ts"
import { text } from "../support/regtest.ts"
import { withDirectory } from "../support/temporary.ts"

/** What the window of a light chain does about branches, blocks that it cannot use, and headers that are far ahead. */

const MAIN = grown([GENESIS_BLOCK], 700)

const addHeaders = (chain: LightChain, blocks: ReadonlyArray<Block>): void => {
  for (const block of blocks) assert.strictEqual(chain.headers.accept(block, true).type, "new")
}

/** Counts the transactions of the file from now on. */
const countedChanges = (file: WindowFile): () => number => {
  const change = file.change.bind(file)
  let count = 0
  file.change = (work) => {
    count++
    return change(work)
  }
  return () => count
}

/** Checks all signatures of a window. */
const checkAll = ({ chain, file }: OpenLightChain, params: ConsensusParams): void => {
  const rules = { params, low: chain.range.low }
  const links = file.nextLinks(1_000)
  file.change((changes) => {
    for (const link of links) changes.checked(link, verifyLink(link, rules))
  })
}

describe("a chain that becomes shorter", () => {
  const NAMED = 1_565

  it("makes the window begin again when names may live below it", () =>
    withDirectory((directory) => {
      const opened = openLightChain(directory, UNEVEN)
      const { chain, file } = opened
      let blocks = [GENESIS_BLOCK]
      while (blocks.length < 1_050) blocks.push(looseBlock(blocks, { after: 1 }))
      addHeaders(chain, blocks.slice(1))
      chain.begin()
      fill(opened, blocks)
      while (blocks.length <= 1_900) {
        const transactions = blocks.length === NAMED ? [registered("d/lives", "yes")] : []
        const block = looseBlock(blocks, { after: 1_300, transactions })
        blocks.push(block)
        addHeaders(chain, [block])
        assert.isUndefined(chain.take(block))
      }
      chain.settle()
      assert.deepStrictEqual([chain.height, chain.isComplete], [1_900, true])
      for (const [branch, depth] of [[1, 287], [2, 30]] as const) {
        blocks = blocks.slice(0, blocks.length - depth)
        while (chain.headers.index.compareWork(chain.headers.best.reachable, chain.tree.tip()) <= 0) {
          const block = looseBlock(blocks, { branch })
          blocks.push(block)
          addHeaders(chain, [block])
          assert.isUndefined(chain.take(block))
        }
        chain.settle()
        assert.strictEqual(chain.height, blocks.length - 1)
      }
      assert.isFalse(isExpired({ height: NAMED }, chain.height, UNEVEN), "the name lives")
      assert.isFalse(chain.isComplete, "its operation is gone")
      assert.isTrue(chain.review())
      fill(opened, blocks)
      assert.isTrue(chain.isComplete)
      assert.strictEqual(file.newest(text("d/lives"))?.height, NAMED)
      file.close()
    }))
})

describe("headers far ahead of a window", () => {
  it("make it begin again if they are more than its blocks, and else not", () =>
    withDirectory((directory) => {
      const opened = openLightChain(directory)
      const { chain, file } = opened
      addHeaders(chain, MAIN.slice(1, 301))
      chain.begin()
      for (const block of MAIN.slice(251, 301).toReversed()) chain.take(block)
      chain.settle()
      addHeaders(chain, MAIN.slice(301, 351))
      assert.isFalse(chain.review())
      addHeaders(chain, MAIN.slice(351, 352))
      assert.isTrue(chain.review())
      assert.strictEqual(chain.height, 351)
      fill(opened, MAIN.slice(0, 352))
      assert.isTrue(chain.isComplete)
      file.close()
    }))

  it("make it begin again before its first block, unless they are few", () =>
    withDirectory((directory) => {
      const { chain, file } = openLightChain(directory)
      addHeaders(chain, MAIN.slice(1, 301))
      chain.begin()
      addHeaders(chain, MAIN.slice(301, 307))
      assert.isFalse(chain.review())
      addHeaders(chain, MAIN.slice(307, 308))
      assert.isTrue(chain.review())
      assert.strictEqual(chain.height, 307)
      file.close()
    }))
})

describe("operations without a predecessor in the window", () => {
  const OWNER = registered("d/name", "of its owner")
  const THEFT = updated("d/name", "of a thief", registered("d/other", "another coin"))

  /** Whether the theft counts as signed, in a window that begins at an anchor or at its own floor. */
  const isBelieved = (
    { anchor, at, registration, tip }: {
      readonly anchor?: number
      readonly registration: number
      readonly at: number
      readonly tip: number
    }
  ): boolean =>
    withDirectory((directory) => {
      const blocks = [GENESIS_BLOCK]
      const transactions = new Map<number, ReadonlyArray<Transaction>>([[registration, [OWNER]], [at, [THEFT]]])
      while (blocks.length <= tip) {
        blocks.push(nextBlock(blocks, { transactions: transactions.get(blocks.length) ?? [] }))
      }
      const hash = blocks[anchor ?? 0]?.hash ?? GENESIS_BLOCK.hash
      const params: ConsensusParams = anchor === undefined
        ? regtestParams
        : { ...regtestParams, anchors: [{ height: anchor, hash, chainwork: 2n * BigInt(anchor + 1) }] }
      const opened = openLightChain(directory, params)
      const { chain, file } = opened
      addHeaders(chain, blocks.slice((anchor ?? 0) + 1))
      chain.begin()
      fill(opened, blocks)
      assert.isTrue(chain.isFilled)
      checkAll(opened, params)
      const believed = chain.proves(file.proof(text("d/name")))
      file.close()
      return believed
    })

  it("are not signed if the window begins at an anchor near the tip", () =>
    assert.isFalse(isBelieved({ anchor: 190, registration: 180, at: 195, tip: 200 })))

  it("are not signed if the window has all blocks in which the predecessor can live", () => {
    assert.isFalse(isBelieved({ registration: 150, at: 195, tip: 200 }), "the predecessor is expired")
    assert.isFalse(isBelieved({ registration: 195, at: 195, tip: 200 }), "there is none")
  })

  it("are on trust in a window of full length, under a hundred blocks", () =>
    assert.isTrue(isBelieved({ registration: 165, at: 180, tip: 300 })))
})

describe("blocks that wait", () => {
  it("begin no transaction while none of them can be added", () =>
    withDirectory((directory) => {
      const opened = openLightChain(directory)
      const { chain, file } = opened
      addHeaders(chain, MAIN.slice(1, 301))
      chain.begin()
      fill(opened, MAIN.slice(0, 301))
      const sibling = nextBlock(MAIN.slice(0, 300), { branch: 1 })
      assert.isUndefined(chain.take(sibling))
      const count = countedChanges(file)
      for (let i = 0; i < 10; i++) assert.isFalse(chain.settle())
      assert.strictEqual(count(), 0)
      assert.strictEqual(chain.waiting.count, 1)
      file.close()
    }))

  it("are not kept before the window begins, nor below it", () =>
    withDirectory((directory) => {
      const opened = openLightChain(directory)
      const { chain, file } = opened
      for (const block of MAIN.slice(1, 250)) assert.isUndefined(chain.take(block))
      assert.strictEqual(chain.waiting.count, 0)
      addHeaders(chain, MAIN.slice(250))
      chain.begin()
      const old = grown(MAIN.slice(0, 500), 1, 1).at(-1)
      if (old !== undefined) chain.take(old)
      fill(opened, MAIN)
      assert.isTrue(chain.isComplete)
      assert.strictEqual(chain.waiting.count, 0)
      file.close()
    }))
})

describe("a branch of more bytes than may wait", () => {
  it("makes the window begin again", () =>
    withDirectory((directory) => {
      const opened = openLightChain(directory, regtestParams, 10_000)
      const { chain, file } = opened
      addHeaders(chain, MAIN.slice(1, 201))
      chain.begin()
      fill(opened, MAIN.slice(0, 201))
      const common = MAIN.slice(0, 161)
      const large = { value: 0, script: new Uint8Array(500).fill(0x6a) }
      const branch = [...common]
      while (branch.length <= 201) {
        branch.push(looseBlock(branch, { branch: 1, outputs: [large] }, regtestParams))
      }
      addHeaders(chain, branch.slice(161))
      assert.isFalse(chain.review())
      for (let round = 0; round < 3 && chain.height < 201; round++) {
        fill(opened, branch)
        for (const block of branch.slice(161)) if (!chain.hasBlock(chain.index.find(block.hash))) chain.take(block)
        chain.settle()
        chain.review()
      }
      assert.strictEqual(chain.height, 201)
      file.close()
    }))
})
