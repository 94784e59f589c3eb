import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BlockIndex, GENESIS, NONE, Status } from "../../../src/chain/index/BlockIndex.ts"
import { PAGE_BYTES, PAGE_RECORDS } from "../../../src/chain/index/headerPage.ts"
import { blockWork } from "../../../src/consensus/difficulty.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import type { Header } from "../../../src/protocol/header.ts"
import { type HeaderId, headerId } from "../../../src/protocol/keys.ts"
import { childOf, EASY_BITS } from "../../support/headers.ts"

/** A header of the naive model. It finds everything by walking. */
interface Node {
  readonly header: Header
  readonly parent: HeaderId
}

const BITS = [EASY_BITS, 0x207fffff, 0x1d00ffff, 0x1b00b269, 0x1a242a4a] as const

/**
 * A tree: for each header after genesis, the distance to its parent, its time and its bits. Mostly chains, some forks.
 */
const trees = (maxLength: number) =>
  FastCheck.array(
    FastCheck.record({
      back: FastCheck.oneof({ weight: 8, arbitrary: FastCheck.constant(0) }, {
        weight: 2,
        arbitrary: FastCheck.nat(60)
      }),
      time: FastCheck.integer({ min: 0, max: 0xffffffff }),
      bits: FastCheck.constantFrom(...BITS)
    }),
    { minLength: 1, maxLength }
  )

const build = (shape: ReadonlyArray<{ readonly back: number; readonly time: number; readonly bits: number }>) => {
  const nodes: Array<Node> = [{ header: childOf(undefined, 0), parent: NONE }]
  for (const [i, { back, bits, time }] of shape.entries()) {
    const parent = headerId(Math.max(0, nodes.length - 1 - back))
    nodes.push({ header: childOf(nodes[parent]?.header, i + 1, { bits, time }), parent })
  }
  const index = new BlockIndex()
  for (const [id, { header, parent }] of nodes.entries()) assert.strictEqual(index.add(header, parent), id)
  return { nodes, index }
}

/** A header and its ancestors, genesis first. */
const pathOf = (nodes: ReadonlyArray<Node>, id: HeaderId): ReadonlyArray<HeaderId> => {
  const path: Array<HeaderId> = []
  for (let walk = id; walk !== NONE; walk = nodes[walk]?.parent ?? NONE) path.unshift(walk)
  return path
}

describe("BlockIndex against a naive model", () => {
  it("the median time of no header is 0", () => {
    const { index } = build([])
    assert.strictEqual(index.medianTimePast(NONE), 0)
  })

  it("BlockIndex finds the headers, ancestors, fork points, median times and work of the model", () => {
    FastCheck.assert(
      FastCheck.property(
        trees(120),
        FastCheck.array(FastCheck.nat(), { minLength: 12, maxLength: 12 }),
        (shape, picks) => {
          const { index, nodes } = build(shape)
          assert.strictEqual(index.count, nodes.length)
          const paths = nodes.map((_, place) => pathOf(nodes, headerId(place)))
          for (const [place, { header, parent }] of nodes.entries()) {
            const id = headerId(place)
            const path = paths[id] ?? []
            assert.strictEqual(index.find(header.hash), id)
            assert.strictEqual(index.parent(id), parent)
            assert.strictEqual(index.height(id), path.length - 1)
            assert.strictEqual(toHex(index.header(id).bytes), toHex(header.bytes))
            assert.strictEqual(
              index.chainwork(id),
              path.reduce((sum, at) => sum + blockWork(nodes[at]?.header.bits ?? 0), 0n)
            )
            const times = path.slice(-11).map((at) => nodes[at]?.header.time ?? 0).sort((a, b) => a - b)
            assert.strictEqual(index.medianTimePast(id), times[Math.floor(times.length / 2)])
          }
          for (const pick of picks) {
            const [a, b] = [headerId(pick % nodes.length), headerId(Math.floor(pick / 7) % nodes.length)]
            const [one, other] = [paths[a] ?? [], paths[b] ?? []]
            for (const [height, at] of one.entries()) assert.strictEqual(index.ancestor(a, height), at)
            assert.strictEqual(index.ancestor(a, one.length), NONE)
            assert.strictEqual(index.ancestor(a, -1), NONE)
            assert.strictEqual(index.forkPoint(a, b), one.findLast((at) => other.includes(at)))
            const difference = index.chainwork(a) - index.chainwork(b)
            assert.strictEqual(Math.sign(index.compareWork(a, b)), difference < 0n ? -1 : difference > 0n ? 1 : 0)
          }
        }
      ),
      { numRuns: 60 }
    )
  })

  it("searches stay logarithmic and correct on a long chain with a long fork", () => {
    const index = new BlockIndex()
    let header = childOf(undefined, 0)
    index.add(header, NONE)
    for (let i = 1; i < 5000; i++) index.add(header = childOf(header, i), headerId(i - 1))
    header = index.header(headerId(1200))
    let parent = headerId(1200)
    for (let i = 0; i < 3000; i++) parent = index.add(header = childOf(header, 10_000 + i), parent)
    for (let height = 0; height < 5000; height += 7) assert.strictEqual(index.ancestor(headerId(4999), height), height)
    assert.strictEqual(index.forkPoint(headerId(4999), parent), 1200)
    assert.strictEqual(index.forkPoint(parent, headerId(4999)), 1200)
    assert.strictEqual(index.forkPoint(headerId(900), parent), 900)
    assert.strictEqual(index.forkPoint(parent, parent), parent)
  })
})

