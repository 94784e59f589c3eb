import { assert, describe, it } from "@effect/vitest"
import { CommitSignal } from "../../src/names/CommitSignal.ts"
import { type NameKey, nameKey } from "../../src/protocol/keys.ts"
import { text } from "./blocks.ts"

const named = (names: ReadonlyArray<string>): ReadonlyMap<NameKey, number> =>
  new Map(names.map((name, i) => [nameKey(text(name)), i]))

const many = (count: number, padding = ""): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => `d/${i}${padding}`)

describe("CommitSignal", () => {
  it("knows the names of the last commits, and not of those before", () => {
    const signal = new CommitSignal()
    signal.tell(named(["d/first"]))
    for (let n = 0; n < 16; n++) signal.tell(named([`d/${n % 3}`]))
    assert.deepStrictEqual(signal.touchedBehind(17), new Set())
    assert.deepStrictEqual(signal.touchedBehind(1), new Set(named(["d/0", "d/1", "d/2"]).keys()))
    assert.strictEqual(signal.touchedBehind(0), "all")
  })

  it.each([
    { what: "5,000 names", names: many(5_000), known: true },
    { what: "more names", names: many(5_001), known: false },
    { what: "names of less than 256 KiB", names: many(1_000, "x".repeat(250)), known: true },
    { what: "longer names", names: many(1_000, "x".repeat(300)), known: false }
  ])("remembers a commit with $what: $known", ({ known, names }) => {
    const signal = new CommitSignal()
    signal.tell(named(names))
    const touched = signal.touchedBehind(0)
    if (known) assert.deepStrictEqual(touched, new Set(named(names).keys()))
    else assert.strictEqual(touched, "all")
  })
})
