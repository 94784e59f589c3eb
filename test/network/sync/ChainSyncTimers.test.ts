import { assert, describe, it } from "@effect/vitest"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { ChainSyncTimers } from "../../../src/network/sync/ChainSyncTimers.ts"
import { headerId, peerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

const MINUTE = 60_000

const begin = (protectable: boolean) => {
  const tree = new BranchTree()
  const ids = tree.grow(GENESIS, 20)
  tree.tipAt = headerId(10)
  const timers = new ChainSyncTimers(tree)
  timers.add(peerId(0), protectable)
  return { tree, ids, timers }
}

describe("ChainSyncTimers", () => {
  it("a peer that stays behind for 20 minutes is asked once, and dropped two minutes later", () => {
    const { timers } = begin(true)
    assert.strictEqual(timers.consider(peerId(0), NO_HEADER, 0), "nothing")
    assert.strictEqual(timers.consider(peerId(0), headerId(9), 20 * MINUTE), "nothing")
    assert.deepStrictEqual(timers.consider(peerId(0), headerId(9), 20 * MINUTE + 1), { ask: headerId(10) })
    assert.strictEqual(timers.consider(peerId(0), headerId(9), 22 * MINUTE + 1), "nothing")
    assert.strictEqual(timers.consider(peerId(0), headerId(9), 22 * MINUTE + 2), "drop")
  })

  it("the timer restarts when the peer reaches the earlier tip, and stops when it reaches ours", () => {
    const { timers, tree } = begin(false)
    timers.consider(peerId(0), headerId(9), 0)
    tree.tipAt = headerId(12)
    assert.strictEqual(timers.consider(peerId(0), headerId(10), 19 * MINUTE), "nothing")
    assert.strictEqual(timers.consider(peerId(0), headerId(10), 21 * MINUTE), "nothing")
    // Asked is what the peer should have reached, not what our tip is by now.
    tree.tipAt = headerId(15)
    assert.deepStrictEqual(timers.consider(peerId(0), headerId(10), 40 * MINUTE), { ask: headerId(12) })
    tree.tipAt = headerId(12)
    assert.strictEqual(timers.consider(peerId(0), headerId(12), 41 * MINUTE), "nothing")
    assert.strictEqual(timers.consider(peerId(0), headerId(12), 80 * MINUTE), "nothing")
  })

  it("the first four full-relay peers at the tip are protected", () => {
    const { timers, tree } = begin(true)
    for (let id = 1; id < 6; id++) timers.add(peerId(id), id !== 2)
    for (let id = 0; id < 6; id++) timers.consider(peerId(id), headerId(10), 0)
    tree.tipAt = headerId(11)
    for (let id = 0; id < 6; id++) timers.consider(peerId(id), headerId(10), 1)
    const asked = [0, 1, 2, 3, 4, 5].filter((id) =>
      timers.consider(peerId(id), headerId(10), 21 * MINUTE) !== "nothing"
    )
    // The second is never protected, and the last came too late.
    assert.deepStrictEqual(asked, [2, 5])
    timers.remove(peerId(0))
    assert.strictEqual(timers.consider(peerId(0), NO_HEADER, 99 * MINUTE), "nothing")
  })
})
