import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { clientAddress } from "../../src/http/clientAddress.ts"
import { RateLimiter } from "../../src/http/RateLimiter.ts"

const here = clientAddress("127.0.0.1", 1)
const there = clientAddress("203.0.113.7", 1)

const taken = (limiter: RateLimiter, times: number, now = 0, client = here): number =>
  Array.from({ length: times }, () => limiter.take(client, { count: 1, now })).filter((wait) => wait === undefined)
    .length

describe("RateLimiter", () => {
  it("admits the requests of a minute at once, and then one at each fraction of it", () => {
    const limiter = new RateLimiter(20)
    assert.strictEqual(taken(limiter, 60), 20)
    assert.strictEqual(limiter.take(here, { count: 1, now: 0 }), 3)
    assert.strictEqual(limiter.take(here, { count: 1, now: 2_999 }), 1)
    assert.isUndefined(limiter.take(here, { count: 1, now: 3_000 }))
    assert.strictEqual(limiter.take(here, { count: 1, now: 3_000 }), 3)
    assert.strictEqual(taken(limiter, 60, 10 * 60_000), 20)
  })

  it("has no limit for loopback and 6000 per minute for others by default", () => {
    const limiter = new RateLimiter(0)
    assert.strictEqual(taken(limiter, 7_000), 7_000)
    assert.strictEqual(taken(limiter, 7_000, 0, there), 6_000)
  })

  it("has no limit at all with -1", () => {
    assert.strictEqual(taken(new RateLimiter(-1), 7_000, 0, there), 7_000)
  })

  it("limits each client separately", () => {
    const limiter = new RateLimiter(1)
    assert.isUndefined(limiter.take(here, { count: 1, now: 0 }))
    assert.strictEqual(limiter.take(here, { count: 1, now: 0 }), 60)
    assert.isUndefined(limiter.take(there, { count: 1, now: 0 }))
  })

  it("counts the members of a batch", () => {
    const limiter = new RateLimiter(10)
    assert.isUndefined(limiter.take(here, { count: 8, now: 0 }))
    assert.strictEqual(limiter.take(here, { count: 3, now: 0 }), 6)
    assert.isUndefined(limiter.take(here, { count: 2, now: 0 }))
  })

  it("admits a batch larger than the limit with a full bucket, and then waits longer", () => {
    const limiter = new RateLimiter(10)
    assert.isUndefined(limiter.take(here, { count: 30, now: 0 }))
    assert.strictEqual(limiter.take(here, { count: 1, now: 0 }), 126)
    assert.strictEqual(limiter.take(here, { count: 30, now: 60_000 }), 120)
    assert.isUndefined(limiter.take(here, { count: 1, now: 126_000 }))
  })

  it("returns how long to wait without consuming anything", () => {
    const limiter = new RateLimiter(1)
    assert.isUndefined(limiter.wait(here, 0))
    assert.isUndefined(limiter.wait(here, 0))
    assert.isUndefined(limiter.take(here, { count: 1, now: 0 }))
    assert.strictEqual(limiter.wait(here, 30_000), 30)
  })

  it.prop("never admits more than the limit and the refill of the elapsed time", {
    limit: FastCheck.integer({ min: 1, max: 100 }),
    steps: FastCheck.array(FastCheck.integer({ min: 0, max: 5_000 }), { maxLength: 200 })
  }, ({ limit, steps }) => {
    const limiter = new RateLimiter(limit)
    let now = 0
    let served = 0
    for (const step of steps) {
      now += step
      if (limiter.take(here, { count: 1, now }) === undefined) served += 1
    }
    assert.isAtMost(served, limit + (now / 60_000) * limit + 1e-6)
  })

  it("forgets the clients that were idle longest when there are too many", () => {
    const limiter = new RateLimiter(1)
    assert.isUndefined(limiter.take(there, { count: 1, now: 0 }))
    for (let i = 0; i < 10_000; i++) limiter.take(clientAddress(`10.0.${i >> 8}.${i & 255}`, 1), { count: 1, now: 0 })
    assert.isUndefined(limiter.take(there, { count: 1, now: 0 }), "it was forgotten")
    assert.strictEqual(
      limiter.take(clientAddress("10.0.39.15", 1), { count: 1, now: 0 }),
      60,
      "the last one is remembered"
    )
  })
})
