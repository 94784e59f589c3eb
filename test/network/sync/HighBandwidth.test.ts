import { assert, describe, it } from "@effect/vitest"
import { HighBandwidth } from "../../../src/network/sync/HighBandwidth.ts"

describe("HighBandwidth", () => {
  it("the last three peers with a new block are selected, and the least recently useful one is replaced", () => {
    const choice = new HighBandwidth()
    for (const id of [1, 2, 3]) {
      assert.deepStrictEqual(choice.gaveBlock(id, false), { chosen: id, dismissed: undefined })
    }
    assert.isUndefined(choice.gaveBlock(1, false))
    assert.deepStrictEqual(choice.gaveBlock(4, false), { chosen: 4, dismissed: 2 })
    assert.deepStrictEqual([1, 2, 3, 4].filter((id) => choice.has(id)), [1, 3, 4])
  })

  it("the last outbound peer is never replaced by an inbound one", () => {
    const choice = new HighBandwidth()
    choice.gaveBlock(1, false)
    choice.gaveBlock(2, true)
    choice.gaveBlock(3, true)
    assert.deepStrictEqual(choice.gaveBlock(4, true), { chosen: 4, dismissed: 2 })
    assert.deepStrictEqual(choice.gaveBlock(5, false), { chosen: 5, dismissed: 1 })
  })

  it("a removed peer frees its place", () => {
    const choice = new HighBandwidth()
    for (const id of [1, 2, 3]) choice.gaveBlock(id, false)
    choice.remove(2)
    choice.remove(9)
    assert.deepStrictEqual(choice.gaveBlock(4, false), { chosen: 4, dismissed: undefined })
  })
})
