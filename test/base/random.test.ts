import { assert, describe, it } from "@effect/vitest"
import { secureRandom } from "../../src/base/entropy.ts"
import { below, bytesFrom, exponential, shuffled } from "../../src/base/random.ts"
import { seeded } from "../network/addresses/support.ts"

describe("chance", () => {
  it("secureRandom returns different, evenly distributed numbers from 0 to 1", () => {
    const random = secureRandom()
    const numbers = Array.from({ length: 10_000 }, random)
    assert.isTrue(numbers.every((n) => n >= 0 && n < 1))
    assert.strictEqual(new Set(numbers).size, numbers.length)
    const mean = numbers.reduce((sum, n) => sum + n, 0) / numbers.length
    assert.closeTo(mean, 0.5, 0.03)
  })

  it("below returns whole numbers below a count", () => {
    assert.strictEqual(below(() => 0, 7), 0)
    assert.strictEqual(below(() => 1 - 2 ** -53, 7), 6)
    assert.isTrue(bytesFrom(() => 1 - 2 ** -53, 3).every((byte) => byte === 255))
  })

  it("exponential returns finite waiting times with the given mean", () => {
    const random = seeded(3)
    const times = Array.from({ length: 20_000 }, () => exponential(random, 30))
    assert.closeTo(times.reduce((sum, time) => sum + time, 0) / times.length, 30, 1)
    assert.isTrue(Number.isFinite(exponential(() => 1 - 2 ** -53, 30)))
    assert.closeTo(exponential(() => 0, 30), 0, 1e-9)
  })

  it("shuffled returns the same items in every possible order", () => {
    const random = seeded(5)
    const orders = new Set(Array.from({ length: 500 }, () => shuffled(random, ["a", "b", "c"]).join("")))
    assert.deepStrictEqual([...orders].sort(), ["abc", "acb", "bac", "bca", "cab", "cba"])
    assert.deepStrictEqual(shuffled(random, []), [])
  })
})
