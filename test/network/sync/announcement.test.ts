import { assert, describe, it } from "@effect/vitest"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { announcementFor, type BlockListener, freshBlocks } from "../../../src/network/sync/announceBlocks.ts"
import { headerId } from "../../../src/protocol/keys.ts"
import { BranchTree, GENESIS } from "./branchTree.ts"

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
  tree.grow(GENESIS, 20)
  tree.grow(headerId(16), 6)
  return tree
}

describe("announcements", () => {
  it("the blocks from the last announced one to the tip are announced, at most eight", () => {
    const tree = begin()
    assert.deepStrictEqual(freshBlocks(tree, headerId(18), headerId(20)), [headerId(19), headerId(20)])
    assert.deepStrictEqual(freshBlocks(tree, headerId(20), headerId(26)), [
      headerId(21),
      headerId(22),
      headerId(23),
      headerId(24),
      headerId(25),
      headerId(26)
    ])
    assert.deepStrictEqual(freshBlocks(tree, headerId(1), headerId(20)), [
      headerId(13),
      headerId(14),
      headerId(15),
      headerId(16),
      headerId(17),
      headerId(18),
      headerId(19),
      headerId(20)
    ])
    assert.deepStrictEqual(freshBlocks(tree, headerId(20), headerId(18)), [])
  })

  it("headers are announced if they connect to what the peer knows, from either side", () => {
    const tree = begin()
    assert.deepStrictEqual(announcementFor(tree, [headerId(19), headerId(20)], listener({ best: headerId(18) })), {
      type: "headers",
      ids: [headerId(19), headerId(20)]
    })
    assert.deepStrictEqual(announcementFor(tree, [headerId(19), headerId(20)], listener({ best: headerId(19) })), {
      type: "headers",
      ids: [headerId(20)]
    })
    assert.deepStrictEqual(announcementFor(tree, [headerId(19), headerId(20)], listener({ sent: headerId(19) })), {
      type: "headers",
      ids: [headerId(20)]
    })
    assert.deepStrictEqual(announcementFor(tree, [headerId(21), headerId(22)], listener({ best: headerId(20) })), {
      type: "headers",
      ids: [headerId(21), headerId(22)]
    })
  })

  it("the tip's hash is announced if headers do not connect, or are not wanted", () => {
    const tree = begin()
    assert.deepStrictEqual(announcementFor(tree, [headerId(19), headerId(20)], listener()), {
      type: "inv",
      id: headerId(20)
    })
    assert.deepStrictEqual(announcementFor(tree, [headerId(19), headerId(20)], listener({ best: headerId(17) })), {
      type: "inv",
      id: headerId(20)
    })
    assert.deepStrictEqual(
      announcementFor(tree, [headerId(19), headerId(20)], listener({ best: headerId(18), wantsHeaders: false })),
      {
        type: "inv",
        id: headerId(20)
      }
    )
  })

  it("a single block is announced in compact form to peers that want it", () => {
    const tree = begin()
    const compact = { wantsCompact: true, wantsHeaders: false }
    assert.deepStrictEqual(announcementFor(tree, [headerId(20)], listener({ best: headerId(19), ...compact })), {
      type: "compact",
      id: headerId(20)
    })
    assert.deepStrictEqual(
      announcementFor(tree, [headerId(19), headerId(20)], listener({ best: headerId(18), ...compact })),
      { type: "inv", id: headerId(20) }
    )
    assert.deepStrictEqual(
      announcementFor(tree, [headerId(19), headerId(20)], listener({ best: headerId(18), wantsCompact: true })),
      {
        type: "headers",
        ids: [headerId(19), headerId(20)]
      }
    )
  })

  it("a peer that knows the tip gets no announcement", () => {
    const tree = begin()
    for (const known of [{ best: headerId(20) }, { sent: headerId(20) }]) {
      assert.deepStrictEqual(announcementFor(tree, [headerId(20)], listener(known)), { type: "none" })
    }
    assert.deepStrictEqual(announcementFor(tree, [], listener()), { type: "none" })
  })
})
