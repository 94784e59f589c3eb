import { assert, describe, it } from "@effect/vitest"
import { RollingFee } from "../../../src/mempool/fees/RollingFee.ts"

const HOUR = 3600

describe("RollingFee", () => {
  it("is 0 before the first eviction", () => {
    const fee = new RollingFee(100)
    fee.blockConnected(0)
    assert.strictEqual(fee.at(HOUR, 1), 0)
  })

  it("is the increment above the highest evicted rate", () => {
    const fee = new RollingFee(100)
    fee.raise(5_000)
    fee.raise(4_000)
    assert.strictEqual(fee.at(0, 1), 5_100)
  })

  it("falls from the next block on, by half in twelve hours if the pool is at least half full", () => {
    const fee = new RollingFee(100)
    fee.raise(9_900)
    assert.strictEqual(fee.at(100 * HOUR, 1), 10_000)
    fee.blockConnected(100 * HOUR)
    assert.strictEqual(fee.at(100 * HOUR + 10, 1), 10_000)
    assert.isBelow(fee.at(100 * HOUR + 11, 1), 10_000)
    assert.strictEqual(fee.at(112 * HOUR, 0.5), 5_000)
    // After another eviction it stays the same until the next block.
    fee.raise(7_900)
    assert.strictEqual(fee.at(200 * HOUR, 0.5), 8_000)
  })

  it.each([[0.6, 12], [0.5, 12], [0.49, 6], [0.25, 6], [0.24, 3]])(
    "with %d of the memory in use, halves in %d hours",
    (filled, hours) => {
      const fee = new RollingFee(100)
      fee.raise(9_900)
      fee.blockConnected(0)
      assert.strictEqual(fee.at(hours * HOUR, filled), 5_000)
    }
  )

  it("is at least the increment, and 0 below half of it", () => {
    const fee = new RollingFee(100)
    fee.raise(100)
    fee.blockConnected(0)
    assert.strictEqual(fee.at(12 * HOUR, 1), 100)
    assert.strictEqual(fee.at(24 * HOUR, 1), 100)
    fee.blockConnected(24 * HOUR)
    assert.strictEqual(fee.at(24 * HOUR + 60, 1), 0)
    assert.strictEqual(fee.at(48 * HOUR, 1), 0)
  })
})
