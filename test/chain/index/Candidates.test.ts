import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BlockIndex, GENESIS, NONE, Status } from "../../../src/chain/index/BlockIndex.ts"
import { Candidates } from "../../../src/chain/index/Candidates.ts"
import { type HeaderId, headerId } from "../../../src/protocol/keys.ts"
import { childOf, EASY_BITS } from "../../support/headers.ts"

const DATA = { place: { file: 0, offset: 8, size: 100 }, txCount: 1, checksum: 1 }
const HARD_BITS = 0x201fffff

/** A tree of headers, given the parent numbers of all but genesis, which is stored and connected. */
const treeOf = (parents: ReadonlyArray<number>, hard: ReadonlySet<number> = new Set()): BlockIndex => {
  const index = new BlockIndex()
  index.add(childOf(undefined, 0), NONE)
  for (const [i, parent] of parents.entries()) {
    const bits = hard.has(i + 1) ? HARD_BITS : EASY_BITS
    index.add(childOf(index.header(headerId(parent)), i + 1, { bits }), headerId(parent))
  }
  index.addStatus(GENESIS, Status.VALID)
  index.setData(GENESIS, DATA)
  return index
}

const start = (index: BlockIndex, active: ReadonlyArray<number> = [0]): Candidates => {
  const candidates = new Candidates(index)
  candidates.rebuild(active.map(headerId))
  return candidates
}

const arrive = (index: BlockIndex, candidates: Candidates, place: number, tip: number): void => {
  const id = headerId(place)
  index.setData(id, DATA)
  candidates.arrived(id, headerId(tip))
}

const activeTo = (index: BlockIndex, tip: HeaderId): ReadonlyArray<number> =>
  Array.from({ length: index.height(tip) + 1 }, (_, height) => index.ancestor(tip, height))

