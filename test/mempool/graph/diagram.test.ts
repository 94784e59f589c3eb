import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { compareDiagrams, diagramOf, type DiagramOrder } from "../../../src/mempool/graph/diagram.ts"
import { compareRates, type FeeRate } from "../../../src/mempool/policy/feeRate.ts"

const chunks = (...parts: ReadonlyArray<readonly [fee: number, weight: number]>): ReadonlyArray<FeeRate> =>
  parts.map(([fee, weight]) => ({ fee, weight }))

/** Few and small numbers, so that points coincide often. */
const chunkLists = fc.array(
  fc.record({ fee: fc.integer({ min: -2, max: 12 }), weight: fc.integer({ min: 1, max: 4 }) }),
  { maxLength: 5 }
).map((list) => list.sort((a, b) => compareRates(b, a)))

/** The fee at a weight, times 12 so that it is a whole number for chunks of up to 4 units. */
const feeAt = (list: ReadonlyArray<FeeRate>, at: number): number => {
  let left = at
  let fee = 0
  for (const chunk of list) {
    const taken = Math.min(left, chunk.weight)
    fee += 12 * chunk.fee * taken / chunk.weight
    left -= taken
  }
  return fee
}

const naive = (a: ReadonlyArray<FeeRate>, b: ReadonlyArray<FeeRate>): DiagramOrder => {
  const differences = Array.from({ length: 21 }, (_, at) => feeAt(a, at) - feeAt(b, at))
  const better = differences.some((difference) => difference > 0)
  const worse = differences.some((difference) => difference < 0)
  return better ? worse ? "incomparable" : "better" : worse ? "worse" : "equal"
}

describe("diagramOf", () => {
  it("adds the chunks up, starting at the origin", () => {
    assert.deepStrictEqual(diagramOf([]), [{ weight: 0, fee: 0 }])
    assert.deepStrictEqual(diagramOf(chunks([5, 2], [3, 4])), [
      { weight: 0, fee: 0 },
      { weight: 2, fee: 5 },
      { weight: 6, fee: 8 }
    ])
  })
})

describe("compareDiagrams", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<FeeRate>, ReadonlyArray<FeeRate>, DiagramOrder]> = [
    ["two empty ones", [], [], "equal"],
    ["the same", chunks([5, 2]), chunks([5, 2]), "equal"],
    ["one line in two pieces", chunks([2, 2], [2, 2]), chunks([4, 4]), "equal"],
    ["more fee for the same weight", chunks([6, 2]), chunks([5, 2]), "better"],
    ["the same fee for less weight", chunks([5, 1]), chunks([5, 2]), "better"],
    ["something against nothing", chunks([1, 1]), [], "better"],
    ["nothing earned against nothing", chunks([0, 1]), [], "equal"],
    ["a loss against nothing", chunks([-1, 1]), [], "worse"],
    ["more fee at a lower rate", chunks([6, 3]), chunks([5, 2]), "incomparable"],
    ["a bend above a line", chunks([3, 1], [1, 3]), chunks([4, 4]), "better"],
    ["more at the end, the same before", chunks([5, 2], [1, 9]), chunks([5, 2]), "better"],
    ["lines that cross", chunks([9, 1], [1, 9]), chunks([12, 9]), "incomparable"]
  ]

  for (const [title, a, b, order] of cases) {
    it(`compares ${title}`, () => {
      assert.strictEqual(compareDiagrams(a, b), order)
      const back = order === "better" ? "worse" : order === "worse" ? "better" : order
      assert.strictEqual(compareDiagrams(b, a), back)
    })
  }

  it("agrees with a comparison at every unit of weight", () => {
    fc.assert(
      fc.property(chunkLists, chunkLists, (a, b) => {
        assert.strictEqual(compareDiagrams(a, b), naive(a, b))
      }),
      { numRuns: 1000 }
    )
  })

  it("distinguishes diagrams that differ by one unit of fee, far from the origin", () => {
    const base = chunks([10 ** 15, 400_000], [3 * 10 ** 14 + 1, 300_000])
    const more = chunks([10 ** 15, 400_000], [3 * 10 ** 14 + 2, 300_000])
    assert.strictEqual(compareDiagrams(more, base), "better")
    assert.strictEqual(compareDiagrams(base, base), "equal")
  })
})
