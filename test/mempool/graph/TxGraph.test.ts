import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { compareDiagrams } from "../../../src/mempool/graph/diagram.ts"
import { type GraphChunk, graphChunks, type GraphNode } from "../../../src/mempool/graph/graphChunks.ts"
import { TxGraph } from "../../../src/mempool/graph/TxGraph.ts"
import { compareRates } from "../../../src/mempool/policy/feeRate.ts"

interface ModelNode {
  fee: number
  readonly weight: number
  readonly parents: Set<string>
}

/** The graph by its definition: it computes everything from scratch each time. */
class Model {
  readonly nodes = new Map<string, ModelNode>()

  parents(key: string): Set<string> {
    return new Set(this.nodes.get(key)?.parents)
  }

  children(key: string): Set<string> {
    return new Set([...this.nodes].filter(([, { parents }]) => parents.has(key)).map(([child]) => child))
  }

  reach(starts: Iterable<string>, next: (key: string) => Iterable<string>): Set<string> {
    const found = new Set(starts)
    for (const key of found) for (const near of next(key)) found.add(near)
    return found
  }

  ancestors(key: string): Set<string> {
    const found = this.reach([key], (near) => this.parents(near))
    found.delete(key)
    return found
  }

  descendants(key: string): Set<string> {
    const found = this.reach([key], (near) => this.children(near))
    found.delete(key)
    return found
  }

  relatives(key: string, without: ReadonlySet<string> = new Set()): Array<string> {
    return [...this.parents(key), ...this.children(key)].filter((near) => !without.has(near))
  }

  cluster(key: string, without: ReadonlySet<string> = new Set()): Set<string> {
    return this.reach([key], (near) => this.relatives(near, without))
  }

  clusters(): Array<Set<string>> {
    const seen = new Set<string>()
    const found: Array<Set<string>> = []
    for (const key of this.nodes.keys()) {
      if (seen.has(key)) continue
      const cluster = this.cluster(key)
      for (const member of cluster) seen.add(member)
      found.push(cluster)
    }
    return found
  }

  entries(keys: Iterable<string> = this.nodes.keys()): Array<GraphNode> {
    const found: Array<GraphNode> = []
    for (const key of keys) {
      const node = this.nodes.get(key)
      if (node !== undefined) found.push({ key, ...node })
    }
    return found
  }

  remove(key: string): void {
    this.nodes.delete(key)
    for (const { parents } of this.nodes.values()) parents.delete(key)
  }
}

type Step =
  | { readonly type: "add"; readonly fee: number; readonly weight: number; readonly picks: ReadonlyArray<number> }
  | {
    readonly type: "insert"
    readonly fee: number
    readonly weight: number
    readonly picks: ReadonlyArray<number>
    readonly below: ReadonlyArray<number>
  }
  | { readonly type: "remove"; readonly pick: number }
  | { readonly type: "setFee"; readonly pick: number; readonly fee: number }
  | { readonly type: "look" }
  | { readonly type: "evict" }

const fee = fc.integer({ min: -1, max: 12 })
const weight = fc.integer({ min: 1, max: 4 })
const picks = fc.array(fc.nat(), { maxLength: 3 })

const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant("add" as const), fee, weight, picks }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("insert" as const), fee, weight, picks, below: picks }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("remove" as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("setFee" as const), pick: fc.nat(), fee }) },
    { weight: 2, arbitrary: fc.constant({ type: "look" as const }) },
    { weight: 1, arbitrary: fc.constant({ type: "evict" as const }) }
  ),
  { maxLength: 50 }
)

const pickFrom = (keys: ReadonlyArray<string>, chosen: ReadonlyArray<number>): Set<string> =>
  new Set(chosen.flatMap((pick) => keys[pick % keys.length] ?? []))

/** A graph and its model, changed in the same way. */
class Pair {
  readonly graph = new TxGraph()
  readonly model = new Model()
  private count = 0

  apply(step: Step): void {
    const keys = [...this.model.nodes.keys()]
    switch (step.type) {
      case "add":
        return this.add(step, pickFrom(keys, step.picks), new Set())
      case "insert": {
        const parents = pickFrom(keys, step.picks)
        const above = this.model.reach(parents, (key) => this.model.parents(key))
        return this.add(step, parents, new Set([...pickFrom(keys, step.below)].filter((key) => !above.has(key))))
      }
      case "remove":
        for (const key of pickFrom(keys, [step.pick])) this.remove(key)
        return
      case "setFee":
        for (const key of pickFrom(keys, [step.pick])) {
          this.graph.setFee(key, step.fee)
          const node = this.model.nodes.get(key)
          if (node !== undefined) node.fee = step.fee
        }
        return
      case "look":
        return this.check()
      case "evict": {
        const worst = this.graph.worst()
        assert.deepStrictEqual(worst, this.graph.chunks().at(-1))
        for (const key of worst?.keys ?? []) {
          assert.isTrue([...this.model.children(key)].every((child) => worst?.keys.includes(child)))
        }
        for (const key of worst?.keys ?? []) this.remove(key)
      }
    }
  }

