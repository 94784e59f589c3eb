import { assert, describe, it } from "@effect/vitest"
import { SyncSpeed } from "../../src/web/SyncSpeed.ts"

describe("SyncSpeed", () => {
  it("returns nothing before two seconds, then the blocks per second since its creation", () => {
    const speed = new SyncSpeed({ at: 0, height: 100 })
    assert.isUndefined(speed.note({ at: 1_999, height: 200 }))
    assert.strictEqual(speed.note({ at: 2_000, height: 200 }), 50)
  })

  it("forgets samples older than a minute", () => {
    const speed = new SyncSpeed({ at: 0, height: 0 })
    for (let at = 1_000; at <= 61_000; at += 1_000) speed.note({ at, height: 1_000 })
    assert.strictEqual(speed.note({ at: 62_000, height: 1_000 }), 0)
  })

  it("returns the speed since the last sample after a long pause", () => {
    const speed = new SyncSpeed({ at: 0, height: 0 })
    speed.note({ at: 5_000, height: 50 })
    assert.strictEqual(speed.note({ at: 105_000, height: 150 }), 1)
  })

  it("is never negative", () => {
    const speed = new SyncSpeed({ at: 0, height: 10 })
    assert.strictEqual(speed.note({ at: 5_000, height: 5 }), 0)
  })

  it("keeps few samples however often it is read", () => {
    const speed = new SyncSpeed({ at: 0, height: 0 })
    for (let at = 1; at <= 10_000; at++) speed.note({ at, height: at })
    assert.strictEqual(speed.note({ at: 10_000, height: 10_000 }), 1_000)
  })
})
