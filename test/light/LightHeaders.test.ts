import { assert, describe, it } from "@effect/vitest"
import { BlockIndex } from "../../src/chain/index/BlockIndex.ts"
import { decodeCompact, encodeCompact } from "../../src/consensus/difficulty.ts"
import {
  type ChainAnchor,
  type ConsensusParams,
  mainnetParams,
  regtestParams,
  testnetParams
} from "../../src/consensus/params.ts"
import { LightHeaders } from "../../src/light/LightHeaders.ts"
import { makeHeader } from "../../src/protocol/header.ts"
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

  it("takes no chain of little work after a lone anchor, and keeps room for others", () => {
    // The first header after it is the last one of a period.
    const height = 856_798
    const mean = 6n * 2n ** 70n
    const anchor = { height, hash: new Uint8Array(32).fill(7), chainwork: mean * BigInt(height) }
    const now = 1_303_000_405 + 600 * (height - 1)
    const headers = new LightHeaders(new BlockIndex(), { ...mainnetParams, anchors: [anchor] }, () => now)
    const offer = (prevHash: Uint8Array, bits: number, at: number) => {
      const time = 1_303_000_405 + at
      const header = makeHeader({ version: 0x10104, prevHash, merkleRoot: new Uint8Array(32), time, bits, nonce: at })
      return { hash: header.hash, found: headers.accept({ header, auxpow: undefined }, true) }
    }
    assert.strictEqual(offer(anchor.hash, 0x1d00ffff, 1).found.type, "rejected")
    // The least that is taken, and a quarter of it from the next retarget on, until the tree has as many as the clock allows.
    const dear = encodeCompact(2n ** 256n / (mean / 16n) - 1n)
    const cheap = encodeCompact(4n * decodeCompact(dear).target)
    let [last, count] = [offer(anchor.hash, dear, 600), 0]
    for (; last.found.type === "new"; count++) last = offer(last.hash, cheap, 1_200 + 600 * count)
    assert.strictEqual(last.found.type === "rejected" ? last.found.reject.reason : undefined, "too-many-headers")
    assert.isAbove(count, 19_000)
    assert.strictEqual(offer(anchor.hash, dear, 601).found.type, "new")
  })

  it("knows no difficulty just above a lone anchor where late blocks have the least", () => {
    const anchor = { height: 300_000, hash: new Uint8Array(32).fill(7), chainwork: 2n ** 60n * 300_000n }
    const [least, usual, other] = [encodeCompact(testnetParams.powLimit), 0x1c0fffff, 0x1c0ffffe]
    const start = 1_500_000_000
    /** What becomes of headers with these bits, so many seconds after one another. */
    const offer = (params: ConsensusParams, ...list: ReadonlyArray<readonly [bits: number, after: number]>) => {
      const headers = new LightHeaders(new BlockIndex(), { ...params, anchors: [anchor] }, () => start + 100_000)
      let [prevHash, time]: [Uint8Array, number] = [anchor.hash, start]
      return list.map(([bits, after]) => {
        time += after
        const parts = { version: 0x10104, prevHash, merkleRoot: new Uint8Array(32), bits, time, nonce: 1 }
        const header = makeHeader(parts)
        prevHash = header.hash
        return headers.accept({ header, auxpow: undefined }, true).type
      })
    }
    assert.deepStrictEqual(offer(mainnetParams, [0x1d00ffff, 600]), ["rejected"])
    assert.deepStrictEqual(offer(testnetParams, [least, 600], [usual, 600], [least, 1_300]), ["new", "new", "new"])
    assert.deepStrictEqual(offer(testnetParams, [usual, 600], [least, 600]), ["new", "rejected"])
    assert.deepStrictEqual(offer(testnetParams, [usual, 600], [least, 1_300], [other, 600]), ["new", "new", "rejected"])
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