  private add(
    { fee, weight }: { readonly fee: number; readonly weight: number },
    parents: Set<string>,
    children: ReadonlySet<string>
  ): void {
    const key = `t${this.count++}`
    this.graph.add(key, { fee, weight, parents: [...parents, "unknown"], children: [...children, "missing"] })
    this.model.nodes.set(key, { fee, weight, parents })
    for (const child of children) this.model.nodes.get(child)?.parents.add(key)
  }

  private remove(key: string): void {
    this.graph.remove(key)
    this.model.remove(key)
  }

  check(): void {
    const { graph, model } = this
    assert.strictEqual(graph.size, model.nodes.size)
    for (const key of model.nodes.keys()) {
      assert.isTrue(graph.has(key))
      assert.deepStrictEqual(graph.parents(key), model.parents(key))
      assert.deepStrictEqual(graph.children(key), model.children(key))
      assert.deepStrictEqual(graph.ancestors(key), model.ancestors(key))
      assert.deepStrictEqual(graph.descendants(key), model.descendants(key))
      assert.deepStrictEqual(new Set(graph.cluster(key)), model.cluster(key))
      assert.isTrue(graph.chunkOf(key)?.keys.includes(key))
    }
    for (const cluster of model.clusters()) {
      const [first = ""] = cluster
      assert.strictEqual(graph.clustersAffected(cluster), 1)
      const expected = graphChunks(model.entries(cluster))
      assert.strictEqual(compareDiagrams(graph.chunksOf(first), expected), "equal")
    }
    assert.strictEqual(graph.clustersAffected(model.nodes.keys()), model.clusters().length)
    this.checkOrder(graph.chunks())
    assert.deepStrictEqual(graph.worst(), graph.chunks().at(-1))
  }

  private checkOrder(chunks: ReadonlyArray<GraphChunk>): void {
    const placed = new Set<string>()
    for (const [i, chunk] of chunks.entries()) {
      const before = chunks[i - 1]
      if (before !== undefined) assert.isAtLeast(compareRates(before, chunk), 0)
      let [fee, weight] = [0, 0]
      for (const key of chunk.keys) {
        for (const parent of this.model.parents(key)) assert.isTrue(placed.has(parent))
        placed.add(key)
        fee += this.model.nodes.get(key)?.fee ?? 0
        weight += this.model.nodes.get(key)?.weight ?? 0
      }
      assert.deepStrictEqual([chunk.fee, chunk.weight], [fee, weight])
    }
    assert.deepStrictEqual(placed, new Set(this.model.nodes.keys()))
  }
}

const built = (all: ReadonlyArray<Step>): Pair => {
  const pair = new Pair()
  for (const step of all) pair.apply(step)
  return pair
}

describe("TxGraph", () => {
  it("agrees with a graph that computes everything from scratch", () => {
    fc.assert(fc.property(steps, (all) => built(all).check()), { numRuns: 150 })
  })

  it("is empty at first and ignores unknown keys", () => {
    const graph = new TxGraph()
    graph.remove("a")
    graph.setFee("a", 1)
    assert.deepStrictEqual([graph.size, graph.has("a"), graph.worst(), graph.chunkOf("a")], [
      0,
      false,
      undefined,
      undefined
    ])
    assert.deepStrictEqual([graph.chunks(), graph.chunksOf("a"), graph.cluster("a")], [[], [], []])
    assert.deepStrictEqual([graph.parents("a"), graph.ancestors("a")], [new Set(), new Set()])
    assert.deepStrictEqual([graph.children("a"), graph.descendants("a")], [new Set(), new Set()])
    assert.deepStrictEqual(graph.diagram(), [{ weight: 0, fee: 0 }])
    assert.deepStrictEqual(graph.clusterWith(["a"]), { count: 0, weight: 0 })
    assert.strictEqual(graph.clustersAffected(["a"]), 0)
  })

  it("refuses a key a second time", () => {
    const graph = new TxGraph()
    graph.add("a", { fee: 1, weight: 4, parents: [] })
    assert.throws(() => graph.add("a", { fee: 2, weight: 4, parents: [] }), TypeError)
    assert.deepStrictEqual(graph.chunks(), [{ keys: ["a"], fee: 1, weight: 4 }])
  })

  it("splits a cluster when its connection is removed, and joins the parts again", () => {
    const graph = new TxGraph()
    graph.add("a", { fee: 8, weight: 4, parents: [] })
    graph.add("b", { fee: 0, weight: 4, parents: ["a"] })
    graph.add("c", { fee: 20, weight: 4, parents: ["b"] })
    assert.deepStrictEqual(graph.chunks().map(({ keys }) => keys), [["a", "b", "c"]])
    graph.remove("b")
    assert.strictEqual(graph.clustersAffected(["a", "c"]), 2)
    assert.deepStrictEqual(graph.chunks().map(({ keys }) => keys), [["c"], ["a"]])
    graph.add("b", { fee: 0, weight: 4, parents: ["a"], children: ["c"] })
    assert.strictEqual(graph.clustersAffected(["a", "c"]), 1)
    assert.deepStrictEqual(graph.chunks().map(({ keys }) => keys), [["a", "b", "c"]])
  })

  it("puts the older of two equal rates first", () => {
    const graph = new TxGraph()
    for (const key of ["a", "b", "c"]) graph.add(key, { fee: 4, weight: 4, parents: [] })
    assert.deepStrictEqual(graph.chunks().map(({ keys }) => keys), [["a"], ["b"], ["c"]])
    assert.deepStrictEqual(graph.worst()?.keys, ["c"])
  })
})

