import { assert, describe, it } from "@effect/vitest"
import { SyncProgress } from "../../../src/network/sync/SyncProgress.ts"

describe("SyncProgress", () => {
  it("says every ten seconds how far a long download is", () => {
    const progress = new SyncProgress()
    assert.isUndefined(progress.look(0, { headers: 10_000, blocks: 1_000, peers: 3 }))
    assert.isUndefined(progress.look(9_999, { headers: 10_000, blocks: 1_500, peers: 3 }))
    assert.deepStrictEqual(progress.look(10_000, { headers: 10_000, blocks: 2_000, peers: 3 }), {
      headers: 10_000,
      blocks: 2_000,
      percent: 20,
      blocksPerSecond: 100,
      peers: 3,
      left: "1 min"
    })
    assert.strictEqual(progress.look(20_000, { headers: 10_000, blocks: 9_000, peers: 1 })?.left, "2 s")
    assert.isUndefined(progress.look(20_001, { headers: 10_000, blocks: 9_500, peers: 1 }))
  })

  it("says nothing near the end, and does not know when a download ends that stands still", () => {
    const progress = new SyncProgress()
    progress.look(0, { headers: 1_000, blocks: 900, peers: 1 })
    assert.isUndefined(progress.look(60_000, { headers: 1_000, blocks: 900, peers: 1 }))
    progress.look(70_000, { headers: 90_000, blocks: 900, peers: 1 })
    assert.strictEqual(progress.look(80_000, { headers: 90_000, blocks: 900, peers: 1 })?.left, "unknown")
    assert.strictEqual(progress.look(90_000, { headers: 90_000, blocks: 910, peers: 1 })?.left, "24 h 44 min")
  })
})
