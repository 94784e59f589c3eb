import { assert, describe, it } from "@effect/vitest"
import { MemoryChain } from "../support/MemoryChain.ts"
import { ShapedChain } from "../support/shapedChain.ts"
import { shapedParams } from "../support/shapedNetwork.ts"

const SHAPE = {
  seed: 1,
  height: 240,
  before: { from: 130, to: 180, registrations: 1 },
  window: { registrations: 0.5, updates: 1 }
}

describe("ShapedChain", () => {
  it("makes valid blocks with retargets and signatures, the same for the same seed", () => {
    const params = shapedParams()
    const [chain, again] = [new ShapedChain(params, SHAPE), new ShapedChain(params, SHAPE)]
    const memory = new MemoryChain(params)
    const bits = new Set<number>()
    let last: Uint8Array = new Uint8Array(0)
    while (chain.height < SHAPE.height) {
      const block = chain.step()
      last = block.hash
      memory.connect(block)
      bits.add(block.header.bits)
      assert.isAtLeast(80 + (block.auxpow?.bytes.length ?? 0), 1_000)
      assert.deepStrictEqual(again.step().hash, last)
    }
    assert.isAbove(bits.size, 1)
    assert.isAbove(chain.living.length, 40)
  })
})