describe("TxGraph.clusterWith", () => {
  it("counts what would be connected, without the removed transactions", () => {
    fc.assert(
      fc.property(steps, picks, picks, (all, from, gone) => {
        const { graph, model } = built(all)
        const keys = [...model.nodes.keys()]
        const without = pickFrom(keys, gone)
        const parents = pickFrom(keys, from)
        const found = new Set(
          [...parents].filter((key) => !without.has(key)).flatMap((key) => [
            ...model.cluster(key, without)
          ])
        )
        const weight = model.entries(found).reduce((sum, node) => sum + node.weight, 0)
        assert.deepStrictEqual(graph.clusterWith(parents, without), { count: found.size, weight })
        for (const most of [0, 1, 2, Math.max(0, found.size - 1), found.size, found.size + 1]) {
          const known = graph.clusterWith(parents, without, most)
          if (found.size <= most) assert.deepStrictEqual(known, { count: found.size, weight })
          else assert.strictEqual(known.count, most + 1)
        }
      }),
      { numRuns: 100 }
    )
  })
})

describe("TxGraph.improves", () => {
  const graph = (): TxGraph => {
    const made = new TxGraph()
    made.add("a", { fee: 100, weight: 100, parents: [] })
    made.add("b", { fee: 300, weight: 100, parents: ["a"] })
    made.add("other", { fee: 1, weight: 1000, parents: [] })
    return made
  }

  it("accepts a higher fee for the same weight, and nothing less", () => {
    const with_ = (fee: number): boolean =>
      graph().improves(new Set(["b"]), [{ key: "c", fee, weight: 100, parents: ["a"] }])
    assert.deepStrictEqual([299, 300, 301].map(with_), [false, false, true])
  })

  it("refuses a higher fee at a lower rate", () => {
    const added = (weight: number): ReadonlyArray<GraphNode> => [{ key: "c", fee: 400, weight, parents: [] }]
    assert.isFalse(graph().improves(new Set(["a", "b"]), added(201)))
    assert.isFalse(graph().improves(new Set(["a", "b"]), added(200)))
    assert.isTrue(graph().improves(new Set(["a", "b"]), added(199)))
  })

  it("counts that a parent loses the child that paid for it", () => {
    // The new transaction earns more than "b" did, but "a" remains alone.
    assert.isFalse(graph().improves(new Set(["b"]), [{ key: "c", fee: 301, weight: 200, parents: [] }]))
    assert.isTrue(graph().improves(new Set(["b"]), [{ key: "c", fee: 401, weight: 100, parents: [] }]))
  })

  it("accepts parents among the added transactions", () => {
    const added: ReadonlyArray<GraphNode> = [
      { key: "p", fee: 0, weight: 50, parents: [] },
      { key: "c", fee: 450, weight: 50, parents: ["p", "a"] }
    ]
    assert.isTrue(graph().improves(new Set(["b"]), added))
  })

  it("agrees with the diagrams of all transactions before and after", () => {
    const entry = fc.record({ fee: fc.integer({ min: 0, max: 60 }), weight, picks })
    fc.assert(
      fc.property(steps, picks, entry, (all, gone, { fee, picks, weight }) => {
        const { graph, model } = built(all)
        // A diagram counts as level behind its end, which does not fit chunks with negative fees.
        fc.pre([...model.nodes.values()].every(({ fee }) => fee >= 0))
        const keys = [...model.nodes.keys()]
        const removed = model.reach(pickFrom(keys, gone), (key) => model.children(key))
        const parents = pickFrom(keys.filter((key) => !removed.has(key)), picks)
        const after = model.entries().filter(({ key }) => !removed.has(key))
        const added: GraphNode = { key: "new", fee, weight, parents }
        const order = compareDiagrams(graphChunks([...after, added]), graphChunks(model.entries()))
        assert.strictEqual(graph.improves(removed, [added]), order === "better")
      }),
      { numRuns: 300 }
    )
  })

  it("leaves the graph unchanged", () => {
    const one = graph()
    const before = one.chunks()
    one.improves(new Set(["b"]), [{ key: "c", fee: 5, weight: 1, parents: ["a"] }])
    assert.deepStrictEqual([one.size, one.has("c"), one.chunks()], [3, false, before])
  })
})
