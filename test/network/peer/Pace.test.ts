import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Pace, type PeerPace } from "../../../src/network/peer/Pace.ts"

/** A pace with half a second of debt at time 0. */
const exhausted = (): Pace => {
  const pace = new Pace(0)
  pace.spent(1_000, 0)
  return pace
}

describe("Pace", () => {
  it("half a second passes at once, then a tenth of the time", () => {
    const pace = new Pace(1_000)
    pace.spent(500, 1_000)
    assert.strictEqual(pace.wait(1_000), 0)
    pace.spent(1, 1_000)
    assert.strictEqual(pace.wait(1_000), 10)
    assert.strictEqual(pace.wait(1_009), 1)
    assert.strictEqual(pace.wait(1_010), 0)
  })

  it("credit and debt are at most half a second", () => {
    const pace = new Pace(0)
    pace.spent(501, 1_000_000)
    assert.strictEqual(pace.wait(1_000_000), 10)
    pace.spent(100_000, 1_000_000)
    assert.strictEqual(pace.wait(1_000_000), 5_000)
  })

  it("the tenth is divided among the connected peers, at least five", () => {
    const pace = new Pace(0)
    for (let i = 0; i < 5; i++) pace.join(0, "a")
    assert.strictEqual(pace.ownShare, 0.02)
    for (let i = 0; i < 15; i++) pace.join(0, "a")
    assert.strictEqual(pace.ownShare, 0.005)
    for (let i = 0; i < 20; i++) pace.leave("a", 0, 0)
    assert.strictEqual(pace.ownShare, 0.02)
  })
})

describe("PeerPace", () => {
  it("no peer waits while all together take little, however much one takes", () => {
    const pace = new Pace(0)
    const peer = pace.join(0, "a")
    for (let i = 0; i < 10; i++) peer.spent(50, 0)
    assert.strictEqual(peer.wait(0), 0)
    peer.spent(1, 0)
    assert.isAbove(peer.wait(0), 0)
  })

  it("a peer waits for the time that it took itself, and not for the time of others", () => {
    const pace = exhausted()
    const [flooder, honest] = [pace.join(0, "a"), pace.join(0, "b")]
    flooder.spent(5, 0)
    honest.spent(5, 0)
    assert.deepStrictEqual([flooder.wait(0), honest.wait(0)], [0, 0])
    flooder.spent(60, 0)
    // Alone it pays off at a tenth of the time. 20 milliseconds are too little to wait for.
    assert.deepStrictEqual([flooder.wait(0), honest.wait(0)], [400, 0])
    flooder.goOn(399)
    assert.strictEqual(flooder.wait(399), 100)
    assert.strictEqual(flooder.wait(400), 0)
  })

  it("waiting peers share the time equally, and a peer that left has no share", () => {
    const pace = exhausted()
    const flooders = Array.from({ length: 4 }, () => pace.join(0, "a"))
    for (const flooder of flooders) flooder.spent(30, 0)
    const waits = flooders.map((flooder) => flooder.wait(0))
    // The first has the first milliseconds of the group, and each sees one more waiting peer.
    assert.deepStrictEqual(waits, [100, 200, 300, 400])
    for (const flooder of flooders.slice(1)) flooder.leave(0)
    assert.strictEqual(flooders[0]?.wait(0), 100)
    assert.strictEqual(pace.waitersShare, 0.1)
  })

  it("a step counts at most 250 milliseconds", () => {
    const pace = exhausted()
    const peer = pace.join(0, "a")
    peer.spent(100_000, 0)
    // Of the 250 that count, 225 are waited for, at most two seconds at a time.
    assert.strictEqual(peer.wait(0), 2_000)
    assert.strictEqual(peer.wait(2_000), 250)
    assert.strictEqual(peer.wait(2_250), 0)
  })

  it("a peer accumulates little credit, and a new peer waits as soon as it exceeds a slow handshake", () => {
    const pace = exhausted()
    const peer = pace.join(0, "a")
    peer.spent(25, 0)
    assert.strictEqual(peer.wait(0), 0)
    peer.spent(1, 0)
    // Never shorter, because ending a wait takes time too.
    assert.strictEqual(peer.wait(0), 100)
    pace.spent(100_000, 1_000_000)
    peer.spent(70, 1_000_000)
    assert.strictEqual(peer.wait(1_000_000), 0)
    peer.spent(10, 1_000_000)
    assert.strictEqual(peer.wait(1_000_000), 100)
  })

  it("an address group gets its first milliseconds once, however often its peers connect", () => {
    const pace = exhausted()
    for (let i = 0; i < 100; i++) {
      const peer = pace.join(0, "a")
      if (i > 0) assert.isAbove(peer.wait(0), 0, `connection ${i}`)
      peer.spent(26, 0)
      peer.leave(0)
    }
    // Another group still has its milliseconds, and gets back the unused ones.
    for (let i = 0; i < 3; i++) {
      const other = pace.join(0, "b")
      other.spent(1, 0)
      assert.strictEqual(other.wait(0), 0)
      other.leave(0)
    }
    assert.strictEqual(pace.join(60_000, "a").wait(60_000), 0)
  })

  it("debts of groups are remembered within limits, and so is the number of groups", () => {
    const pace = exhausted()
    const peer = pace.join(0, "a")
    for (let i = 0; i < 100; i++) peer.spent(250, 0)
    peer.leave(0)
    pace.spent(1_000_000, 20_000)
    assert.isAbove(pace.join(20_000, "a").wait(20_000), 0)
    pace.spent(1_000_000, 26_000)
    assert.strictEqual(pace.join(26_000, "a").wait(26_000), 0)
    for (let i = 0; i < 5_000; i++) pace.join(26_000, `group ${i}`).leave(26_000)
  })

  it("throttled peers together take little more than a tenth of the time, and a peer that takes little does not wait", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.integer({ min: 1, max: 120 }),
      FastCheck.array(FastCheck.double({ min: 0.5, max: 50, noNaN: true }), { minLength: 20, maxLength: 20 }),
      (count, costs) => {
        const pace = new Pace(0)
        const honest = pace.join(0, "a")
        const flooders = Array.from({ length: count }, (): [PeerPace, number] => [pace.join(0, "a"), 0])
        let now = 0
        let spent = 0
        for (let step = 0; now < 60_000; step++) {
          for (const each of flooders) {
            const [flooder, due] = each
            if (due > now) continue
            const wait = flooder.wait(now)
            each[1] = now + wait
            if (wait > 0) continue
            const cost = costs[step % costs.length] ?? 1
            now += cost
            spent += cost
            flooder.spent(cost, now)
          }
          if (step % 100 === 99) {
            assert.strictEqual(honest.wait(now), 0)
            honest.spent(0.01, now)
          }
          now += 5
        }
        // The initial burst; and of each peer the last step, and the debt that it does not wait for.
        assert.isAtMost(spent, 500 + 0.15 * now + (50 + 20) * count)
      }
    ))
  })
})