describe("find", () => {
  it("find returns nothing for a missing header, even in an empty index", () => {
    assert.strictEqual(new BlockIndex().find(new Uint8Array(32)), NONE)
    const { index } = build([{ back: 0, time: 1, bits: EASY_BITS }])
    assert.strictEqual(index.find(new Uint8Array(32)), NONE)
  })

  it("find distinguishes hashes with a common prefix", () => {
    const { index, nodes } = build(Array.from({ length: 200 }, () => ({ back: 0, time: 1, bits: EASY_BITS })))
    const other = nodes[100]?.header.hash.slice() ?? assert.fail()
    other[31] = (other[31] ?? 0) ^ 1
    assert.strictEqual(index.find(other), NONE)
  })
})

describe("status", () => {
  it("the status is stored bit by bit", () => {
    const { index } = build([{ back: 0, time: 1, bits: EASY_BITS }])
    index.addStatus(headerId(1), Status.VALID)
    index.setData(headerId(1), { place: { file: 3, offset: 0xfffffff0, size: 7 }, txCount: 5, checksum: 0xdeadbeef })
    index.setUndo(headerId(1), { file: 4, offset: 9, size: 8 })
    assert.deepStrictEqual(index.dataPlace(headerId(1)), { file: 3, offset: 0xfffffff0, size: 7 })
    assert.deepStrictEqual(index.undoPlace(headerId(1)), { file: 4, offset: 9, size: 8 })
    assert.strictEqual(index.txCount(headerId(1)), 5)
    assert.strictEqual(index.status(headerId(1)), Status.VALID | Status.HAVE_DATA | Status.HAVE_UNDO)
    index.clearStatus(headerId(1), Status.HAVE_DATA)
    assert.isFalse(index.has(headerId(1), Status.HAVE_DATA))
    assert.isTrue(index.has(headerId(1), Status.HAVE_UNDO))
    assert.strictEqual(index.status(GENESIS), 0)
  })

  it("a child of a failed header starts as failed", () => {
    const { index, nodes } = build([{ back: 0, time: 1, bits: EASY_BITS }])
    index.addStatus(headerId(1), Status.FAILED)
    const child = index.add(childOf(nodes[1]?.header, 50), headerId(1))
    const grandchild = index.add(childOf(index.header(child), 51), child)
    assert.strictEqual(index.status(child), Status.FAILED_PARENT)
    assert.isTrue(index.isFailed(grandchild))
    assert.isFalse(index.isFailed(GENESIS))
  })
})

