import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { BlockDownload } from "../../../src/network/sync/BlockDownload.ts"
import type { BlockRequest, BlockSource } from "../../../src/network/sync/DownloadPeer.ts"
import { MOST_LIMIT, START_LIMIT } from "../../../src/network/sync/PeerScore.ts"
import { type HeaderId, headerId, peerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

const CHOSEN: BlockSource = { preferred: true, serves: true, limited: false, below: Infinity }

const SIZE = 1_000

const heights = (tree: BranchTree, requests: ReadonlyArray<BlockRequest>, peer?: number): ReadonlyArray<number> =>
  requests.filter((request) => peer === undefined || request.peer === peer).map(({ header }) => tree.height(header))

const upTo = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i)

/** A chain of headers whose first blocks are stored, and peers that have all of it. */
const chainOf = (
  { blocks, peers = [CHOSEN], stored = 0, ...rest }: {
    readonly blocks: number
    readonly stored?: number
    readonly peers?: ReadonlyArray<BlockSource>
    readonly window?: number
    readonly budget?: number
    readonly minimumChainWork?: bigint
  }
) => {
  const tree = new BranchTree()
  const ids = tree.grow(GENESIS, blocks)
  for (const id of ids.slice(0, stored)) tree.stored.add(id)
  tree.tipAt = stored === 0 ? GENESIS : ids[stored - 1] ?? NO_HEADER
  const download = new BlockDownload({ tree, minimumChainWork: 0n, ...rest })
  for (const [id, source] of peers.entries()) {
    download.add(peerId(id), source)
    download.setBest(peerId(id), ids.at(-1) ?? NO_HEADER)
  }
  return { tree, ids, download }
}

/** Behaviour of a simulated peer. */
interface Behaviour {
  /** Milliseconds to the first block, and per block. */
  readonly latency: number
  readonly perBlock: number
  /** Number of blocks after which it goes silent, and after which it disconnects. */
  readonly silentAfter: number
  readonly goneAfter: number
}

interface Outcome {
  readonly reached: boolean
  readonly asked: number
  readonly mostUnderWay: number
  readonly mostOfOne: number
  readonly furthest: number
  readonly time: number
}

const STEP = 10

/** Runs the download against peers that answer in order, until all blocks are stored or the download is stuck. */
const simulate = (blocks: number, behaviours: ReadonlyArray<Behaviour>, window = 256): Outcome => {
  const { download, ids, tree } = chainOf({ blocks, peers: behaviours.map(() => CHOSEN), window })
  const queues = behaviours.map((): Array<{ readonly id: HeaderId; readonly at: number }> => [])
  const sent = behaviours.map(() => 0)
  const alive = behaviours.map(() => true)
  const isAlive = (peer: number): boolean => alive[peer] === true
  const pending: Array<HeaderId> = []
  let [asked, mostUnderWay, mostOfOne, furthest] = [0, 0, 0, 0]
  const note = (requests: ReadonlyArray<BlockRequest>, now: number): void => {
    for (const { header: id, peer } of requests) {
      const [behaviour, queue] = [behaviours[peer], queues[peer]]
      if (behaviour === undefined || queue === undefined) throw new Error(`no peer ${peer}`)
      asked++
      const free = Math.max(now + behaviour.latency, queue.at(-1)?.at ?? 0)
      queue.push({ id, at: free + behaviour.perBlock })
      furthest = Math.max(furthest, tree.height(id) - tree.height(tree.tip()))
      mostOfOne = Math.max(mostOfOne, download.inFlight(peer).length)
    }
    mostUnderWay = Math.max(mostUnderWay, download.count)
  }
  const hangUp = (peer: number): void => {
    alive[peer] = false
    download.remove(peerId(peer))
  }
  let now = 0
  for (; now < 600_000 && tree.height(tree.tip()) < blocks; now += STEP) {
    for (const [peer, behaviour] of behaviours.entries()) {
      const queue = queues[peer] ?? []
      while (isAlive(peer) && queue[0] !== undefined && queue[0].at <= now) {
        const id = queue.shift()?.id ?? NO_HEADER
        const count = sent[peer] ?? 0
        if (count >= behaviour.goneAfter) hangUp(peer)
        if (count >= behaviour.silentAfter || !isAlive(peer)) break
        sent[peer] = count + 1
        if (download.received(peerId(peer), { header: id, size: SIZE }, now)) pending.push(id)
      }
    }
    // The chain stores some blocks per step.
    for (const id of pending.splice(0, 20)) {
      tree.store(headerId(id))
      download.settled(headerId(id))
    }
    note(download.plan(now), now)
    if (now % 250 === 0) {
      note(download.standIns(now), now)
      for (const { peer } of download.overdue(now)) hangUp(peer)
    }
  }
  return { reached: tree.tip() === ids.at(-1), asked, mostUnderWay, mostOfOne, furthest, time: now }
}

