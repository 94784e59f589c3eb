import { assert, describe, it } from "@effect/vitest"
import { type BlockSource, type DownloadPeer, makeDownloadPeer } from "../../../src/network/sync/DownloadPeer.ts"
import { DownloadWindow, type NextBlocks } from "../../../src/network/sync/DownloadWindow.ts"
import { type HeaderId, headerId, peerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

/** One peer with a chain of this many blocks; the first `stored` are stored. Header numbers are heights. */
const setting = (
  { blocks, stored = 0, source = {} }: {
    readonly blocks: number
    readonly stored?: number
    readonly source?: Partial<BlockSource>
  }
) => {
  const tree = new BranchTree()
  const headers = tree.grow(GENESIS, blocks)
  for (const header of headers.slice(0, stored)) tree.store(header)
  const peer = makeDownloadPeer(peerId(0), {
    preferred: true,
    serves: true,
    limited: false,
    below: Infinity,
    ...source
  })
  const onTheWay = new Set<HeaderId>()
  const window = new DownloadWindow({
    tree,
    peers: new Map<DownloadPeer["id"], DownloadPeer>([[peer.id, peer]]),
    minimumChainWork: 0n,
    length: 10,
    isMissing: (header) => !tree.hasBlock(header) && !onTheWay.has(header)
  })
  window.setBest(peer, headerId(blocks))
  return { tree, peer, window, onTheWay }
}

const shown = ({ end, headers }: NextBlocks): readonly [ReadonlyArray<number>, string] => [headers, end]

const upTo = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(to - from + 1, 0) }, (_, i) => from + i)

describe("DownloadWindow", () => {
  it("the next blocks end with the chain of the peer, with the window, or with the number asked for", () => {
    const { peer, window } = setting({ blocks: 30, stored: 3 })
    assert.deepStrictEqual(shown(window.next(peer, 4)), [upTo(4, 7), "before"])
    assert.deepStrictEqual(shown(window.next(peer, 40)), [upTo(8, 13), "window"])
    const short = setting({ blocks: 5, stored: 3 })
    assert.deepStrictEqual(shown(short.window.next(short.peer, 40)), [[4, 5], "chain"])
  })

  it("the window moves with the first missing block", () => {
    const { peer, tree, window } = setting({ blocks: 30, stored: 3 })
    window.next(peer, 40)
    assert.strictEqual(window.firstMissing(peer), headerId(4))
    for (const height of [5, 6]) tree.stored.add(headerId(height))
    assert.deepStrictEqual(shown(window.next(peer, 40)), [[], "window"])
    tree.stored.add(headerId(4))
    assert.deepStrictEqual(shown(window.next(peer, 40)), [upTo(14, 16), "window"])
    assert.strictEqual(window.firstMissing(peer), headerId(7))
  })

  it("blocks on their way are passed over once, until they are missing again", () => {
    const { onTheWay, peer, window } = setting({ blocks: 30 })
    for (const height of [2, 3]) onTheWay.add(headerId(height))
    assert.deepStrictEqual(shown(window.next(peer, 3)), [[1, 4, 5], "before"])
    onTheWay.delete(headerId(3))
    assert.deepStrictEqual(shown(window.next(peer, 1)), [[6], "before"])
    window.rescan(3)
    assert.deepStrictEqual(shown(window.next(peer, 1)), [[3], "before"])
  })

  it("a block that the peer lacks stops the search until a recheck", () => {
    const { onTheWay, peer, window } = setting({ blocks: 30 })
    peer.lacks.add(headerId(2))
    assert.deepStrictEqual(shown(window.next(peer, 9)), [[1], "before"])
    onTheWay.add(headerId(1))
    assert.deepStrictEqual(shown(window.next(peer, 9)), [[], "before"])
    window.recheck()
    assert.deepStrictEqual(shown(window.next(peer, 2)), [[2, 3], "before"])
  })

  it("the search restarts from the fork when the peer moves to another branch, but not when its chain grows", () => {
    const { peer, tree, window } = setting({ blocks: 30 })
    window.next(peer, 5)
    window.setBest(peer, tree.grow(headerId(30), 1).at(-1) ?? GENESIS)
    assert.deepStrictEqual(shown(window.next(peer, 1)), [[6], "before"])
    const branch = tree.grow(headerId(2), 40)
    window.setBest(peer, branch.at(-1) ?? GENESIS)
    assert.deepStrictEqual(shown(window.next(peer, 4)), [[1, 2, ...branch.slice(0, 2)], "before"])
  })

  it("only a chain with enough work and without an invalid block is useful", () => {
    const { peer, tree, window } = setting({ blocks: 5, stored: 5 })
    assert.isTrue(window.isUseful(peer))
    window.setBest(peer, headerId(4))
    assert.isFalse(window.isUseful(peer), "less work than our tip")
    window.setBest(peer, headerId(5))
    tree.failed.add(headerId(5))
    assert.isFalse(window.isUseful(peer))
  })
})
