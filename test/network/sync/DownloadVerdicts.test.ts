import { assert, describe, it } from "@effect/vitest"
import { type DownloadPeer, makeDownloadPeer } from "../../../src/network/sync/DownloadPeer.ts"
import { DownloadVerdicts } from "../../../src/network/sync/DownloadVerdicts.ts"
import { Flights } from "../../../src/network/sync/Flights.ts"
import { headerId, type PeerId, peerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

const [FIRST, SECOND] = [headerId(1), headerId(2)]

const STALLED = "stalled: the peer delays the download window"

/** Peers with the same chain, whose first block keeps the window from moving. */
const setting = (count: number) => {
  const tree = new BranchTree()
  const best = tree.grow(GENESIS, 20).at(-1) ?? GENESIS
  const peers = new Map<PeerId, DownloadPeer>()
  for (let i = 0; i < count; i++) {
    const peer = makeDownloadPeer(peerId(i), { preferred: true, serves: true, limited: false, below: Infinity })
    peer.best = best
    peers.set(peer.id, peer)
  }
  const flights = new Flights({ tree, peers, budget: 1e6 })
  const window = { firstMissing: () => FIRST, isUseful: () => true }
  const peerAt = (i: number): DownloadPeer => peers.get(peerId(i)) ?? assert.fail(`no peer ${i}`)
  return { tree, peerAt, flights, verdicts: new DownloadVerdicts({ tree, peers, window, flights }) }
}

describe("DownloadVerdicts", () => {
  it("only a requested block counts as delivered; a late one shows that its peer is not silent", () => {
    const { flights, peerAt, verdicts } = setting(2)
    const [quick, late] = [peerAt(0), peerAt(1)]
    flights.ask(quick, FIRST, 0)
    late.stalling = 5
    assert.isFalse(verdicts.delivered(late, SECOND, 10))
    assert.strictEqual(late.stalling, 5, "no peer was asked for this block")
    assert.isFalse(verdicts.delivered(late, FIRST, 10))
    assert.isUndefined(late.stalling)
    assert.isTrue(verdicts.delivered(quick, FIRST, 30))
    assert.strictEqual(quick.lastDelivery, 30)
    assert.strictEqual(quick.score.latency, 30)
    assert.isUndefined(late.score.latency)
  })

  it("a peer that delays the window is dropped after the stall timeout, which doubles and falls back", () => {
    const { flights, peerAt, verdicts } = setting(2)
    const [slow, idle] = [peerAt(0), peerAt(1)]
    flights.ask(slow, FIRST, 0)
    verdicts.blame(idle, 1_000)
    assert.isUndefined(slow.stalling, "within its patience")
    verdicts.blame(idle, 1_001)
    assert.strictEqual(slow.stalling, 1_001)
    assert.deepStrictEqual(verdicts.overdue(3_001), [])
    assert.deepStrictEqual(verdicts.overdue(3_002), [{ peer: slow.id, reason: STALLED }])
    assert.deepStrictEqual(verdicts.overdue(5_001), [], "twice the timeout")
    // 4000 ms, less 15 % for each stored block.
    verdicts.stored()
    assert.deepStrictEqual(verdicts.overdue(1_001 + 3_401), [{ peer: slow.id, reason: STALLED }])
  })

  it("a peer does not blame itself, and the only useful peer is not dropped for stalling", () => {
    const { flights, peerAt, verdicts } = setting(1)
    flights.ask(peerAt(0), FIRST, 0)
    verdicts.blame(peerAt(0), 5_000)
    assert.isUndefined(peerAt(0).stalling)
    assert.deepStrictEqual(verdicts.overdue(600_000), [])
    assert.lengthOf(verdicts.overdue(600_001), 1)
  })

  it("each block of a silent peer is requested from one more peer, lowest first", () => {
    const { flights, peerAt, verdicts } = setting(3)
    for (const header of [SECOND, FIRST]) flights.ask(peerAt(0), header, 0)
    assert.deepStrictEqual(verdicts.standIns(1_000), [])
    const asked = verdicts.standIns(1_001)
    assert.deepStrictEqual(asked.map(({ header }) => header), [FIRST, SECOND])
    assert.isTrue(asked.every(({ peer }) => peer !== peerAt(0).id))
    assert.strictEqual(peerAt(0).stalling, 1_001)
    assert.strictEqual(peerAt(0).score.stalls, 1)
    assert.deepStrictEqual(verdicts.standIns(9_000), [], "two peers are asked at most")
  })

  it("a block that two peers withhold is requested from a third that has delivered before", () => {
    const { flights, peerAt, verdicts } = setting(4)
    flights.ask(peerAt(0), FIRST, 0)
    assert.lengthOf(verdicts.standIns(2_000), 1)
    assert.deepStrictEqual(verdicts.standIns(9_000), [])
    peerAt(3).score.delivered(8_000, 300, false)
    assert.deepStrictEqual(verdicts.standIns(9_000), [{ peer: peerAt(3).id, header: FIRST }])
    peerAt(2).score.delivered(8_000, 300, false)
    assert.deepStrictEqual(verdicts.standIns(29_000), [], "three peers are asked at most")
  })

  it("the peer that lacks a block is not its stand-in", () => {
    const { flights, peerAt, verdicts } = setting(2)
    flights.ask(peerAt(0), FIRST, 0)
    verdicts.lacks(peerAt(1), FIRST)
    assert.strictEqual(peerAt(1).score.failures, 1)
    assert.deepStrictEqual(verdicts.standIns(2_000), [])
  })
})
