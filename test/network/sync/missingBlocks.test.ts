import { assert, describe, it } from "@effect/vitest"
import { BlockDownload } from "../../../src/network/sync/BlockDownload.ts"
import type { BlockSource } from "../../../src/network/sync/DownloadPeer.ts"
import { MissingBlocks } from "../../../src/network/sync/missingBlocks.ts"
import { START_LIMIT } from "../../../src/network/sync/PeerScore.ts"
import { type HeaderId, headerId, peerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

const CHOSEN: BlockSource = { preferred: true, serves: true, limited: false, below: Infinity }

/** The chain's losses. */
class FakeLosses {
  readonly lost: Set<HeaderId>
  readonly needed = new Set<HeaderId>()
  readonly refused: Array<HeaderId> = []

  constructor(lost: Iterable<HeaderId>) {
    this.lost = new Set(lost)
  }

  readonly ids = (): Iterable<HeaderId> => [...this.lost]
  readonly needs = (id: HeaderId): boolean => this.needed.has(id)
  readonly refusedBy = (id: HeaderId): void => void this.refused.push(id)
}

/** A stored chain with missing heights, a longer branch from height 2 on, and peers on either. */
const setting = (
  { blocks = 20, missing, on = ["own"], sources = [] }: {
    readonly blocks?: number
    readonly missing: ReadonlyArray<number>
    readonly on?: ReadonlyArray<"own" | "branch">
    readonly sources?: ReadonlyArray<Partial<BlockSource>>
  }
) => {
  const tree = new BranchTree()
  const own = tree.grow(GENESIS, blocks)
  const branch = tree.grow(own[1] ?? GENESIS, blocks)
  for (const id of own) tree.store(id)
  for (const id of branch) tree.stored.add(id)
  const idAt = (height: number): HeaderId => own[height - 1] ?? assert.fail()
  for (const height of missing) tree.stored.delete(idAt(height))
  const losses = new FakeLosses(missing.map(idAt))
  const download = new BlockDownload({ tree, minimumChainWork: 0n })
  for (const [peer, chain] of on.entries()) {
    download.add(peerId(peer), { ...CHOSEN, ...sources[peer] })
    download.setBest(peerId(peer), (chain === "own" ? own : branch).at(-1) ?? GENESIS)
  }
  const plan = new MissingBlocks(download, tree, losses)
  const asked = (now: number) => plan.plan(now).map(({ header, peer }) => [peer, tree.height(header)])
  return { tree, download, losses, plan, asked, idAt }
}

describe("MissingBlocks", () => {
  it("a peer on our chain is asked, once per block in flight", () => {
    const { asked, download, idAt } = setting({ missing: [3, 9], on: ["own", "own"] })
    const first = asked(0)
    assert.deepStrictEqual(first.map(([, height]) => height), [3, 9])
    assert.deepStrictEqual(asked(1), [])
    download.received(peerId(first[0]?.[0] ?? -1), { header: idAt(3), size: 500 }, 2)
    assert.deepStrictEqual(asked(3), [], "it waits for the chain")
    // The peer that does not have the block is not asked again, but the other is.
    const [peer = -1] = first[1] ?? []
    download.lacks(peerId(peer), idAt(9))
    assert.deepStrictEqual(asked(4), [[1 - peer, 9]])
  })

  it("a peer is asked for no more blocks than its limit", () => {
    const heights = Array.from({ length: 40 }, (_, i) => i + 3)
    const { asked } = setting({ blocks: 60, missing: heights })
    assert.strictEqual(asked(0).length, START_LIMIT)
  })

  it("peers on another branch, and those that do not serve the height, are not asked", () => {
    const sources: ReadonlyArray<Partial<BlockSource>> = [{}, { below: 5 }, { limited: true }]
    const { asked } = setting({ blocks: 400, missing: [9], on: ["branch", "own", "own"], sources })
    assert.deepStrictEqual(asked(0), [])
    const late = setting({ blocks: 400, missing: [399], on: ["branch", "own", "own"], sources })
    assert.deepStrictEqual(late.asked(0), [[2, 399]])
  })

  it("all peers are asked in turn for a block that a reorg needs, repeatedly and without penalty", () => {
    const { asked, download, idAt, losses, plan } = setting({ missing: [9], on: ["branch", "branch"] })
    assert.deepStrictEqual(asked(0), [])
    losses.needed.add(idAt(9))
    assert.deepStrictEqual(asked(0), [[0, 9]])
    assert.deepStrictEqual(asked(9_999), [], "it may still answer")
    assert.deepStrictEqual(asked(10_000), [[1, 9]], "the first was silent")
    assert.deepStrictEqual(losses.refused, [idAt(9)])
    assert.isFalse(plan.refused(peerId(0), idAt(9)), "too late")
    assert.isTrue(plan.refused(peerId(1), idAt(9)))
    assert.strictEqual(losses.refused.length, 2)
    assert.deepStrictEqual(asked(10_001), [])
    assert.deepStrictEqual(asked(119_999), [])
    assert.deepStrictEqual(asked(120_000), [[0, 9]])
    assert.deepStrictEqual([download.inFlight(peerId(0)), download.inFlight(peerId(1)), download.overdue(1e9)], [
      [],
      [],
      []
    ])
    for (const peer of [0, 1]) assert.strictEqual(download.scoreOf(peerId(peer))?.failures, 0)
    // A new peer is asked at once if no other request is open.
    plan.refused(peerId(0), idAt(9))
    download.add(peerId(2), CHOSEN)
    download.setBest(peerId(2), headerId(2))
    assert.deepStrictEqual(asked(120_001), [[2, 9]])
    download.remove(peerId(2))
    assert.deepStrictEqual(asked(130_001), [[1, 9]])
  })

  it("a peer on our chain is asked first, and no peer for a stored block", () => {
    const { asked, idAt, losses, tree } = setting({ missing: [9], on: ["branch", "own"] })
    losses.needed.add(idAt(9))
    assert.deepStrictEqual(asked(0), [[1, 9]])
    const alone = setting({ missing: [9], on: ["branch"] })
    alone.losses.needed.add(alone.idAt(9))
    alone.losses.lost.clear()
    alone.tree.stored.add(headerId(alone.idAt(9)))
    assert.deepStrictEqual(alone.asked(0), [])
    assert.isFalse(tree.hasBlock(idAt(9)))
  })
})
