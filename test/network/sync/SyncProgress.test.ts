import { assert, describe, it } from "@effect/vitest"
import { SyncProgress } from "../../../src/network/sync/SyncProgress.ts"

describe("SyncProgress", () => {
  it("the progress of a long download is logged every ten seconds", () => {
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

  it("no progress is logged near the end, and the time left of a stuck download is unknown", () => {
    const progress = new SyncProgress()
    progress.look(0, { headers: 1_000, blocks: 900, peers: 1 })
    assert.isUndefined(progress.look(60_000, { headers: 1_000, blocks: 900, peers: 1 }))
    progress.look(70_000, { headers: 90_000, blocks: 900, peers: 1 })
    assert.strictEqual(progress.look(80_000, { headers: 90_000, blocks: 900, peers: 1 })?.left, "unknown")
    assert.strictEqual(progress.look(90_000, { headers: 90_000, blocks: 910, peers: 1 })?.left, "24 h 44 min")
  })

  it("a stuck download has one line, and none without peers, until there is progress", () => {
    const progress = new SyncProgress()
    const at = (now: number, blocks: number, peers: number) => progress.look(now, { headers: 90_000, blocks, peers })
    at(0, 0, 0)
    assert.isUndefined(at(10_000, 0, 0))
    assert.strictEqual(at(20_000, 0, 2)?.left, "unknown")
    assert.isUndefined(at(30_000, 0, 2))
    assert.isUndefined(at(40_000, 0, 0))
    assert.strictEqual(at(50_000, 100, 2)?.blocksPerSecond, 10)
    assert.isUndefined(at(60_000, 100, 0))
    // Blocks of a file need no peer.
    assert.strictEqual(at(70_000, 200, 0)?.blocks, 200)
  })
})
