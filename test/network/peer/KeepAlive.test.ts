import { assert, describe, it } from "@effect/vitest"
import { KeepAlive, PING_INTERVAL, SILENCE_LIMIT } from "../../../src/network/peer/KeepAlive.ts"

describe("KeepAlive", () => {
  it("a ping is due at once, and again two minutes after the last", () => {
    const watch = new KeepAlive(1_000, true)
    assert.deepStrictEqual(watch.due(1_000), { type: "ping" })
    watch.pinged(1n, 1_000)
    assert.strictEqual(watch.due(1_000 + PING_INTERVAL).type, "wait")
    watch.ponged(1n, 1_040)
    assert.deepStrictEqual(watch.due(1_040), { type: "wait", until: 1_000 + PING_INTERVAL })
    assert.strictEqual(watch.due(999 + PING_INTERVAL).type, "wait")
    assert.deepStrictEqual(watch.due(1_000 + PING_INTERVAL), { type: "ping" })
  })

  it("the last and the best round trip are measured, by the nonce of the last ping only", () => {
    const watch = new KeepAlive(0, true)
    assert.deepStrictEqual(watch.latency(0), { last: undefined, best: undefined, waiting: undefined })
    watch.pinged(1n, 0)
    watch.pinged(2n, 10)
    watch.ponged(1n, 20)
    assert.deepStrictEqual(watch.latency(30), { last: undefined, best: undefined, waiting: 20 })
    watch.ponged(2n, 40)
    watch.ponged(2n, 90)
    watch.pinged(3n, 100)
    watch.ponged(3n, 180)
    assert.deepStrictEqual(watch.latency(200), { last: 80, best: 30, waiting: undefined })
  })

  it("a peer never counts as silent before the operator's limit", () => {
    const limit = 2 * SILENCE_LIMIT
    const watch = new KeepAlive(0, true, limit)
    watch.pinged(1n, 0)
    assert.deepStrictEqual(watch.due(SILENCE_LIMIT), { type: "wait", until: limit })
    assert.strictEqual(watch.due(limit - 1).type, "wait")
    assert.strictEqual(watch.due(limit).type, "disconnection")
  })

  const silent: ReadonlyArray<readonly [string, (watch: KeepAlive) => void, string]> = [
    [
      "nothing was received",
      (watch) => watch.sent(SILENCE_LIMIT - 1),
      "timeout: nothing received for 20 minutes"
    ],
    [
      "nothing could be sent",
      (watch) => watch.received(SILENCE_LIMIT - 1),
      "timeout: nothing could be sent for 20 minutes"
    ]
  ]
  for (const [what, prepare, reason] of silent) {
    it(`the peer is disconnected when ${what} for 20 minutes, and not sooner`, () => {
      const watch = new KeepAlive(0, false)
      watch.pinged(1n, SILENCE_LIMIT - 1)
      prepare(watch)
      assert.deepStrictEqual(watch.due(SILENCE_LIMIT - 1), { type: "wait", until: SILENCE_LIMIT })
      assert.deepStrictEqual(watch.due(SILENCE_LIMIT), {
        type: "disconnection",
        disconnection: { reason, misbehaving: false }
      })
    })
  }

  it("a pong without a nonce ends the wait without a measurement", () => {
    for (const nonce of [undefined, 0n]) {
      const keepAlive = new KeepAlive(0, true)
      keepAlive.pinged(5n, 10)
      keepAlive.ponged(nonce, 20)
      assert.deepStrictEqual(keepAlive.latency(30), { last: undefined, best: undefined, waiting: undefined })
    }
  })
})
