import { assert, describe, it } from "@effect/vitest"
import { RollingFilter } from "../../src/base/RollingFilter.ts"

const entry = (n: number): Uint8Array => Uint8Array.of(n >>> 24, n >>> 16, n >>> 8, n)

const newFilter = (capacity: number, falsePositives = 1e-6): RollingFilter =>
  new RollingFilter({ capacity, falsePositives, key: [1, 2, 3, 4] })

describe("RollingFilter", () => {
  it("the filter contains the last entries up to its capacity, and none from before half as many more", () => {
    for (let count = 1; count <= 40; count++) {
      const filter = newFilter(10)
      for (let n = 0; n < count; n++) filter.add(entry(n))
      for (let n = 0; n < count; n++) {
        if (n >= count - 10) assert.isTrue(filter.has(entry(n)), `${n} of ${count}`)
        else if (n < count - 15) assert.isFalse(filter.has(entry(n)), `${n} of ${count}`)
      }
    }
  })

  it("a repeated entry does not fill the filter", () => {
    const filter = newFilter(10)
    filter.add(entry(1))
    for (let n = 0; n < 1000; n++) filter.add(entry(2))
    assert.isTrue(filter.has(entry(1)))
  })

  it("the filter keeps an entry that is added again", () => {
    const filter = newFilter(10)
    for (let n = 0; n < 1000; n++) {
      filter.add(entry(n))
      if (n % 5 === 0) filter.add(entry(5_000))
    }
    assert.isTrue(filter.has(entry(5_000)))
  })

  it("a new or cleared filter is empty", () => {
    const filter = newFilter(10)
    assert.isFalse(filter.has(entry(1)))
    filter.add(entry(1))
    filter.clear()
    assert.isFalse(filter.has(entry(1)))
  })

  it("false positives are at most at the promised rate", () => {
    const filter = newFilter(5000, 0.001)
    for (let n = 0; n < 7500; n++) filter.add(entry(n))
    let wrong = 0
    for (let n = 100_000; n < 200_000; n++) if (filter.has(entry(n))) wrong++
    assert.isBelow(wrong, 160)
    assert.isAbove(wrong, 40)
  })

  it("another key gives other false positives", () => {
    const wrong = (key: readonly [number, number, number, number]): Array<number> => {
      const filter = new RollingFilter({ capacity: 100, falsePositives: 0.01, key })
      for (let n = 0; n < 150; n++) filter.add(entry(n))
      return Array.from({ length: 5000 }, (_, n) => n + 1000).filter((n) => filter.has(entry(n)))
    }
    assert.isAbove(wrong([1, 2, 3, 4]).length, 5)
    assert.notDeepEqual(wrong([1, 2, 3, 4]), wrong([1, 2, 3, 5]))
  })
})
