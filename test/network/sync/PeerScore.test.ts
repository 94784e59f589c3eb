import { assert, describe, it } from "@effect/vitest"
import { LEAST_LIMIT, MOST_LIMIT, PeerScore, START_LIMIT } from "../../../src/network/sync/PeerScore.ts"

/** A busy peer: it answers `rounds` times its limit of blocks, each `latency` after its request. */
const busy = (latency: number, rounds: number): PeerScore => {
  const score = new PeerScore()
  for (let round = 1; round <= rounds; round++) {
    for (let i = score.limit; i > 0; i--) score.delivered(round * latency, latency, true)
  }
  return score
}

describe("PeerScore", () => {
  it("the limit starts at 16 blocks and grows to what keeps a distant peer busy", () => {
    assert.strictEqual(new PeerScore().limit, START_LIMIT)
    assert.strictEqual(busy(100, 5).limit, MOST_LIMIT)
    assert.isAbove(busy(1_000, 6).limit, START_LIMIT)
  })

  it("a slow peer has a low limit", () => {
    const score = new PeerScore()
    for (let i = 1; i <= 20; i++) score.delivered(1_000 * i, 4_000, true)
    assert.isAtMost(score.limit, 2 * LEAST_LIMIT * 4)
    const slower = new PeerScore()
    for (let i = 1; i <= 20; i++) slower.delivered(1_000 * i, 300, true)
    assert.strictEqual(slower.limit, LEAST_LIMIT)
  })

  it("an idle peer does not count as slow", () => {
    const score = busy(100, 5)
    const { limit } = score
    for (let i = 0; i < 50; i++) score.delivered(10_000 + 1_000 * i, 100, false)
    assert.strictEqual(score.limit, limit)
    for (let i = 0; i < 50; i++) score.delivered(100_000 + 1_000 * i, 100, true)
    assert.isBelow(score.limit, limit)
  })

  it("the rank depends on latency, stalls and failures, and stalls decay", () => {
    const [fast, slow] = [busy(10, 5), busy(500, 5)]
    assert.isBelow(fast.rank, slow.rank)
    const before = fast.rank
    fast.stalled()
    assert.isAbove(fast.rank, before)
    for (let i = 0; i < 60; i++) fast.delivered(1_000 + i, 10, true)
    assert.approximately(fast.rank, before, 1)
    fast.failed()
    assert.isAbove(fast.rank, 2 * before)
  })

  it("a new peer that stalled has a lower limit", () => {
    const score = new PeerScore()
    score.stalled()
    assert.strictEqual(score.limit, LEAST_LIMIT)
  })

  it("the patience is between half a second and ten seconds, by the latency", () => {
    assert.strictEqual(busy(1, 3).patience, 500)
    assert.strictEqual(busy(1_000, 3).patience, 4_000)
    assert.strictEqual(busy(60_000, 3).patience, 10_000)
  })
})
