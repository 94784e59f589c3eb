import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { CACHED_RECORD_BYTES, recordBytes, RecordCache } from "../../src/names/RecordCache.ts"

describe("RecordCache", () => {
  it("the cache returns a value until it is replaced", () => {
    const cache = new RecordCache<number>(4)
    assert.isUndefined(cache.get("a"))
    cache.put("a", 1)
    assert.strictEqual(cache.get("a"), 1)
    cache.put("a", 2)
    assert.strictEqual(cache.get("a"), 2)
  })

  it("the cache keeps requested values, and drops others", () => {
    const cache = new RecordCache<number>(8)
    cache.put("hot", 0)
    for (let i = 0; i < 100; i++) {
      cache.put(`cold ${i}`, i)
      assert.strictEqual(cache.get("hot"), 0, `after ${i}`)
    }
    assert.isUndefined(cache.get("cold 0"))
    assert.strictEqual(cache.get("cold 99"), 99)
  })

  it.each([0, 1, 2, 7, 8])("the cache never exceeds a limit of %d, rounded up to even", (limit) => {
    const cache = new RecordCache<number>(limit)
    for (let i = 0; i < 50; i++) {
      cache.put(`${i}`, i)
      cache.get(`${i - 2}`)
      assert.isAtMost(cache.size, limit + limit % 2)
    }
    assert.strictEqual(cache.get("49"), limit === 0 ? undefined : 49)
  })

  it("during a write the cache accepts nothing, and has dropped the touched values", () => {
    const cache = new RecordCache<number>(4)
    cache.put("touched", 1)
    cache.put("other", 1)
    cache.freeze(["touched"])
    assert.isUndefined(cache.get("touched"))
    assert.strictEqual(cache.get("other"), 1)
    cache.put("touched", 1)
    assert.isUndefined(cache.get("touched"))
    cache.thaw()
    cache.put("touched", 2)
    assert.strictEqual(cache.get("touched"), 2)
  })

  it("a write that may touch any key clears the cache", () => {
    const cache = new RecordCache<number>(4)
    for (const key of ["a", "b", "c"]) cache.put(key, 1)
    cache.freeze("all")
    assert.deepStrictEqual(["a", "b", "c"].map((key) => cache.get(key)), [undefined, undefined, undefined])
    assert.strictEqual(cache.size, 0)
  })

  it.prop(
    "the cache never exceeds its bytes, and keeps the last value that fits in half of them",
    {
      sizes: FastCheck.array(FastCheck.record({ key: FastCheck.constantFrom(..."abcdefgh"), size: FastCheck.nat(60) }))
    },
    ({ sizes }) => {
      const cache = new RecordCache<number>(1_000, { bytes: 100, sizeOf: (size) => size })
      for (const [i, { key, size }] of sizes.entries()) {
        if (i % 7 === 6) cache.freeze([key])
        cache.thaw()
        cache.put(key, size)
        assert.strictEqual(cache.get(key), size <= 50 ? size : undefined)
        assert.isAtMost(cache.bytes, 100)
      }
    }
  )

  it("a record counts with its name, value and script", () => {
    const record = { name: new Uint8Array(20), value: new Uint8Array(500), address: new Uint8Array(25) }
    const bare = { name: new Uint8Array(), value: new Uint8Array(), address: new Uint8Array() }
    assert.isAtLeast(recordBytes(record) - recordBytes(bare), 2 * 545)
    // Records of the usual size fill the cache of NameDb by their number, large ones by their bytes.
    assert.isAtLeast(CACHED_RECORD_BYTES / recordBytes({ ...record, value: new Uint8Array(100) }), 10_000)
  })

  const step = FastCheck.record({
    does: FastCheck.constantFrom("ask", "write"),
    key: FastCheck.constantFrom(..."abcdefgh")
  })

  it.prop(
    "the cache never returns a value that a write changed",
    { limit: FastCheck.nat(8), steps: FastCheck.array(step) },
    (given) => {
      const store = new Map<string, number>()
      const cache = new RecordCache<number>(given.limit)
      const ask = (key: string): number => {
        const found = cache.get(key)
        if (found !== undefined) return found
        const stored = store.get(key) ?? 0
        cache.put(key, stored)
        return stored
      }
      given.steps.forEach(({ does, key }, i) => {
        if (does === "write") {
          cache.freeze([key])
          ask(key)
          store.set(key, i + 1)
          ask(key)
          cache.thaw()
        }
        assert.strictEqual(ask(key), store.get(key) ?? 0)
      })
    }
  )
})
