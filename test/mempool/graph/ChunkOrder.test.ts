import { assert, describe, it } from "@effect/vitest"
import { ChunkOrder, type RankedChunk } from "../../../src/mempool/graph/ChunkOrder.ts"

const ranked = (cluster: number, index: number, fee: number, weight = 1): RankedChunk => ({
  chunk: { keys: [`${cluster}.${index}`], fee, weight },
  cluster,
  index,
  isCurrent: true
})

const keys = (order: ChunkOrder): ReadonlyArray<string> => order.all().flatMap((chunk) => chunk.keys)

describe("ChunkOrder", () => {
  it("puts better rates first, then older clusters, then the lower index in the cluster", () => {
    const order = new ChunkOrder()
    order.add([ranked(2, 0, 5), ranked(2, 1, 5), ranked(2, 2, 1)])
    order.add([ranked(1, 0, 10, 2)])
    assert.deepStrictEqual(keys(order), ["1.0", "2.0", "2.1", "2.2"])
    order.add([ranked(0, 0, 9), ranked(0, 1, 0)])
    order.add([ranked(3, 0, 5)])
    assert.deepStrictEqual(keys(order), ["0.0", "1.0", "2.0", "2.1", "3.0", "2.2", "0.1"])
    assert.deepStrictEqual(order.worst()?.keys, ["0.1"])
  })

  it("leaves out outdated chunks, read before or not", () => {
    const order = new ChunkOrder()
    const [first, second, third] = [ranked(0, 0, 3), ranked(1, 0, 2), ranked(2, 0, 1)]
    order.add([first, third])
    assert.deepStrictEqual(keys(order), ["0.0", "2.0"])
    order.add([second])
    third.isCurrent = false
    second.isCurrent = false
    assert.deepStrictEqual(order.worst()?.keys, ["0.0"])
    assert.deepStrictEqual(keys(order), ["0.0"])
    first.isCurrent = false
    assert.isUndefined(order.worst())
    assert.deepStrictEqual(keys(order), [])
  })

  it("stays right after thousands of additions and removals", () => {
    const order = new ChunkOrder()
    let current: Array<RankedChunk> = []
    for (let i = 0; i < 5000; i++) {
      const chunk = ranked(i, 0, (i * 7919) % 1009)
      order.add([chunk])
      current.push(chunk)
      const gone = current.length > 100 ? current[(i * 31) % 100] : undefined
      if (gone === undefined) continue
      gone.isCurrent = false
      current = current.filter(({ isCurrent }) => isCurrent)
    }
    const expected = current.sort((a, b) => b.chunk.fee - a.chunk.fee || a.cluster - b.cluster)
    assert.deepStrictEqual(order.worst(), expected.at(-1)?.chunk)
    assert.deepStrictEqual(order.all(), expected.map(({ chunk }) => chunk))
  })
})
