import { assert, describe, it } from "@effect/vitest"
import { AnswerCache, type KeptAnswer } from "../../src/dns/AnswerCache.ts"
import type { NameKey } from "../../src/protocol/keys.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { text } from "../names/blocks.ts"

const keyOf = (name: string): NameKey => nameKey(text(name))

const NOW = { height: 100, mayDeny: true }

const answer = (sources: ReadonlyArray<string>, more: Partial<KeptAnswer> = {}): KeptAnswer => ({
  body: { bytes: new Uint8Array(100), isCut: false },
  rcode: "NOERROR",
  isCut: false,
  denies: false,
  isOpen: false,
  soaBytes: 0,
  soaSerial: 0,
  sources: sources.map(keyOf),
  moment: 0,
  from: 0,
  to: Infinity,
  ...more
})

describe("AnswerCache", () => {
  it("drops of 10,000 answers only those of changed names", () => {
    const cache = new AnswerCache(100_000_000)
    for (let i = 0; i < 10_000; i++) cache.put(`q${i}`, answer([`d/${i}`, `dd/${i % 100}`]))
    cache.change(new Set([keyOf("d/5"), keyOf("dd/7"), keyOf("d/none")]), 1)
    const kept = Array.from({ length: 10_000 }, (_, i) => i).filter((i) => cache.get(`q${i}`, NOW) !== undefined)
    assert.deepStrictEqual(kept.length, 10_000 - 1 - 100)
    assert.isTrue(kept.every((i) => i !== 5 && i % 100 !== 7))
  })

  it("takes the answer that is made after a change, and none from before", () => {
    const cache = new AnswerCache(100_000)
    cache.change(new Set([keyOf("d/a")]), 1)
    cache.put("q", answer(["d/a"]))
    assert.isUndefined(cache.get("q", NOW))
    const later = answer(["d/a"], { moment: 1 })
    cache.put("q", later)
    assert.strictEqual(cache.get("q", NOW), later)
    cache.change("all", 2)
    assert.isUndefined(cache.get("q", NOW))
    cache.put("q", later)
    assert.isUndefined(cache.get("q", NOW))
  })

  it("gives an answer at the heights for which it holds", () => {
    const cache = new AnswerCache(100_000)
    cache.put("q", answer(["d/a"], { from: 50, to: 100 }))
    const at = (height: number | undefined) => cache.get("q", { height, mayDeny: true }) !== undefined
    assert.deepStrictEqual([49, 50, 99, 100, -1, undefined].map(at), [false, true, true, false, false, true])
  })

  it("gives no denial while names are incomplete", () => {
    const cache = new AnswerCache(100_000)
    cache.put("no", answer(["d/a"], { denies: true }))
    cache.put("yes", answer(["d/b"]))
    const at = (mayDeny: boolean) => ["no", "yes"].map((key) => cache.get(key, { height: 1, mayDeny }) !== undefined)
    assert.deepStrictEqual([at(false), at(true)], [[false, true], [true, true]])
  })

  it("keeps what is asked for while others come and go, within its bytes", () => {
    const limit = 200_000
    const cache = new AnswerCache(limit)
    cache.put("hot", answer(["d/hot"]))
    for (let i = 0; i < 5_000; i++) {
      cache.put(`q${i}`, answer([`d/${i}`]))
      assert.isDefined(cache.get("hot", NOW))
      assert.isAtMost(cache.bytes, limit)
    }
    assert.isUndefined(cache.get("q0", NOW))
    assert.isDefined(cache.get("q4999", NOW))
  })

  it("gives a set in turns that fills it to fifteen sixteenths", () => {
    const cache = new AnswerCache(1_000_000)
    cache.put("first", answer(["d/first"]))
    const fitting = Math.floor(1_000_000 / 16 * 15 / cache.bytes) - 1
    const keys = Array.from({ length: fitting }, (_, i) => `q${i + 100}`)
    for (const key of keys) cache.put(key, answer(["d/aaaaa"]))
    for (let turn = 0; turn < 3; turn++) for (const key of keys) assert.isDefined(cache.get(key, NOW), key)
  })

  it("begins again with more changes than it can remember", () => {
    const cache = new AnswerCache(100_000)
    cache.put("q", answer(["d/a"]))
    const many = (from: number) => new Set(Array.from({ length: 30_000 }, (_, i) => keyOf(`d/x${from + i}`)))
    cache.change(many(0), 1)
    assert.isDefined(cache.get("q", NOW))
    cache.change(many(30_000), 2)
    assert.isUndefined(cache.get("q", NOW))
  })
})