const healthy = FastCheck.record({
  latency: FastCheck.integer({ min: 0, max: 200 }),
  perBlock: FastCheck.integer({ min: 0, max: 20 }),
  silentAfter: FastCheck.constant(Infinity),
  goneAfter: FastCheck.constant(Infinity)
})

const faulty = FastCheck.record({
  latency: FastCheck.integer({ min: 0, max: 500 }),
  perBlock: FastCheck.integer({ min: 0, max: 50 }),
  silentAfter: FastCheck.integer({ min: 0, max: 100 }),
  goneAfter: FastCheck.integer({ min: 0, max: 100 })
})

describe("BlockDownload", () => {
  it("each missing block is requested from one peer", () => {
    const { download, tree } = chainOf({ blocks: 40, stored: 10, peers: [CHOSEN, CHOSEN] })
    const requests = download.plan(0)
    assert.deepStrictEqual(heights(tree, requests, 0), upTo(11, 10 + START_LIMIT))
    assert.deepStrictEqual(heights(tree, requests, 1), upTo(11 + START_LIMIT, 40))
    assert.deepStrictEqual(download.plan(1), [])
    assert.deepStrictEqual(download.inFlight(peerId(0)), upTo(11, 10 + START_LIMIT))
  })

  it("stored blocks are never requested, even between missing ones", () => {
    const { download, ids, tree } = chainOf({ blocks: 12, stored: 4 })
    for (const id of [ids[6], ids[8]]) tree.stored.add(id ?? NO_HEADER)
    assert.deepStrictEqual(heights(tree, download.plan(0)), [5, 6, 8, 10, 11, 12])
  })

  it("requests stay in the window until the chain has stored the blocks before it", () => {
    const { download, ids, tree } = chainOf({ blocks: 100, window: 10 })
    assert.deepStrictEqual(heights(tree, download.plan(0)), upTo(1, 10))
    const first = ids[0] ?? NO_HEADER
    assert.isTrue(download.received(peerId(0), { header: first, size: SIZE }, 5))
    assert.deepStrictEqual(heights(tree, download.plan(5)), [])
    tree.store(first)
    download.settled(first)
    assert.deepStrictEqual(heights(tree, download.plan(6)), [11])
    for (const id of ids.slice(1, 5)) {
      download.received(peerId(0), { header: id, size: SIZE }, 7)
      tree.store(id)
      download.settled(id)
    }
    assert.deepStrictEqual(heights(tree, download.plan(8)), upTo(12, 15))
  })

  it("the bytes in flight and waiting are limited, by the average block size", () => {
    const { download, ids, tree } = chainOf({ blocks: 400, budget: 1_000_000, peers: [CHOSEN, CHOSEN] })
    for (let i = 0; i < 300; i++) {
      const id = ids[i] ?? NO_HEADER
      download.ask(peerId(0), id, i)
      download.received(peerId(0), { header: id, size: 100_000 }, i)
      tree.stored.add(id)
      download.settled(id)
    }
    tree.tipAt = ids[299] ?? NO_HEADER
    const requests = download.plan(1000)
    assert.isAtLeast(requests.length, 5)
    assert.isAtMost(requests.length, 10)
    for (const { header, peer } of requests) download.received(peer, { header, size: 100_000 }, 1001)
    assert.deepStrictEqual(download.plan(1002).length <= 2, true)
  })

  it("no block of a chain with less work than our tip or the minimum is requested", () => {
    const low = chainOf({ blocks: 10, minimumChainWork: 23n })
    assert.deepStrictEqual(low.download.plan(0), [])
    const enough = chainOf({ blocks: 10, minimumChainWork: 22n })
    assert.lengthOf(enough.download.plan(0), 10)
    const { download, ids, tree } = chainOf({ blocks: 10, stored: 10 })
    const [shorter, equal] = [tree.grow(ids[4] ?? NO_HEADER, 4), tree.grow(ids[4] ?? NO_HEADER, 5)]
    download.setBest(peerId(0), shorter.at(-1) ?? NO_HEADER)
    assert.deepStrictEqual(download.plan(0), [])
    download.setBest(peerId(0), equal.at(-1) ?? NO_HEADER)
    assert.deepStrictEqual(heights(tree, download.plan(0)), upTo(6, 10))
  })

  it("no block of an invalid chain is requested", () => {
    const { download, ids, tree } = chainOf({ blocks: 10 })
    tree.failed.add(ids[3] ?? NO_HEADER)
    assert.deepStrictEqual(download.plan(0), [])
    download.setBest(peerId(0), ids[2] ?? NO_HEADER)
    assert.deepStrictEqual(heights(tree, download.plan(0)), [1, 2, 3])
  })

  it("a peer without witnesses is asked only for blocks before segwit, and a limited peer only for the last 288", () => {
    const { download, tree } = chainOf({ blocks: 300, stored: 5, peers: [{ ...CHOSEN, below: 9 }] })
    assert.deepStrictEqual(heights(tree, download.plan(0)), [6, 7, 8])
    const limited = chainOf({ blocks: 300, stored: 5, peers: [{ ...CHOSEN, limited: true }] })
    const asked = heights(limited.tree, limited.download.plan(0))
    assert.isAtLeast(asked[0] ?? NO_HEADER, 300 - 287)
    assert.isAtMost(asked[0] ?? NO_HEADER, 300 - 280)
  })

  it("an inbound peer is asked if there is no outbound peer, or nothing is in flight", () => {
    const called: BlockSource = { ...CHOSEN, preferred: false }
    const { download, tree } = chainOf({ blocks: 20, peers: [called] })
    assert.lengthOf(download.plan(0), START_LIMIT)
    const both = chainOf({ blocks: 40, peers: [called, CHOSEN] })
    assert.deepStrictEqual(heights(both.tree, both.download.plan(0), 1), upTo(1, START_LIMIT))
    assert.isAbove(tree.height(headerId(20)), 0)
  })

  it("a block that the first peer does not have is requested from another one", () => {
    const { download, ids, tree } = chainOf({ blocks: 4, peers: [CHOSEN, CHOSEN] })
    assert.deepStrictEqual(heights(tree, download.plan(0), 0), [1, 2, 3, 4])
    download.lacks(peerId(0), ids[1] ?? NO_HEADER)
    const again = download.plan(1)
    assert.deepStrictEqual(again, [{ peer: peerId(1), header: ids[1] ?? NO_HEADER }])
    download.lacks(peerId(1), ids[1] ?? NO_HEADER)
    assert.deepStrictEqual(download.plan(2), [])
    // The peers may have it now.
    download.recheck()
    assert.deepStrictEqual(download.plan(3).map(({ header }) => header), [ids[1] ?? NO_HEADER])
  })

  it("requests for whole blocks stay open while a reconstructed block is not validated", () => {
    const { download, ids } = chainOf({ blocks: 1, peers: [CHOSEN, CHOSEN, CHOSEN] })
    const id = ids[0] ?? NO_HEADER
    for (const peer of [0, 1]) download.ask(peerId(peer), id, 0)
    download.reconstructed(peerId(1), { header: id, size: SIZE }, 5)
    assert.deepStrictEqual(download.askersOf(id), [peerId(0)])
    download.reconstructed(peerId(2), { header: id, size: SIZE }, 6)
    assert.deepStrictEqual(download.askersOf(id), [peerId(0)])
    assert.isTrue(download.isUnstored(id))
    // The chain refused it.
    download.settled(id)
    assert.isFalse(download.isUnstored(id))
    assert.deepStrictEqual(download.plan(7), [])
    assert.isTrue(download.received(peerId(0), { header: id, size: SIZE }, 8))
    assert.deepStrictEqual(download.askersOf(id), [])
  })

  it("a reconstructed block is not requested again until the chain refuses it", () => {
    const { download, ids } = chainOf({ blocks: 1 })
    const id = ids[0] ?? NO_HEADER
    download.plan(0)
    download.reconstructed(peerId(0), { header: id, size: SIZE }, 5)
    assert.strictEqual(download.count, 0)
    assert.deepStrictEqual(download.plan(6), [])
    download.settled(id)
    assert.deepStrictEqual(download.plan(7), [{ peer: peerId(0), header: id }])
  })

  it("old blocks of a limited peer's chain are not wanted from it", () => {
    const { download, ids } = chainOf({ blocks: 300, peers: [{ ...CHOSEN, limited: true }] })
    assert.isFalse(download.isWanted(ids[13] ?? NO_HEADER))
    assert.isTrue(download.isWanted(ids[14] ?? NO_HEADER))
  })

  it("only blocks of useful peers' chains are wanted", () => {
    const { download, ids, tree } = chainOf({ blocks: 4 })
    const branch = tree.grow(GENESIS, 6)
    assert.isTrue(download.isWanted(ids[3] ?? NO_HEADER))
    assert.isFalse(download.isWanted(branch[1] ?? NO_HEADER))
    assert.isFalse(download.isWanted(branch[5] ?? NO_HEADER))
    download.setBest(peerId(0), branch[5] ?? NO_HEADER)
    assert.isFalse(download.isWanted(ids[3] ?? NO_HEADER))
    assert.isTrue(download.isWanted(branch[1] ?? NO_HEADER))
    tree.failed.add(branch[0] ?? NO_HEADER)
    assert.isFalse(download.isWanted(branch[1] ?? NO_HEADER))
  })

  it("blocks in flight from a removed peer are requested again", () => {
    const { download, tree } = chainOf({ blocks: 8, peers: [CHOSEN, CHOSEN] })
    assert.deepStrictEqual(heights(tree, download.plan(0), 0), upTo(1, 8))
    download.remove(peerId(0))
    assert.strictEqual(download.count, 0)
    assert.deepStrictEqual(heights(tree, download.plan(1), 1), upTo(1, 8))
  })

  it("a block that the chain refused as mutated is requested again", () => {
    const { download, ids } = chainOf({ blocks: 3, peers: [CHOSEN, CHOSEN] })
    download.plan(0)
    const id = ids[0] ?? NO_HEADER
    assert.isTrue(download.received(peerId(0), { header: id, size: SIZE }, 1))
    assert.isTrue(download.isUnstored(id))
    download.settled(id)
    download.remove(peerId(0))
    assert.include(download.plan(2).map(({ header }) => header), id)
  })

  it("blocks of a silent peer are requested from another one, and a peer that delays the window is dropped", () => {
    const { download, ids, tree } = chainOf({ blocks: 100, window: 32, peers: [CHOSEN, CHOSEN] })
    download.plan(0)
    assert.deepStrictEqual(download.standIns(400), [])
    for (const id of ids.slice(START_LIMIT, 32)) download.received(peerId(1), { header: id, size: SIZE }, 900)
    download.plan(950)
    const standIns = download.standIns(1_100)
    assert.isAbove(standIns.length, 0)
    assert.deepStrictEqual(heights(tree, standIns, 1), upTo(1, standIns.length))
    assert.deepStrictEqual(download.overdue(1_101 + 2_000), [{
      peer: peerId(0),
      reason: "stalled: the peer delays the download window"
    }])
  })

  it("no peer counts as silent while this node was busy", () => {
    const { download } = chainOf({ blocks: 100, window: 32, peers: [CHOSEN, CHOSEN] })
    download.plan(0)
    download.excuse(5_000, 5_200)
    assert.deepStrictEqual(download.standIns(5_300), [])
    assert.deepStrictEqual(download.overdue(605_000 - 1), [])
  })

  it("a single peer has no stand-in, and is dropped after ten minutes", () => {
    const { download } = chainOf({ blocks: 3 })
    download.plan(0)
    assert.deepStrictEqual(download.standIns(500_000), [])
    assert.deepStrictEqual(download.overdue(600_000), [])
    assert.lengthOf(download.overdue(600_001), 1)
  })

  it("an unsolicited block does not answer a request", () => {
    const { download, ids } = chainOf({ blocks: 40, peers: [CHOSEN, CHOSEN] })
    download.plan(0)
    assert.isFalse(download.received(peerId(1), { header: ids[0] ?? NO_HEADER, size: SIZE }, 1))
    assert.isTrue(download.isAsked(peerId(0), ids[0] ?? NO_HEADER))
    assert.isFalse(download.received(peerId(7), { header: ids[0] ?? NO_HEADER, size: SIZE }, 1))
  })

  it("property: each block is requested once from one healthy peer, within the limits", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer({ min: 1, max: 700 }), healthy, (blocks, behaviour) => {
        const outcome = simulate(blocks, [behaviour])
        assert.isTrue(outcome.reached)
        assert.strictEqual(outcome.asked, blocks)
        assert.isAtMost(outcome.mostOfOne, MOST_LIMIT)
        assert.isAtMost(outcome.furthest, 256)
      }),
      { numRuns: 25 }
    )
  })

  it("property: the tip is reached if at least one peer is healthy", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 1, max: 500 }),
        healthy,
        FastCheck.array(faulty, { maxLength: 4 }),
        (blocks, good, bad) => {
          const outcome = simulate(blocks, [...bad, good])
          assert.isTrue(outcome.reached)
          assert.isAtMost(outcome.mostOfOne, MOST_LIMIT)
          assert.isAtMost(outcome.furthest, 256)
        }
      ),
      { numRuns: 40 }
    )
  })

  it("three distant peers are kept busy, and a stalling one costs little", () => {
    const far = { latency: 100, perBlock: 0, silentAfter: Infinity, goneAfter: Infinity }
    const free = simulate(2_000, [{ ...far, latency: 0 }], 1024).time
    const all = simulate(2_000, [far, far, far], 1024).time
    const stalling = simulate(2_000, [{ ...far, silentAfter: 0 }, far, far], 1024).time
    // The chain takes 20 blocks per 10 ms, so 2000 blocks take at least a second.
    assert.isAtMost(all, 1.8 * free + 300)
    assert.isAtMost(stalling, all + 2_500)
  })
})
