import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { bestClosure, type ClusterNode, totalOf } from "../../../src/mempool/graph/bestClosure.ts"
import { compareDiagrams } from "../../../src/mempool/graph/diagram.ts"
import { chunked, components, linearize } from "../../../src/mempool/graph/linearize.ts"
import { compareRates } from "../../../src/mempool/policy/feeRate.ts"

const node = (fee: number, weight: number, ...parents: ReadonlyArray<number>): ClusterNode => ({ fee, weight, parents })

/** Acyclic graphs: parents have lower numbers, and then all are shuffled. */
const clusters = (maxLength: number, maxFee = 20, maxWeight = 5): fc.Arbitrary<ReadonlyArray<ClusterNode>> =>
  fc.array(
    fc.record({
      fee: fc.integer({ min: -2, max: maxFee }),
      weight: fc.integer({ min: 1, max: maxWeight }),
      picks: fc.array(fc.nat(), { maxLength: 3 })
    }),
    { minLength: 1, maxLength }
  ).chain((list) => {
    const numbers = list.map((_, i) => i)
    return fc.shuffledSubarray(numbers, { minLength: list.length }).map((places) => {
      const nodes = new Array<ClusterNode>(list.length)
      for (const [i, { fee, picks, weight }] of list.entries()) {
        const parents = i === 0 ? [] : [...new Set(picks.map((pick) => places[pick % i] ?? 0))]
        nodes[places[i] ?? 0] = { fee, weight, parents }
      }
      return nodes
    })
  })

const assertTopological = (nodes: ReadonlyArray<ClusterNode>, order: ReadonlyArray<number>): void => {
  assert.deepStrictEqual([...order].sort((a, b) => a - b), [...nodes.keys()])
  const placed = new Set<number>()
  for (const member of order) {
    for (const parent of nodes[member]?.parents ?? []) assert.isTrue(placed.has(parent))
    placed.add(member)
  }
}

/** Every order with parents before children. */
const allOrders = (nodes: ReadonlyArray<ClusterNode>): Array<Array<number>> => {
  const orders: Array<Array<number>> = []
  const extend = (order: Array<number>): void => {
    if (order.length === nodes.length) orders.push(order)
    for (const [i, { parents }] of nodes.entries()) {
      if (!order.includes(i) && parents.every((parent) => order.includes(parent))) extend([...order, i])
    }
  }
  extend([])
  return orders
}

const withAncestors = (nodes: ReadonlyArray<ClusterNode>, member: number, left: ReadonlySet<number>): Set<number> => {
  const found = new Set([member])
  for (const near of found) for (const parent of nodes[near]?.parents ?? []) if (left.has(parent)) found.add(parent)
  return found
}

/** The simple algorithm: repeatedly take the transaction with the best ancestor-set rate. */
const ancestorSetOrder = (nodes: ReadonlyArray<ClusterNode>): ReadonlyArray<number> => {
  const left = new Set(nodes.keys())
  const order: Array<number> = []
  while (left.size > 0) {
    let best = new Set<number>()
    for (const member of left) {
      const set = withAncestors(nodes, member, left)
      if (best.size === 0 || compareRates(totalOf(nodes, set), totalOf(nodes, best)) > 0) best = set
    }
    const ready = new Set(best)
    while (ready.size > 0) {
      for (const member of ready) {
        if (nodes[member]?.parents.some((parent) => ready.has(parent)) === true) continue
        order.push(member)
        ready.delete(member)
        left.delete(member)
      }
    }
  }
  return order
}

const chunksOf = (nodes: ReadonlyArray<ClusterNode>) => chunked(nodes, linearize(nodes))

