import { assert, describe, it } from "@effect/vitest"
import type { SyncReport } from "../../src/light/syncReport.ts"
import { PhaseLog, SyncLog } from "../../src/node/reportSync.ts"

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

  it("reports again and again that there are no peers, in longer and longer intervals", () => {
    const report = reporter()
    const minutes: Array<number> = []
    for (let minute = 0; minute <= 3 * 1440; minute++) {
      for (const notice of report.next({ now: minute * 60_000, peers: 0, height: 100, syncing: true })) {
        assert.strictEqual(notice._tag, "Alone")
        minutes.push(minute)
        assert.deepStrictEqual(notice, { _tag: "Alone", minutes: minute })
      }
    }
    assert.deepStrictEqual(minutes, [1, 10, 60, 360, 1440, 2 * 1440, 3 * 1440])
  })

  it("reports a minute without peers, and their return", () => {
    const report = reporter()
    const at = (now: number, peers: number) =>
      report.next({ now, peers, height: 100, syncing: true }).map(({ _tag }) => _tag)
    assert.deepStrictEqual(at(0, 0), [])
    assert.deepStrictEqual(at(59_999, 0), [])
    assert.deepStrictEqual(at(60_000, 0), ["Alone"])
    assert.deepStrictEqual(at(599_000, 0), [])
    assert.deepStrictEqual(at(601_000, 2), ["Accompanied"])
    assert.deepStrictEqual(at(602_000, 0), [])
    assert.deepStrictEqual(at(630_000, 1), [])
    assert.deepStrictEqual(at(631_000, 0), [])
    assert.deepStrictEqual(at(690_000, 0), [])
    assert.deepStrictEqual(at(691_000, 0), ["Alone"])
  })
})

describe("PhaseLog", () => {
  const report: SyncReport = {
    phase: "headers",
    proof: "work",
    height: 789_000,
    headers: 789_000,
    synced: false,
    percent: 0,
    secondsLeft: undefined,
    window: { blocks: 0, of: 0, names: 0, unchecked: 0 }
  }

  it("has an entry for a new phase and for progress every 30 seconds, and none without progress", () => {
    const log = new PhaseLog()
    const at = (now: number, change: Partial<SyncReport> = {}) => log.next({ ...report, ...change }, now)?.message
    assert.strictEqual(at(0), "light sync: new phase")
    assert.isUndefined(at(30_000))
    // An estimate is not progress.
    assert.isUndefined(at(600_000, { secondsLeft: 7 }))
    assert.strictEqual(at(601_000, { headers: 791_000 }), "light sync: progress")
    assert.isUndefined(at(602_000, { headers: 793_000 }))
    assert.strictEqual(at(631_000, { headers: 793_000 }), "light sync: progress")
    assert.strictEqual(at(632_000, { phase: "window" }), "light sync: new phase")
    assert.strictEqual(
      at(662_000, { phase: "window", window: { blocks: 5, of: 10, names: 0, unchecked: 0 } }),
      "light sync: progress"
    )
    assert.strictEqual(at(663_000, { phase: "blocks" }), "light sync: new phase")
    assert.isUndefined(at(900_000, { phase: "blocks", percent: 50 }))
  })
})
