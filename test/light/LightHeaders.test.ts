import { assert, describe, it } from "@effect/vitest"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { type ChainAnchor, type ConsensusParams, mainnetParams, regtestParams } from "../../src/consensus/params.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { blocksOf } from "../support/chain.ts"

const BLOCKS = blocksOf("regtest-names/blocks.dat")

const blockAt = (height: number) => {
  const block = BLOCKS[height]
  if (block === undefined) throw new RangeError(`there is no block ${height}`)
  return block
}

/** The work of a chain of regtest: two hashes a block. */
const anchorAt = (height: number): ChainAnchor => ({
  height,
  hash: blockAt(height).hash,
  chainwork: 2n * BigInt(height + 1)
})

const anchored = (anchors: ReadonlyArray<ChainAnchor>, params: ConsensusParams = regtestParams): LightHeaders =>
  new LightHeaders(new BlockIndex(), { ...params, anchors }, () => 1_900_000_000)

const take = (headers: LightHeaders, from: number, to: number) =>
  BLOCKS.slice(from, to + 1).map((block) => headers.accept(block).type)

describe("LightHeaders", () => {
  it("starts at the first anchor and has its height and work", () => {
    const headers = anchored([anchorAt(100), anchorAt(200)])
    assert.deepStrictEqual(new Set(take(headers, 101, 600)), new Set(["new"]))
    const { best, index } = headers
    assert.strictEqual(index.height(best.reachable), 600)
    assert.strictEqual(index.chainwork(best.reachable), 2n * 601n)
    assert.strictEqual(index.height(index.ancestor(best.reachable, 100)), 100)
    assert.strictEqual(index.ancestor(best.reachable, 99), -1)
  })

  it("does not know headers before the anchor", () => {
    const headers = anchored([anchorAt(100)])
    const accepted = headers.accept(blockAt(50))
    assert.strictEqual(accepted.type === "rejected" ? accepted.reject.kind : undefined, "missing-prev")
  })

  it("refuses a chain that lacks the last anchor", () => {
    const wrong = { ...anchorAt(200), hash: blockAt(201).hash }
    const headers = anchored([anchorAt(100), wrong])
    take(headers, 101, 199)
    const accepted = headers.accept(blockAt(200))
    assert.strictEqual(
      accepted.type === "rejected" ? accepted.reject.reason : undefined,
      "bad-fork-prior-to-checkpoint"
    )
  })

  it("judges headers above the last anchor", () => {
    // The clock of this node is before the times of the blocks.
    const early = new LightHeaders(new BlockIndex(), { ...regtestParams, anchors: [anchorAt(100)] }, () => 1_000)
    const accepted = early.accept(blockAt(101))
    assert.strictEqual(accepted.type === "rejected" ? accepted.reject.kind : undefined, "time-future")
  })

  it("loads what it stored", () => {
    const headers = anchored([anchorAt(100)])
    take(headers, 101, 300)
    const index = new BlockIndex()
    index.load(headers.index.takeDirtyPages().map(({ bytes }) => bytes), headers.index.count)
    const loaded = new LightHeaders(index, headers.params, () => 1_900_000_000)
    assert.strictEqual(index.height(loaded.best.reachable), 300)
    assert.strictEqual(loaded.accept(blockAt(301)).type, "new")
  })

  it("mainnet's anchors are the reference's, with the work of the headers between them", () => {
    const [first, last] = mainnetParams.anchors
    if (first === undefined || last === undefined) throw new Error("two anchors are expected")
    assert.strictEqual(last.chainwork - first.chainwork, 0x1cc975620942c2e622394154n)
    assert.strictEqual(last.chainwork, mainnetParams.minimumChainWork)
    assert.deepStrictEqual(last.hash, mainnetParams.assumeValid)
    assert.isAbove(last.height - first.height, mainnetParams.retargetInterval)
  })
})
