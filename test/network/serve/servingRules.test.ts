import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type HeaderTree, locatorOf, NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import {
  blocksFor,
  forkOf,
  headersFor,
  isCompactServed,
  isHistorical,
  isServable,
  MAX_BLOCKS,
  STALE_AGE_LIMIT
} from "../../../src/network/serve/servingRules.ts"
import { MAX_HEADERS } from "../../../src/network/wire/messages/headers.ts"
import { headerId } from "../../../src/protocol/keys.ts"
import { type Branching, hashOf, lineOf, treeOf } from "./branches.ts"

const ZEROS = new Uint8Array(32)
const UNKNOWN = new Uint8Array(32).fill(0x11)

const params = regtestParams

/** A line of 21 headers, and a branch of four from height 10: numbers 21 to 24. */
const branched = (branch: Partial<Branching> = {}, tip = 20): HeaderTree =>
  treeOf([
    ...lineOf(21),
    ...[10, 21, 22, 23].map((parent, i) => ({ parent, time: 600 * (11 + i), connected: true, ...branch }))
  ], tip)

describe("forkOf", () => {
  it("the fork is the first block of the locator in the best chain, otherwise genesis", () => {
    const tree = branched()
    assert.strictEqual(forkOf(tree, [hashOf(15), hashOf(3)]), 15)
    assert.strictEqual(forkOf(tree, [UNKNOWN, hashOf(3), hashOf(15)]), 3)
    assert.strictEqual(forkOf(tree, [UNKNOWN]), 0)
    assert.strictEqual(forkOf(tree, []), 0)
    assert.strictEqual(forkOf(tree, [hashOf(24)]), 0)
    assert.strictEqual(forkOf(tree, [hashOf(24), hashOf(10)]), 10)
  })

  it("the fork is the tip for a block that builds on it, and not for one beside it", () => {
    const tree = branched({}, 22)
    assert.strictEqual(forkOf(tree, [hashOf(24)]), 22)
    assert.strictEqual(forkOf(tree, [hashOf(20)]), 0)
  })

  it("the fork of two chains is found from either locator", () => {
    const lines = FastCheck.record({
      length: FastCheck.integer({ min: 2, max: 120 }),
      fork: FastCheck.nat({ max: 119 }),
      branch: FastCheck.integer({ min: 1, max: 120 })
    })
    FastCheck.assert(FastCheck.property(lines, ({ branch, fork, length }) => {
      const parent = Math.min(fork, length - 1)
      const side = Array.from({ length: branch }, (_, i) => ({ parent: i === 0 ? parent : length + i - 1 }))
      const tree = treeOf([...lineOf(length), ...side], length - 1)
      const found = forkOf(tree, locatorOf(tree, headerId(length + branch - 1)))
      // A locator has gaps: the found block is never above the fork, and all blocks after it are sent.
      assert.isAtMost(tree.height(found), parent)
      assert.strictEqual(tree.at(tree.height(found)), found)
      assert.strictEqual(forkOf(tree, locatorOf(tree, headerId(length - 1))), length - 1)
    }))
  })
})

describe("headersFor", () => {
  it("the headers are those after the fork point, up to the stop hash or the tip", () => {
    const tree = branched()
    assert.deepStrictEqual(headersFor(tree, params, { locator: [hashOf(16)], stop: ZEROS }), [
      headerId(17),
      headerId(18),
      headerId(19),
      headerId(20)
    ])
    assert.deepStrictEqual(headersFor(tree, params, { locator: [hashOf(16)], stop: hashOf(18) }), [
      headerId(17),
      headerId(18)
    ])
    assert.deepStrictEqual(headersFor(tree, params, { locator: [hashOf(16)], stop: hashOf(16) }), [
      headerId(17),
      headerId(18),
      headerId(19),
      headerId(20)
    ])
    assert.deepStrictEqual(headersFor(tree, params, { locator: [hashOf(20)], stop: ZEROS }), [])
  })

  it("there are at most 2000 headers", () => {
    const tree = treeOf(lineOf(2102), 2101)
    const locator = (id: number) => ({ locator: [hashOf(id)], stop: ZEROS })
    assert.lengthOf(headersFor(tree, params, locator(101)) ?? [], 2000)
    assert.lengthOf(headersFor(tree, params, locator(102)) ?? [], 1999)
    assert.deepStrictEqual(headersFor(tree, params, locator(0))?.slice(-1), [MAX_HEADERS])
  })

  it("an empty locator returns the header with the stop hash, if it is servable", () => {
    const tree = branched()
    assert.deepStrictEqual(headersFor(tree, params, { locator: [], stop: hashOf(5) }), [headerId(5)])
    assert.deepStrictEqual(headersFor(tree, params, { locator: [], stop: hashOf(24) }), [headerId(24)])
    assert.isUndefined(headersFor(tree, params, { locator: [], stop: UNKNOWN }))
    assert.isUndefined(headersFor(branched({ connected: false }), params, { locator: [], stop: hashOf(24) }))
  })
})

