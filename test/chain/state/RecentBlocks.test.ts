import { assert, describe, it } from "@effect/vitest"
import { RecentBlocks } from "../../../src/chain/state/RecentBlocks.ts"
import { type Block, decodeBlock, makeBlock } from "../../../src/protocol/block.ts"
import { headerId } from "../../../src/protocol/keys.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { makeTransaction } from "../../../src/protocol/transaction.ts"

const MIB = 1024 * 1024
const genesis = decodeBlock(regtest.genesisBlock)

/** A block of a little more than `size` bytes. */
const blockOf = (size: number): Block =>
  makeBlock(genesis, [
    makeTransaction({ version: 1, inputs: [], outputs: [{ value: 0, script: new Uint8Array(size) }], lockTime: 0 })
  ])

describe("RecentBlocks", () => {
  it("RecentBlocks keeps the latest 4 MiB", () => {
    const recent = new RecentBlocks()
    const block = blockOf(MIB - 1000)
    for (let id = 0; id < 4; id++) recent.put(headerId(id), block)
    assert.deepStrictEqual([0, 1, 2, 3].map((id) => recent.get(headerId(id)) !== undefined), [true, true, true, true])
    recent.put(headerId(4), block)
    assert.isUndefined(recent.get(headerId(0)))
    assert.strictEqual(recent.get(headerId(1)), block)
    // Adding a block again makes it the latest.
    recent.put(headerId(1), block)
    recent.put(headerId(5), block)
    assert.isUndefined(recent.get(headerId(2)))
    assert.strictEqual(recent.get(headerId(1)), block)
  })

  it("RecentBlocks keeps one block of any size", () => {
    const recent = new RecentBlocks()
    recent.put(headerId(1), blockOf(100))
    const large = blockOf(5 * MIB)
    recent.put(headerId(2), large)
    assert.strictEqual(recent.get(headerId(2)), large)
    assert.isUndefined(recent.get(headerId(1)))
  })

  it("RecentBlocks drops the oldest blocks above a lower limit, down to none", () => {
    const recent = new RecentBlocks()
    for (const id of [1, 2, 3]) recent.put(headerId(id), blockOf(1_000))
    recent.trim(2_500)
    assert.deepStrictEqual([1, 2, 3].map((id) => recent.get(headerId(id)) !== undefined), [false, true, true])
    recent.trim(0)
    assert.isUndefined(recent.get(headerId(3)))
  })

  it("RecentBlocks does not count removed or replaced blocks", () => {
    const recent = new RecentBlocks()
    const large = blockOf(3.9 * MIB)
    recent.put(headerId(1), large)
    recent.remove(headerId(1))
    recent.remove(headerId(1))
    recent.put(headerId(2), blockOf(100))
    recent.put(headerId(3), large)
    assert.isDefined(recent.get(headerId(2)))
    recent.put(headerId(3), blockOf(100))
    recent.put(headerId(4), large)
    assert.isDefined(recent.get(headerId(2)))
    assert.isDefined(recent.get(headerId(3)))
    assert.isUndefined(recent.get(headerId(1)))
  })
})
