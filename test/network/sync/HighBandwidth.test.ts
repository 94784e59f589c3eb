import { assert, describe, it } from "@effect/vitest"
import { HighBandwidth } from "../../../src/network/sync/HighBandwidth.ts"
import { peerId } from "../../../src/protocol/keys.ts"

describe("HighBandwidth", () => {
  it("the last three peers with a new block are selected, and the least recently useful one is replaced", () => {
    const choice = new HighBandwidth()
    for (const id of [1, 2, 3]) {
      assert.deepStrictEqual(choice.gaveBlock(peerId(id), false), { chosen: peerId(id), dismissed: undefined })
    }
    assert.isUndefined(choice.gaveBlock(peerId(1), false))
    assert.deepStrictEqual(choice.gaveBlock(peerId(4), false), { chosen: peerId(4), dismissed: peerId(2) })
    assert.deepStrictEqual([1, 2, 3, 4].filter((id) => choice.has(peerId(id))), [1, 3, 4])
  })

  it("the last outbound peer is never replaced by an inbound one", () => {
    const choice = new HighBandwidth()
    choice.gaveBlock(peerId(1), false)
    choice.gaveBlock(peerId(2), true)
    choice.gaveBlock(peerId(3), true)
    assert.deepStrictEqual(choice.gaveBlock(peerId(4), true), { chosen: peerId(4), dismissed: peerId(2) })
    assert.deepStrictEqual(choice.gaveBlock(peerId(5), false), { chosen: peerId(5), dismissed: peerId(1) })
  })

  it("a removed peer frees its place", () => {
    const choice = new HighBandwidth()
    for (const id of [1, 2, 3]) choice.gaveBlock(peerId(id), false)
    choice.remove(peerId(2))
    choice.remove(peerId(9))
    assert.deepStrictEqual(choice.gaveBlock(peerId(4), false), { chosen: peerId(4), dismissed: undefined })
  })
})
