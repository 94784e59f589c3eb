import { assert, describe, it } from "@effect/vitest"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { type DownloadPeer, makeDownloadPeer } from "../../../src/network/sync/DownloadPeer.ts"
import { SpanWindow } from "../../../src/network/sync/SpanWindow.ts"
import { type HeaderId, headerId, peerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

/** A peer with 100 blocks, of which those from `first` on are wanted. Header numbers are heights. */
const setting = ({ first, high, low }: { readonly first: number; readonly low: number; readonly high: number }) => {
  const tree = new BranchTree()
  tree.grow(GENESIS, 100)
  const taken = { low, high: high === 0 ? NO_HEADER : headerId(high) }
  for (let height = low; height <= high; height++) tree.stored.add(headerId(height))
  const source = { preferred: true, serves: true, limited: false, below: Infinity }
  const peer = makeDownloadPeer(peerId(0), source)
  const asked = new Set<HeaderId>()
  const options = {
    tree,
    peers: new Map<DownloadPeer["id"], DownloadPeer>([[peer.id, peer]]),
    minimumChainWork: 0n,
    length: 10,
    isMissing: (header: HeaderId) => !tree.hasBlock(header) && !asked.has(header)
  }
  const window = new SpanWindow(options, { first: () => first, taken: () => taken })
  window.setBest(peer, headerId(100))
  const next = (most: number): ReadonlyArray<number> => {
    const { headers } = window.next(peer, most)
    for (const header of headers) asked.add(header)
    return headers
  }
  return { next, peer, taken, window }
}

const downFrom = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: from - to + 1 }, (_, i) => from - i)

describe("SpanWindow", () => {
  it("asks for the newest blocks first, as far down as the window reaches", () => {
    const { next } = setting({ first: 50, low: 101, high: 0 })
    assert.deepStrictEqual(next(4), [100, 99, 98, 97])
    assert.deepStrictEqual(next(40), downFrom(96, 91))
    assert.deepStrictEqual(next(40), [])
  })

  it("ends at the lowest wanted block", () => {
    const { next, window } = setting({ first: 95, low: 98, high: 100 })
    assert.deepStrictEqual(next(40), [97, 96, 95])
    assert.isFalse(window.isWanted(headerId(94)))
  })

  it("asks for blocks above those that are there first, the oldest first, and no more than the window has", () => {
    const { next, taken } = setting({ first: 50, low: 60, high: 80 })
    assert.deepStrictEqual(next(5), [81, 82, 83, 84, 85])
    assert.deepStrictEqual(next(40), [86, 87, 88, 89, 90, ...downFrom(59, 50)])
    // The block above does not come: nothing beyond the window is asked for.
    assert.deepStrictEqual(next(40), [])
    taken.high = headerId(83)
    assert.deepStrictEqual(next(40), [91, 92, 93])
  })

  it("asks a peer that is behind for its own blocks alone, when others leave blocks in flight above its chain", () => {
    const { next, peer, window } = setting({ first: 50, low: 75, high: 0 })
    window.setBest(peer, headerId(70))
    window.rescan(90)
    assert.deepStrictEqual(next(3), [70, 69, 68])
    window.rescan(90)
    assert.deepStrictEqual(next(3), [67, 66, 65])
  })
})
