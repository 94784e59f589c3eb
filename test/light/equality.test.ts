import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { regtestParams } from "../../src/consensus/params.ts"
import { decodeBlock } from "../../src/protocol/block.ts"
import { blocksOf } from "../support/chain.ts"
import { compareClients } from "../support/lightEquality.ts"
import { ShapedChain } from "../support/shapedChain.ts"
import { shapedParams } from "../support/shapedNetwork.ts"

/** `scripts/light/equality.ts` does the same with long chains. */

const SHAPE = {
  seed: 3,
  height: 210,
  before: { from: 130, to: 160, registrations: 1 },
  window: { registrations: 0.5, updates: 1 }
}

describe("a light and a whole client", () => {
  it.scopedLive("answer the same for every name of a chain, through reorganizations", () =>
    Effect.gen(function*() {
      const blocks = blocksOf("regtest-names/blocks.dat").slice(0, 410)
      const { answers, different, fresh, living, reorganizations } = yield* compareClients({
        blocks,
        params: regtestParams,
        every: 100,
        depths: [1, 29, 90],
        freshEvery: 2
      })
      assert.deepStrictEqual(different, [])
      assert.isAbove(living, 200)
      assert.isAbove(answers, 1_000)
      assert.deepStrictEqual([reorganizations, fresh], [8, 4])
    }), 120_000)

  it.scopedLive("answer the same for every name of a chain of mainnet's shape", () =>
    Effect.gen(function*() {
      const params = shapedParams()
      const chain = new ShapedChain(params, SHAPE)
      const blocks = [decodeBlock(params.network.genesisBlock)]
      while (chain.height < SHAPE.height) blocks.push(chain.step())
      const { different, living } = yield* compareClients({
        blocks,
        params,
        every: 100,
        depths: [40, 7],
        freshEvery: 1
      })
      assert.deepStrictEqual(different, [])
      assert.isAbove(living, 50)
    }), 120_000)
})
