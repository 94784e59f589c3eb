import { assert, describe, it } from "@effect/vitest"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { ChainSyncTimers } from "../../../src/network/sync/ChainSyncTimers.ts"
import { BranchTree } from "./branchTree.ts"

const MINUTE = 60_000

const begin = (protectable: boolean) => {
  const tree = new BranchTree()
  const ids = tree.grow(0, 20)
  tree.tipAt = 10
  const timers = new ChainSyncTimers(tree)
  timers.add(0, protectable)
  return { tree, ids, timers }
}

describe("ChainSyncTimers", () => {
  it("a peer that stays behind for 20 minutes is asked once, and dropped two minutes later", () => {
    const { timers } = begin(true)
    assert.strictEqual(timers.consider(0, NO_HEADER, 0), "nothing")
    assert.strictEqual(timers.consider(0, 9, 20 * MINUTE), "nothing")
    assert.strictEqual(timers.consider(0, 9, 20 * MINUTE + 1), "ask")
    assert.strictEqual(timers.consider(0, 9, 22 * MINUTE + 1), "nothing")
    assert.strictEqual(timers.consider(0, 9, 22 * MINUTE + 2), "drop")
  })

  it("the timer restarts when the peer reaches the earlier tip, and stops when it reaches ours", () => {
    const { timers, tree } = begin(false)
    timers.consider(0, 9, 0)
    tree.tipAt = 12
    assert.strictEqual(timers.consider(0, 10, 19 * MINUTE), "nothing")
    assert.strictEqual(timers.consider(0, 10, 21 * MINUTE), "nothing")
    assert.strictEqual(timers.consider(0, 10, 40 * MINUTE), "ask")
    assert.strictEqual(timers.consider(0, 12, 41 * MINUTE), "nothing")
    assert.strictEqual(timers.consider(0, 12, 80 * MINUTE), "nothing")
  })

  it("the first four full-relay peers at the tip are protected", () => {
    const { timers, tree } = begin(true)
    for (let id = 1; id < 6; id++) timers.add(id, id !== 2)
    for (let id = 0; id < 6; id++) timers.consider(id, 10, 0)
    tree.tipAt = 11
    for (let id = 0; id < 6; id++) timers.consider(id, 10, 1)
    const asked = [0, 1, 2, 3, 4, 5].filter((id) => timers.consider(id, 10, 21 * MINUTE) === "ask")
    // The second is never protected, and the last came too late.
    assert.deepStrictEqual(asked, [2, 5])
    timers.remove(0)
    assert.strictEqual(timers.consider(0, NO_HEADER, 99 * MINUTE), "nothing")
  })
})
