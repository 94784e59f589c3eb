import { assert, describe, it } from "@effect/vitest"
import { SyncLog } from "../../src/node/reportSync.ts"

const reporter = () => new SyncLog({ height: 100, at: 0 })

describe("SyncLog", () => {
  it("reports once that the node has caught up, and again after it has fallen behind", () => {
    const report = reporter()
    const at = (now: number, height: number, syncing: boolean) => report.next({ now, height, syncing, peers: 1 })
    assert.deepStrictEqual(at(1_000, 500, true), [])
    assert.deepStrictEqual(at(61_000, 1_100, false), [{
      _tag: "Synced",
      height: 1_100,
      blocks: 1_000,
      seconds: 61
    }])
    assert.deepStrictEqual(at(70_000, 1_101, false), [])
    assert.deepStrictEqual(at(80_000, 1_101, true), [])
    assert.deepStrictEqual(at(90_000, 1_400, true), [])
    assert.deepStrictEqual(at(95_000, 1_701, false), [{
      _tag: "Synced",
      height: 1_701,
      blocks: 600,
      seconds: 15
    }])
  })

  it("reports a minute without peers once, and their return", () => {
    const report = reporter()
    const at = (now: number, peers: number) =>
      report.next({ now, peers, height: 100, syncing: true }).map(({ _tag }) => _tag)
    assert.deepStrictEqual(at(0, 0), [])
    assert.deepStrictEqual(at(59_999, 0), [])
    assert.deepStrictEqual(at(60_000, 0), ["Alone"])
    assert.deepStrictEqual(at(600_000, 0), [])
    assert.deepStrictEqual(at(601_000, 2), ["Accompanied"])
    assert.deepStrictEqual(at(602_000, 0), [])
    assert.deepStrictEqual(at(630_000, 1), [])
    assert.deepStrictEqual(at(631_000, 0), [])
    assert.deepStrictEqual(at(690_000, 0), [])
    assert.deepStrictEqual(at(691_000, 0), ["Alone"])
  })
})
