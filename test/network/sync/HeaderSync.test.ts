import { assert, describe, it } from "@effect/vitest"
import { HEADERS_ANSWER_TIME, HeaderSync, PART } from "../../../src/network/sync/HeaderSync.ts"
import { peerId } from "../../../src/protocol/keys.ts"

const OLD = 86_400
const RECENT = OLD - 1

const withPeers = (...preferred: ReadonlyArray<boolean>): HeaderSync => {
  const sync = new HeaderSync(600)
  for (const [id, chosen] of preferred.entries()) sync.add(peerId(id), chosen)
  return sync
}

describe("HeaderSync", () => {
  it("a peer has one open request, which may be repeated after two minutes", () => {
    const sync = withPeers(true)
    assert.isTrue(sync.ask(peerId(0), 1_000))
    assert.isFalse(sync.ask(peerId(0), 1_000 + HEADERS_ANSWER_TIME - 1))
    assert.isTrue(sync.ask(peerId(0), 1_000 + HEADERS_ANSWER_TIME))
    assert.isFalse(sync.answered(peerId(0)))
    assert.isTrue(sync.ask(peerId(0), 1_000 + HEADERS_ANSWER_TIME + 1))
    assert.isFalse(sync.ask(peerId(7), 0))
  })

  it("an announcement during a request leads to another request after the answer", () => {
    const sync = withPeers(true)
    sync.ask(peerId(0), 0)
    sync.ask(peerId(0), 1)
    assert.isTrue(sync.answered(peerId(0)))
    assert.isFalse(sync.answered(peerId(0)))
  })

  it("while the best header is a day old, one peer is asked at a time, outbound peers first", () => {
    const sync = withPeers(false, true, true)
    assert.deepStrictEqual(sync.start(0, OLD), [peerId(1)])
    sync.ask(peerId(1), 0)
    assert.deepStrictEqual(sync.start(1, OLD), [])
    sync.answered(peerId(1))
    sync.told(peerId(1))
    assert.deepStrictEqual(sync.start(2, OLD), [peerId(2)])
    sync.ask(peerId(2), 2)
    sync.answered(peerId(2))
    sync.told(peerId(2))
    assert.deepStrictEqual(sync.start(3, OLD), [peerId(0)])
    assert.deepStrictEqual(sync.start(4, OLD), [])
    assert.isTrue(sync.isStarted(peerId(0)))
  })

  it("a peer without header sync is asked once because of its announcements, and one without blocks never starts", () => {
    const sync = withPeers(true)
    sync.addAnnouncer(peerId(1))
    assert.deepStrictEqual([0, 1, 0, 1, 2].map((id) => sync.follows(peerId(id))), [true, true, false, false, false])
    assert.deepStrictEqual(sync.start(0, RECENT), [peerId(0)])
    assert.isTrue(sync.follows(peerId(0)))
    assert.isTrue(sync.follows(peerId(0)))
    assert.isFalse(sync.follows(peerId(1)))
  })

  it("all peers are asked near the end of the chain", () => {
    assert.deepStrictEqual(withPeers(false, true, true).start(0, RECENT), [peerId(0), peerId(1), peerId(2)])
  })

  it("another peer is asked if the first one does not answer for 20 seconds", () => {
    const sync = withPeers(true, true)
    sync.start(0, OLD)
    sync.ask(peerId(0), 0)
    assert.deepStrictEqual(sync.start(20_000, OLD), [])
    assert.deepStrictEqual(sync.start(20_001, OLD), [peerId(1)])
  })

  it("the time limit is 15 minutes plus a millisecond per expected header", () => {
    const sync = withPeers(true, true)
    const age = 600 * 500_000
    sync.start(0, age)
    const end = 15 * 60_000 + 500_000
    assert.isUndefined(sync.late(end, age))
    assert.strictEqual(sync.late(end + 1, age), 0)
    sync.told(peerId(0))
    assert.isUndefined(sync.late(end + 2, age))
    const recent = withPeers(true, true)
    recent.start(0, age)
    assert.isUndefined(recent.late(end + 1, RECENT))
  })

  it("a late peer restarts if there is no other outbound peer", () => {
    for (const peers of [[true], [true, false]]) {
      const sync = withPeers(...peers)
      sync.start(0, OLD)
      assert.isUndefined(sync.late(3_600_000, OLD))
      assert.deepStrictEqual(sync.start(3_600_000, OLD), [peerId(0)])
    }
  })

  it("received bytes count as progress", () => {
    const sync = withPeers(true, true)
    sync.start(0, OLD)
    sync.ask(peerId(0), 0)
    sync.heard(peerId(0), PART, 15_000)
    assert.deepStrictEqual(sync.start(35_000, OLD), [])
    // Too few to be a part of an answer.
    sync.heard(peerId(0), 2 * PART - 1, 30_000)
    assert.deepStrictEqual(sync.start(35_001, OLD), [peerId(1)])
  })

  it("no third peer is asked while two are unfinished", () => {
    const sync = withPeers(true, true, true, true)
    sync.start(0, OLD)
    sync.ask(peerId(0), 0)
    assert.deepStrictEqual(sync.start(30_000, OLD), [peerId(1)])
    sync.ask(peerId(1), 30_000)
    assert.deepStrictEqual(sync.start(90_000, OLD), [])
    sync.told(peerId(1))
    assert.deepStrictEqual(sync.start(90_000, OLD), [peerId(2)])
  })

  it("no peer is dropped if two answer over a slow link, and silent ones are dropped one at a time", () => {
    const end = 15 * 60_000 + OLD / 600
    const begin = (): HeaderSync => {
      const sync = withPeers(true, true, true)
      sync.start(0, OLD)
      sync.ask(peerId(0), 0)
      sync.start(30_000, OLD)
      sync.ask(peerId(1), 30_000)
      return sync
    }
    const slow = begin()
    for (const id of [0, 1]) slow.heard(peerId(id), PART, end + 30_000)
    assert.isUndefined(slow.late(end + 31_000, OLD))
    const silent = begin()
    assert.strictEqual(silent.late(end + 31_000, OLD), 0)
    silent.remove(peerId(0))
    assert.isUndefined(silent.late(2 * end + 31_000, OLD))
    assert.strictEqual(silent.late(2 * end + 31_001, OLD), 1)
  })

  it("another peer is asked if the first one crawls, later each time, and the slower of two ends", () => {
    const sync = new HeaderSync(600, { patience: 5_000, least: 100_000 })
    for (const id of [0, 1, 2]) sync.add(peerId(id), true)
    const hear = (id: number, bytes: number, now: number) => sync.heard(peerId(id), bytes, now)
    sync.start(0, OLD)
    sync.ask(peerId(0), 0)
    hear(0, 0, 0)
    hear(0, 499_999, 4_999)
    assert.deepStrictEqual(sync.start(4_999, OLD), [])
    hear(0, 499_999, 5_000)
    assert.deepStrictEqual(sync.start(5_000, OLD), [peerId(1)])
    sync.ask(peerId(1), 5_000)
    assert.isFalse(sync.overtaken(peerId(2), 6_000))
    assert.isTrue(sync.overtaken(peerId(1), 6_000))
    // The one that goes on has twice the time, and then another peer comes before the one that was slower.
    hear(0, 500_000, 6_000)
    hear(0, 600_000, 11_000)
    assert.deepStrictEqual(sync.start(11_000, OLD), [])
    hear(0, 700_000, 16_000)
    assert.deepStrictEqual(sync.start(16_000, OLD), [peerId(2)])
  })

  it("no peer counts as overtaken while the other one is silent", () => {
    const sync = new HeaderSync(600, { patience: 5_000, least: 0 })
    for (const id of [0, 1]) sync.add(peerId(id), true)
    sync.start(0, OLD)
    sync.ask(peerId(0), 0)
    assert.deepStrictEqual(sync.start(5_001, OLD), [peerId(1)])
    sync.ask(peerId(1), 5_001)
    assert.isFalse(sync.overtaken(peerId(1), 6_000))
    assert.isTrue(sync.overtaken(peerId(0), 6_000))
  })

  it("headers are compared when all peers sent theirs, or three seconds after the first one did", () => {
    const sync = withPeers(true, true)
    sync.addAnnouncer(peerId(7))
    assert.isFalse(sync.isCompared(0))
    sync.told(peerId(0))
    assert.isFalse(sync.isCompared(1_000))
    assert.isFalse(sync.isCompared(3_999))
    assert.isTrue(sync.isCompared(4_000))
    const quick = withPeers(true, true)
    quick.told(peerId(1))
    assert.isFalse(quick.isCompared(0))
    quick.told(peerId(0))
    assert.isTrue(quick.isCompared(1))
  })

  it("removed peers are forgotten", () => {
    const sync = withPeers(true)
    sync.start(0, OLD)
    sync.remove(peerId(0))
    assert.isFalse(sync.isStarted(peerId(0)))
    assert.isFalse(sync.answered(peerId(0)))
    sync.add(peerId(1), true)
    assert.deepStrictEqual(sync.start(1, OLD), [peerId(1)])
  })
})
