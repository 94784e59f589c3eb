import { assert, describe, it } from "@effect/vitest"
import { Repeats } from "../../src/dns/Repeats.ts"

describe("Repeats", () => {
  it("knows a key again while few others came", () => {
    const repeats = new Repeats()
    const keys = Array.from({ length: 500 }, (_, i) => `\x04n${i}\x03bit\0`)
    const known = (list: ReadonlyArray<string>): number => list.filter((key) => repeats.isRepeated(key)).length
    assert.isBelow(known(keys), 10)
    assert.strictEqual(known(keys), keys.length)
  })

  it("takes few new keys for known ones, however many came before", () => {
    const repeats = new Repeats()
    let wrong = 0
    for (let i = 0; i < 100_000; i++) if (repeats.isRepeated(`\x0cnone-${i}\x03bit\0`)) wrong += 1
    assert.isBelow(wrong, 6_000)
  })

  it("forgets a key after thousands of others", () => {
    const repeats = new Repeats()
    repeats.isRepeated("first")
    let others = 0
    while (repeats.isRepeated(`${others}`) || others < 10_000) others += 1
    assert.isFalse(repeats.isRepeated("first"))
  })
})