describe("blocksFor", () => {
  it("the blocks end before the stop hash", () => {
    const tree = branched()
    assert.deepStrictEqual(blocksFor(tree, { locator: [hashOf(16)], stop: hashOf(18) }), {
      ids: [headerId(17)],
      more: false
    })
    assert.deepStrictEqual(blocksFor(tree, { locator: [hashOf(17)], stop: hashOf(18) }), { ids: [], more: false })
    assert.deepStrictEqual(blocksFor(tree, { locator: [hashOf(18)], stop: ZEROS }), {
      ids: [headerId(19), headerId(20)],
      more: false
    })
  })

  it("a node that prunes announces no block that may soon be gone", () => {
    const tree = treeOf(lineOf(601), 600)
    const from = (id: number) => blocksFor(tree, { locator: [hashOf(id)], stop: ZEROS }, { prunes: true }).ids
    assert.deepStrictEqual(from(317), [])
    assert.strictEqual(from(318)[0], headerId(319))
    assert.lengthOf(from(318), 282)
  })

  it("there are at most 500 blocks, and more is reported", () => {
    const tree = treeOf(lineOf(601), 600)
    const from = (id: number) => blocksFor(tree, { locator: [hashOf(id)], stop: ZEROS })
    assert.deepStrictEqual([from(99).ids.length, from(99).more], [MAX_BLOCKS, true])
    assert.deepStrictEqual(from(100).ids.length, MAX_BLOCKS)
    assert.deepStrictEqual([from(101).ids.length, from(101).more], [499, false])
  })
})

describe("isHistorical", () => {
  it("a block is old from a week before the best header on", () => {
    const week = 7 * 24 * 60 * 60
    const tree = treeOf(
      [{ parent: NO_HEADER, time: 100 }, { parent: 0, time: 101 }, { parent: 1, time: 101 + week }],
      2
    )
    assert.deepStrictEqual([0, 1, 2].map((id) => isHistorical(tree, headerId(id))), [true, false, false])
  })
})

describe("isServable", () => {
  it("the best chain is servable, and beside it valid blocks that were connected", () => {
    assert.isTrue(isServable(branched(), params, headerId(0)))
    assert.isTrue(isServable(branched(), params, headerId(20)))
    assert.isTrue(isServable(branched(), params, headerId(24)))
    assert.isFalse(isServable(branched({ connected: false }), params, headerId(24)))
    assert.isFalse(isServable(branched({ failed: true }), params, headerId(24)))
  })

  it("a block beside the best chain is servable while it is younger than 30 days", () => {
    const aged = (age: number): HeaderTree => branched({ time: 20 * 600 - age })
    assert.isTrue(isServable(aged(STALE_AGE_LIMIT - 1), params, headerId(24)))
    assert.isFalse(isServable(aged(STALE_AGE_LIMIT), params, headerId(24)))
  })

  it("a block beside the best chain is servable while it lags by less than 30 days of blocks", () => {
    const blocks = STALE_AGE_LIMIT / params.targetSpacing
    const tree = (length: number): HeaderTree =>
      treeOf([...lineOf(length), { parent: 0, connected: true, time: 600 * length }], length - 1)
    const [near, far] = [tree(blocks + 1), tree(blocks + 2)]
    assert.isTrue(isServable(near, params, headerId(blocks + 1)))
    assert.isFalse(isServable(far, params, headerId(blocks + 2)))
  })
})

describe("isCompactServed", () => {
  it("the tip and the five blocks before it are sent compact", () => {
    const tree = branched()
    assert.isTrue(isCompactServed(tree, { params, id: headerId(15), now: 600 * 20 }))
    assert.isFalse(isCompactServed(tree, { params, id: headerId(14), now: 600 * 20 }))
  })

  it("blocks are sent compact while the tip is younger than 20 block intervals", () => {
    const tree = branched()
    assert.isTrue(isCompactServed(tree, { params, id: headerId(20), now: 600 * 40 - 1 }))
    assert.isFalse(isCompactServed(tree, { params, id: headerId(20), now: 600 * 40 }))
  })

  it("an unknown hash is not in the tree", () => {
    assert.strictEqual(branched().find(UNKNOWN), NO_HEADER)
  })
})
