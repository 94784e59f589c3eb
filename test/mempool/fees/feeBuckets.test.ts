import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { bucketBottom, bucketOf, BUCKETS, bucketTop } from "../../../src/mempool/fees/feeBuckets.ts"

describe("the ranges of fee rates", () => {
  it("cover all fee rates without a gap", () => {
    assert.strictEqual(bucketBottom(0), 0)
    assert.strictEqual(bucketTop(0), 100)
    for (let bucket = 1; bucket < BUCKETS; bucket++) {
      assert.strictEqual(bucketBottom(bucket), bucketTop(bucket - 1))
      assert.isAbove(bucketTop(bucket), bucketBottom(bucket))
    }
    assert.isAtMost(bucketTop(BUCKETS - 2), 1e7)
    assert.isAbove(bucketTop(BUCKETS - 2) * 1.05, 1e7)
    assert.strictEqual(bucketTop(BUCKETS - 1), 1e99)
    // ln(10^5) / ln(1.05) steps of 5 %, the first range, and the one without an end.
    assert.strictEqual(BUCKETS, 237)
  })

  it("contain their upper end and not their lower end", () => {
    assert.strictEqual(bucketOf(0), 0)
    assert.strictEqual(bucketOf(100), 0)
    assert.strictEqual(bucketOf(101), 1)
    assert.strictEqual(bucketOf(105), 1)
    assert.strictEqual(bucketOf(106), 2)
    assert.strictEqual(bucketOf(1e7), BUCKETS - 1)
    assert.strictEqual(bucketOf(2.1e15), BUCKETS - 1)
    for (let bucket = 0; bucket < BUCKETS; bucket++) assert.strictEqual(bucketOf(bucketTop(bucket)), bucket)
  })

  it("contain every possible fee rate", () =>
    FastCheck.assert(FastCheck.property(FastCheck.double({ min: 1e-9, max: 2.1e18, noNaN: true }), (feeRate) => {
      const bucket = bucketOf(feeRate)
      assert.isAbove(feeRate, bucketBottom(bucket))
      assert.isAtMost(feeRate, bucketTop(bucket))
    })))
})
