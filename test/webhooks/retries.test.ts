import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { isGivenUp, PATIENCE, pauseAfter, retryAfter } from "../../src/webhooks/retries.ts"

describe("pauseAfter", () => {
  it.each([
    { attempts: 1, seconds: 5 },
    { attempts: 2, seconds: 10 },
    { attempts: 5, seconds: 80 },
    { attempts: 10, seconds: 2_560 },
    { attempts: 11, seconds: 3_600 },
    { attempts: 100_000, seconds: 3_600 }
  ])("is $seconds s after $attempts attempts, without jitter", ({ attempts, seconds }) => {
    assert.strictEqual(pauseAfter({ attempts, random: 0.5 }), seconds * 1_000)
  })

  it.prop("differs by at most a fifth, and is never longer than an hour", {
    attempts: FastCheck.integer({ min: 1, max: 40 }),
    random: FastCheck.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    wished: FastCheck.option(FastCheck.nat(10_000_000), { nil: undefined })
  }, ({ attempts, random, wished }) => {
    const pause = pauseAfter({ attempts, random, wished })
    assert.isAtLeast(pause, 4_000)
    assert.isAtMost(pause, 3_600_000)
    assert.isAtLeast(pause, Math.min(wished ?? 0, 3_600_000))
    assert.isAtMost(pause, Math.max(1.2 * pauseAfter({ attempts, random: 0.5 }), wished ?? 0))
  })
})

describe("retryAfter", () => {
  it.each([
    { header: "120", milliseconds: 120_000 },
    { header: "Wed, 21 Oct 2026 07:28:00 GMT", milliseconds: undefined },
    { header: "-1", milliseconds: undefined },
    { header: "1e9", milliseconds: undefined },
    { header: undefined, milliseconds: undefined }
  ])("reads $header as $milliseconds ms", ({ header, milliseconds }) => {
    assert.strictEqual(retryAfter(header), milliseconds)
  })
})

describe("isGivenUp", () => {
  it("is true after 14 days, not before", () => {
    assert.strictEqual(PATIENCE, 14 * 24 * 3_600_000)
    assert.isFalse(isGivenUp(1_000, 1_000 + PATIENCE - 1))
    assert.isTrue(isGivenUp(1_000, 1_000 + PATIENCE))
  })
})
