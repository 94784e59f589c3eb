import { assert, describe, it } from "@effect/vitest"
import { graphChunks, type GraphNode } from "../../../src/mempool/graph/graphChunks.ts"

const node = (key: string, fee: number, weight: number, ...parents: ReadonlyArray<string>): GraphNode => ({
  key,
  fee,
  weight,
  parents
})

const keys = (...nodes: ReadonlyArray<GraphNode>): ReadonlyArray<ReadonlyArray<string>> =>
  graphChunks(nodes).map((chunk) => chunk.keys)

describe("graphChunks", () => {
  it("returns nothing for nothing, and one chunk for one transaction", () => {
    assert.deepStrictEqual(graphChunks([]), [])
    assert.deepStrictEqual(graphChunks([node("a", 3, 4, "elsewhere")]), [{ keys: ["a"], fee: 3, weight: 4 }])
  })

  it("joins a child with the parent that it pays for, in any input order", () => {
    const expected = [{ keys: ["parent", "child"], fee: 10, weight: 4 }]
    const [parent, child] = [node("parent", 1, 2), node("child", 9, 2, "parent", "elsewhere")]
    assert.deepStrictEqual(graphChunks([parent, child]), expected)
    assert.deepStrictEqual(graphChunks([child, parent]), expected)
  })

  it("puts the chunks of many clusters in one order", () => {
    assert.deepStrictEqual(
      keys(node("a", 5, 1), node("b", 1, 1, "a"), node("c", 3, 1), node("d", 1, 1), node("e", 9, 1, "d")),
      [["a"], ["d", "e"], ["c"], ["b"]]
    )
  })

  it("keeps unrelated pieces with the same rate apart", () => {
    // Behind "top" there are two pairs with the same rate.
    const nodes = [node("top", 99, 1), node("a", 0, 1, "top"), node("b", 0, 1, "top"), node("a2", 4, 1, "a")]
    assert.deepStrictEqual(keys(...nodes, node("b2", 4, 1, "b")), [["top"], ["a", "a2"], ["b", "b2"]])
  })
})
