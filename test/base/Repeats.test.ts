import { assert, describe, it } from "@effect/vitest"
import { Repeats } from "../../src/base/Repeats.ts"

const MOST = 4_096

const keysOf = (label: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => `\x04${label}${i}\x03bit\0`)

const countKnown = (repeats: Repeats, keys: ReadonlyArray<string>): number =>
  keys.filter((key) => repeats.isRepeated(key)).length

describe("Repeats", () => {
  it("knows each of its keys again, however many came before", () => {
    for (let before = 0; before < 2 * MOST; before += 1_000) {
      const repeats = new Repeats(MOST)
      countKnown(repeats, keysOf("before", before))
      const keys = keysOf("n", MOST / 2)
      countKnown(repeats, keys)
      assert.strictEqual(countKnown(repeats, keys), keys.length)
    }
  })

  it("takes few new keys for known ones", () => {
    const repeats = new Repeats(MOST)
    assert.isBelow(countKnown(repeats, keysOf("few", 500)), 10)
    assert.isBelow(countKnown(repeats, keysOf("none-", 100_000)), 12_500)
  })

  it("forgets a key after thousands of others", () => {
    const repeats = new Repeats(MOST)
    repeats.isRepeated("first")
    countKnown(repeats, keysOf("n", 3 * MOST))
    assert.isFalse(repeats.isRepeated("first"))
  })
})