describe("pages", () => {
  const shape = (length: number) =>
    Array.from({ length }, (_, i) => ({ back: i % 9 === 0 ? 3 : 0, time: i, bits: EASY_BITS }))

  it.each([1, PAGE_RECORDS - 1, PAGE_RECORDS, PAGE_RECORDS + 1, 3 * PAGE_RECORDS])(
    "pages of %d headers load to the same tree",
    (count) => {
      const { index, nodes } = build(shape(count - 1))
      index.addStatus(headerId(count - 1), Status.VALID)
      index.setData(GENESIS, { place: { file: 1, offset: 2, size: 3 }, txCount: 4, checksum: 1 })
      const pages = index.takeDirtyPages()
      assert.deepStrictEqual(
        pages.map(({ page }) => page),
        Array.from({ length: Math.ceil(count / PAGE_RECORDS) }, (_, i) => i)
      )
      assert.isTrue(pages.every(({ bytes }) => bytes.length === PAGE_BYTES))
      const loaded = new BlockIndex()
      loaded.load(pages.map(({ bytes }) => bytes.slice()), count)
      assert.strictEqual(loaded.count, count)
      for (const [id, { header }] of nodes.entries()) {
        assert.strictEqual(loaded.find(header.hash), id)
        assert.strictEqual(loaded.height(headerId(id)), index.height(headerId(id)))
        assert.strictEqual(loaded.chainwork(headerId(id)), index.chainwork(headerId(id)))
      }
      assert.isTrue(loaded.has(headerId(count - 1), Status.VALID))
      assert.deepStrictEqual(loaded.dataPlace(GENESIS), { file: 1, offset: 2, size: 3 })
      assert.deepStrictEqual(loaded.takeDirtyPages(), [])
      // It grows like the original.
      const child = childOf(nodes[count - 1]?.header, 77)
      assert.strictEqual(loaded.add(child, headerId(count - 1)), count)
      assert.strictEqual(loaded.find(child.hash), count)
      assert.strictEqual(loaded.ancestor(headerId(count), 0), 0)
    }
  )

  it("only changed pages are dirty", () => {
    const { index } = build(shape(3 * PAGE_RECORDS))
    index.takeDirtyPages()
    assert.deepStrictEqual(index.takeDirtyPages(), [])
    index.addStatus(headerId(PAGE_RECORDS), Status.VALID)
    index.addStatus(headerId(PAGE_RECORDS), Status.VALID)
    assert.deepStrictEqual(index.takeDirtyPages().map(({ page }) => page), [1])
    // Setting the same status is not a change.
    index.addStatus(headerId(PAGE_RECORDS), Status.VALID)
    assert.deepStrictEqual(index.takeDirtyPages(), [])
    index.restoreDirtyPages([2, 0])
    assert.deepStrictEqual(index.takeDirtyPages().map(({ page }) => page), [0, 2])
  })

  it("a copied hash is not part of the page, even where the page is a buffer of the driver", () => {
    const { index, nodes } = build([])
    const loaded = new BlockIndex()
    loaded.load(index.takeDirtyPages().map(({ bytes }) => Buffer.from(bytes)), 1)
    loaded.hash(GENESIS).slice().fill(0)
    assert.strictEqual(loaded.find(nodes[0]?.header.hash ?? assert.fail()), GENESIS)
  })

  it("pages that do not match the count are refused", () => {
    const { index } = build(shape(PAGE_RECORDS))
    const pages = index.takeDirtyPages().map(({ bytes }) => bytes)
    assert.throws(() => new BlockIndex().load(pages, PAGE_RECORDS), /do not fit/)
    assert.throws(() => new BlockIndex().load(pages, 2 * PAGE_RECORDS + 1), /do not fit/)
  })
})

describe("a header whose work is beyond all bounds", () => {
  it("a header with too much work is refused and leaves the tree unchanged, even at the edge of a page", () => {
    const { index, nodes } = build(
      Array.from({ length: PAGE_RECORDS - 1 }, () => ({ back: 0, time: 1, bits: EASY_BITS }))
    )
    const last = nodes[PAGE_RECORDS - 1]?.header
    // A target of 1: 2^255 hashes.
    assert.throws(() => index.add(childOf(last, 9999, { bits: 0x03000001 }), headerId(PAGE_RECORDS - 1)), /work/)
    assert.strictEqual(index.count, PAGE_RECORDS)
    const good = childOf(last, 10_000)
    assert.strictEqual(index.add(good, headerId(PAGE_RECORDS - 1)), PAGE_RECORDS)
    assert.strictEqual(toHex(index.header(headerId(PAGE_RECORDS)).bytes), toHex(good.bytes))
    const pages = index.takeDirtyPages()
    new BlockIndex().load(pages.map(({ bytes }) => bytes.slice()), index.count)
    let header = good
    for (let id = PAGE_RECORDS + 1; id <= 2 * PAGE_RECORDS; id++) {
      assert.strictEqual(index.add(header = childOf(header, 20_000 + id), headerId(id - 1)), id)
    }
    assert.strictEqual(toHex(index.header(headerId(2 * PAGE_RECORDS)).bytes), toHex(header.bytes))
  })
})

it("a missing header is reported", () => {
  const { index } = build([{ back: 0, time: 1, bits: EASY_BITS }])
  assert.throws(() => index.height(headerId(2)), /header number 2 does not exist/)
})
