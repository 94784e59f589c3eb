import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { displayHash, fromHex } from "../../../src/protocol/bytes.ts"
import { feeRatePercentiles, truncatedMedian } from "../../../src/rpc/shapes/blockStats.ts"
import { fixtureBlocks } from "../../support/chainFixture.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"
import { layer } from "../../support/layer.ts"
import { MethodNode, methodNode } from "../../support/methodNode.ts"

const blocks = fixtureBlocks("regtest-names/blocks.dat")

const hashAt = (height: number): string => displayHash(blocks[height]?.hash ?? assert.fail())

const txsUpTo = (height: number): number =>
  blocks.slice(0, height + 1).reduce((sum, { transactions }) => sum + transactions.length, 0)

describe("statistics", () => {
  it("percentiles are of the weight, not of the number of transactions", () => {
    const rated = [{ feeRate: 5, weight: 80 }, { feeRate: 1, weight: 10 }, { feeRate: 9, weight: 10 }]
    assert.deepStrictEqual(feeRatePercentiles(rated, 100), [1, 5, 5, 5, 5])
    assert.deepStrictEqual(feeRatePercentiles(rated, 1_000), [9, 9, 9, 9, 9])
    assert.deepStrictEqual(feeRatePercentiles([], 0), [0, 0, 0, 0, 0])
  })

  it("a median of an even number is the mean of two, rounded down", () => {
    assert.deepStrictEqual([[], [7], [9, 2], [1, 8, 3]].map(truncatedMedian), [0, 7, 5, 3])
  })
})

interface Recorded {
  readonly blocks: ReadonlyArray<string>
  readonly stats: ReadonlyArray<{ readonly height: number; readonly blockhash: string }>
}

layer(methodNode({ blocks: false }))("getblockstats", (it) => {
  it.effect.skipIf(!hasShared)("agrees with the reference node", () =>
    Effect.gen(function*() {
      const { call, chain } = yield* MethodNode
      const recorded = fixtureJson<Recorded>("core/functional/rpc_getblockstats.json")
      yield* chain.sink.deliver(recorded.blocks.map((hex) => decodeBlock(fromHex(hex) ?? assert.fail())), false)
      assert.isAbove(recorded.stats.length, 2)
      for (const stats of recorded.stats) {
        assert.deepStrictEqual((yield* call("getblockstats", stats.height)).value, stats)
        assert.deepStrictEqual((yield* call("getblockstats", stats.blockhash)).value, stats)
      }
    }))
})

layer(methodNode())("the chain of names", (it) => {
  it.effect("getblockstats returns chosen statistics in alphabetical order", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* MethodNode
      const chosen = ["utxo_size_inc", "utxo_increase_actual", "utxo_increase", "height", "height"]
      const { value } = yield* call("getblockstats", 0, chosen)
      assert.deepStrictEqual(value, { height: 0, utxo_increase: 1, utxo_increase_actual: 0, utxo_size_inc: 117 })
      assert.deepStrictEqual(Object.keys(Object(value)), [
        "height",
        "utxo_increase",
        "utxo_increase_actual",
        "utxo_size_inc"
      ])
      assert.deepStrictEqual(yield* refusal("getblockstats", 1, ["minfee", "zzz", "aaa"]), {
        code: -8,
        message: "Invalid selected statistic 'aaa'"
      })
    }))

  it.effect("getblockstats refuses blocks that do not exist", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const refused = (code: number, message: string) => ({ code, message })
      assert.deepStrictEqual(
        yield* refusal("getblockstats", 601),
        refused(-8, "Target block height 601 after current tip 600")
      )
      assert.deepStrictEqual(yield* refusal("getblockstats", -1), refused(-8, "Target block height -1 is negative"))
      assert.deepStrictEqual(yield* refusal("getblockstats", "00".repeat(32)), refused(-5, "Block not found"))
      assert.deepStrictEqual(
        yield* refusal("getblockstats", "0"),
        refused(-8, "hash_or_height must be of length 64 (not 1, for '0')")
      )
    }))

  it.effect("getchaintxstats counts the transactions of the chain and of a window", () =>
    Effect.gen(function*() {
      const { call } = yield* MethodNode
      const { value } = yield* call("getchaintxstats")
      assert.include(value, {
        txcount: txsUpTo(600),
        window_final_block_hash: hashAt(600),
        window_final_block_height: 600,
        window_block_count: 599,
        window_tx_count: txsUpTo(600) - txsUpTo(1)
      })
      const ten = Object(yield* call("getchaintxstats", 10, hashAt(300))).value
      assert.include(ten, { txcount: txsUpTo(300), window_tx_count: txsUpTo(300) - txsUpTo(290) })
      assert.approximately(ten.txrate, ten.window_tx_count / ten.window_interval, 1e-12)
      const none = (yield* call("getchaintxstats", 0, hashAt(7))).value
      assert.deepStrictEqual(none, {
        time: blocks[7]?.header.time,
        txcount: txsUpTo(7),
        window_final_block_hash: hashAt(7),
        window_final_block_height: 7,
        window_block_count: 0
      })
    }))

  it.effect("getchaintxstats refuses windows that the chain does not have", () =>
    Effect.gen(function*() {
      const { refusal } = yield* MethodNode
      const invalid = {
        code: -8,
        message: "Invalid block count: should be between 0 and the block's height - 1"
      }
      for (const count of [-1, 600, 2 ** 31 - 1]) {
        assert.deepStrictEqual(yield* refusal("getchaintxstats", count), invalid)
      }
      assert.deepStrictEqual(yield* refusal("getchaintxstats", 7, hashAt(7)), invalid)
      assert.strictEqual((yield* refusal("getchaintxstats", 1, "00".repeat(32))).message, "Block not found")
    }))
})