describe("Candidates", () => {
  it("a candidate waits for its ancestors", () => {
    const index = treeOf([0, 1, 2])
    const candidates = start(index)
    arrive(index, candidates, 3, 0)
    assert.strictEqual(candidates.best(GENESIS), 0)
    arrive(index, candidates, 2, 0)
    assert.strictEqual(candidates.best(GENESIS), 0)
    arrive(index, candidates, 1, 0)
    assert.strictEqual(candidates.best(GENESIS), 3)
  })

  it("among candidates of equal work, the first to arrive is best, even if that is the tip", () => {
    // Two branches of two blocks: 1-3 and 2-4.
    const index = treeOf([0, 0, 1, 2])
    const candidates = start(index)
    for (const id of [2, 1, 4, 3]) arrive(index, candidates, id, 0)
    assert.strictEqual(candidates.best(GENESIS), 4)
    assert.strictEqual(candidates.best(headerId(4)), 4)
    // After a start, the earlier best chain comes first.
    assert.strictEqual(start(index, [0, 1, 3]).best(headerId(3)), 3)
  })

  it("among candidates of equal work, the first with all ancestors stored is best", () => {
    const index = treeOf([0, 0, 1, 2])
    const candidates = start(index)
    for (const id of [4, 1, 3, 2]) arrive(index, candidates, id, 0)
    assert.strictEqual(candidates.best(GENESIS), 3)
  })

  it("a preferred block is best among those of equal work, the last preferred one first of all", () => {
    const index = treeOf([0, 0, 0, 1, 4])
    const candidates = start(index, [0, 1])
    for (const id of [1, 2, 3]) arrive(index, candidates, id, 1)
    assert.strictEqual(candidates.best(headerId(1)), 1)
    candidates.prefer({ id: headerId(3), tip: headerId(1) })
    assert.strictEqual(candidates.best(headerId(1)), 3)
    candidates.prefer({ id: headerId(2), tip: headerId(3) })
    assert.strictEqual(candidates.best(headerId(3)), 2)
    candidates.prefer({ id: headerId(1), tip: headerId(2) })
    assert.strictEqual(candidates.best(headerId(2)), 1)
    // More work wins, and a block that is not stored is not a candidate.
    candidates.prefer({ id: headerId(5), tip: headerId(1) })
    assert.strictEqual(candidates.best(headerId(1)), 1)
    arrive(index, candidates, 4, 1)
    assert.strictEqual(candidates.best(headerId(1)), 4)
  })

  it("candidates are compared by work, not by number of blocks", () => {
    const index = treeOf([0, 1, 2, 0], new Set([4]))
    const candidates = start(index)
    for (const id of [1, 2, 3, 4]) arrive(index, candidates, id, 0)
    assert.strictEqual(candidates.best(GENESIS), 4)
  })

  it("failed blocks are left out after a rebuild", () => {
    const index = treeOf([0, 1, 2, 1])
    const candidates = start(index)
    for (const id of [1, 2, 3, 4]) arrive(index, candidates, id, 0)
    assert.strictEqual(candidates.best(GENESIS), 3)
    index.addStatus(headerId(2), Status.FAILED)
    index.addStatus(headerId(3), Status.FAILED_PARENT)
    candidates.rebuild([0].map(headerId))
    assert.strictEqual(candidates.best(GENESIS), 4)
  })

  it("the best candidate is below a failed tip, even without other branches", () => {
    const index = treeOf([0, 1])
    for (const id of [1, 2]) index.setData(headerId(id), DATA)
    const candidates = start(index, [0, 1, 2])
    index.addStatus(headerId(2), Status.FAILED)
    candidates.rebuild([0, 1, 2].map(headerId))
    assert.strictEqual(candidates.best(headerId(2)), 1)
    index.addStatus(headerId(1), Status.FAILED)
    candidates.rebuild([0, 1, 2].map(headerId))
    assert.strictEqual(candidates.best(headerId(2)), 0)
  })

  it("prune drops candidates below the tip and keeps those of equal work", () => {
    const index = treeOf([0, 0, 1, 2, 3])
    const candidates = start(index)
    for (const id of [1, 2, 3, 4]) arrive(index, candidates, id, 0)
    candidates.prune(headerId(3))
    index.addStatus(headerId(3), Status.FAILED)
    // Without the tip, the candidate of equal work is next.
    candidates.rebuild([0, 1, 3].map(headerId))
    assert.strictEqual(candidates.best(headerId(3)), 4)
  })

  it("a connected block counts as stored even if its bytes are lost", () => {
    const index = treeOf([0, 1])
    index.clearStatus(GENESIS, Status.HAVE_DATA)
    const candidates = start(index, [0, 1])
    arrive(index, candidates, 2, 1)
    assert.strictEqual(candidates.best(headerId(1)), 2)
  })

  it("after arrivals and tip moves in any order, the best candidate is that of a naive search", () => {
    const shapes = FastCheck.array(FastCheck.tuple(FastCheck.nat(5), FastCheck.boolean()), {
      minLength: 1,
      maxLength: 40
    })
    FastCheck.assert(
      FastCheck.property(shapes, FastCheck.infiniteStream(FastCheck.nat()), (shape, stream) => {
        const parents = shape.map(([back], i) => Math.max(0, i - back))
        const hard = new Set(shape.flatMap(([, isHard], i) => isHard ? [i + 1] : []))
        const index = treeOf(parents, hard)
        const random = (): number => stream.next().value ?? 0
        let tip = GENESIS
        let candidates = start(index)
        /** In the order in which all ancestors became available. */
        const linked: Array<HeaderId> = [GENESIS]
        const here = new Set<HeaderId>([GENESIS])
        const left = parents.map((_, i) => i + 1)
        while (left.length > 0) {
          const [place = 0] = left.splice(random() % left.length, 1)
          const id = headerId(place)
          arrive(index, candidates, id, tip)
          here.add(id)
          const fresh: Array<HeaderId> = []
          const link = (parent: HeaderId): void => {
            for (const child of index.ids(GENESIS)) {
              if (index.parent(child) === parent && here.has(child) && !linked.includes(child)) {
                linked.push(child)
                fresh.push(child)
              }
            }
          }
          if (linked.includes(index.parent(id)) && !linked.includes(id)) {
            linked.push(id)
            fresh.push(id)
          }
          for (let next = fresh.shift(); next !== undefined; next = fresh.shift()) link(next)
          const most = linked.reduce((best, other) => index.compareWork(other, best) > 0 ? other : best, tip)
          const found = candidates.best(tip)
          assert.strictEqual(index.compareWork(found, most), 0)
          assert.isTrue(linked.includes(found))
          // The tip came first: a better candidate has more work.
          if (index.compareWork(most, tip) === 0) assert.strictEqual(found, tip)
          const choice = random() % 4
          if (choice === 0) {
            tip = found
            candidates.prune(tip)
          } else if (choice === 1) {
            // Simulates a restart.
            candidates = start(index, activeTo(index, tip))
            assert.strictEqual(index.compareWork(candidates.best(tip), most), 0)
          }
        }
      }),
      { numRuns: 150 }
    )
  })
})