describe("linearize", () => {
  it("puts a low-paying parent behind unrelated transactions", () => {
    const nodes = [node(0, 4), node(30, 4, 0), node(20, 4)]
    assert.deepStrictEqual(linearize(nodes), [2, 0, 1])
  })

  it("takes two children together for one parent, which no ancestor set shows", () => {
    // Either child with the parent pays 2 a unit, the single one 2.1, the three together 3.
    const nodes = [node(0, 2), node(6, 1, 0), node(6, 1, 0), node(21, 10)]
    assert.deepStrictEqual(chunksOf(nodes).map(({ members }) => members), [[0, 1, 2], [3]])
  })

  it("orders a child that precedes its parent in the input", () => {
    assert.deepStrictEqual(linearize([node(9, 1, 1), node(1, 1)]), [1, 0])
  })

  it("keeps parents before children and rates falling", () => {
    fc.assert(
      fc.property(clusters(30), (nodes) => {
        assertTopological(nodes, linearize(nodes))
        const chunks = chunksOf(nodes)
        assert.deepStrictEqual(chunks.flatMap(({ members }) => members), linearize(nodes))
        for (const [i, chunk] of chunks.entries()) {
          assert.deepInclude(chunk, totalOf(nodes, chunk.members))
          const next = chunks[i + 1]
          if (next !== undefined) assert.isAtLeast(compareRates(chunk, next), 0)
        }
      }),
      { numRuns: 300 }
    )
  })

  it("finds the best order of small clusters", () => {
    fc.assert(
      fc.property(clusters(6), (nodes) => {
        const chunks = chunksOf(nodes)
        for (const order of allOrders(nodes)) {
          assert.include(["better", "equal"], compareDiagrams(chunks, chunked(nodes, order)))
        }
      }),
      { numRuns: 500 }
    )
  })

  it("finds the best order with the highest possible fees", () => {
    fc.assert(
      fc.property(clusters(5, 2_100_000_000_000, 400_000), (nodes) => {
        const chunks = chunksOf(nodes)
        for (const order of allOrders(nodes)) {
          assert.include(["better", "equal"], compareDiagrams(chunks, chunked(nodes, order)))
        }
      }),
      { numRuns: 300 }
    )
  })

  it("is never worse than the order by ancestor sets", () => {
    fc.assert(
      fc.property(clusters(40), (nodes) => {
        const order = compareDiagrams(chunksOf(nodes), chunked(nodes, ancestorSetOrder(nodes)))
        assert.include(["better", "equal"], order)
      }),
      { numRuns: 200 }
    )
  })

  it("orders clusters that are too large for the search", () => {
    const nodes = Array.from({ length: 1000 }, (_, i) => node((i * 7919) % 101, 1 + i % 7, ...i === 0 ? [] : [i >> 1]))
    assertTopological(nodes, linearize(nodes))
  })

  it("orders only the given members, whatever else they depend on", () => {
    const nodes = [node(1, 1), node(2, 1, 0), node(9, 1, 1), node(5, 1)]
    assert.deepStrictEqual(linearize(nodes, [1, 2]), [1, 2])
    assert.deepStrictEqual(linearize(nodes, [1, 3]), [3, 1])
  })
})

describe("bestClosure", () => {
  it("returns undefined if no part pays a better rate", () => {
    assert.isUndefined(bestClosure([node(1, 1), node(2, 1, 0)], [0, 1]))
    assert.isUndefined(bestClosure([node(1, 1), node(1, 1, 0)], [0, 1]))
    assert.isUndefined(bestClosure([node(1, 1)], [0]))
  })

  it("returns all that earns more than the common rate", () => {
    assert.deepStrictEqual(bestClosure([node(9, 1), node(1, 1, 0), node(8, 1)], [0, 1, 2]), new Set([0, 2]))
  })

  it("counts only parents among the members", () => {
    assert.deepStrictEqual(bestClosure([node(1, 9), node(9, 1, 0), node(1, 1)], [1, 2]), new Set([1]))
  })
})

describe("chunked", () => {
  it("joins a transaction with a better rate to the chunk before it, and keeps equal rates apart", () => {
    const nodes = [node(1, 1), node(3, 1, 0), node(2, 1), node(4, 2), node(1, 1)]
    assert.deepStrictEqual(chunked(nodes, [0, 1, 2, 3, 4]), [
      { fee: 4, weight: 2, members: [0, 1] },
      { fee: 2, weight: 1, members: [2] },
      { fee: 4, weight: 2, members: [3] },
      { fee: 1, weight: 1, members: [4] }
    ])
  })
})

describe("components", () => {
  it("divides by relatives among the members", () => {
    const nodes = [node(1, 1), node(1, 1, 0), node(1, 1), node(1, 1, 1, 2)]
    assert.deepStrictEqual(components(nodes, [0, 1, 2]), [[0, 1], [2]])
    assert.deepStrictEqual(components(nodes, [0, 1, 2, 3]), [[0, 1, 3, 2]])
  })
})
