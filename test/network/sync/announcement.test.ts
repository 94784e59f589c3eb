import { assert, describe, it } from "@effect/vitest"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { announcementFor, type BlockListener, freshBlocks } from "../../../src/network/sync/announcement.ts"
import { BranchTree } from "./branchTree.ts"

const listener = (overrides: Partial<BlockListener> = {}): BlockListener => ({
  best: NO_HEADER,
  sent: NO_HEADER,
  wantsHeaders: true,
  wantsCompact: false,
  ...overrides
})

/** Headers 1 to 20, and 21 to 26 on a branch from 16. */
const begin = (): BranchTree => {
  const tree = new BranchTree()
  tree.grow(0, 20)
  tree.grow(16, 6)
  return tree
}

describe("announcements", () => {
  it("the blocks from the last announced one to the tip are announced, at most eight", () => {
    const tree = begin()
    assert.deepStrictEqual(freshBlocks(tree, 18, 20), [19, 20])
    assert.deepStrictEqual(freshBlocks(tree, 20, 26), [21, 22, 23, 24, 25, 26])
    assert.deepStrictEqual(freshBlocks(tree, 1, 20), [13, 14, 15, 16, 17, 18, 19, 20])
    assert.deepStrictEqual(freshBlocks(tree, 20, 18), [])
  })

  it("headers are announced if they connect to what the peer knows, from either side", () => {
    const tree = begin()
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener({ best: 18 })), { type: "headers", ids: [19, 20] })
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener({ best: 19 })), { type: "headers", ids: [20] })
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener({ sent: 19 })), { type: "headers", ids: [20] })
    assert.deepStrictEqual(announcementFor(tree, [21, 22], listener({ best: 20 })), { type: "headers", ids: [21, 22] })
  })

  it("the tip's hash is announced if headers do not connect, or are not wanted", () => {
    const tree = begin()
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener()), { type: "inv", id: 20 })
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener({ best: 17 })), { type: "inv", id: 20 })
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener({ best: 18, wantsHeaders: false })), {
      type: "inv",
      id: 20
    })
  })

  it("a single block is announced in compact form to peers that want it", () => {
    const tree = begin()
    const compact = { wantsCompact: true, wantsHeaders: false }
    assert.deepStrictEqual(announcementFor(tree, [20], listener({ best: 19, ...compact })), { type: "compact", id: 20 })
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener({ best: 18, ...compact })), { type: "inv", id: 20 })
    assert.deepStrictEqual(announcementFor(tree, [19, 20], listener({ best: 18, wantsCompact: true })), {
      type: "headers",
      ids: [19, 20]
    })
  })

  it("a peer that knows the tip gets no announcement", () => {
    const tree = begin()
    for (const known of [{ best: 20 }, { sent: 20 }]) {
      assert.deepStrictEqual(announcementFor(tree, [20], listener(known)), { type: "none" })
    }
    assert.deepStrictEqual(announcementFor(tree, [], listener()), { type: "none" })
  })
})
