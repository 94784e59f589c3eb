import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Stream } from "effect"
import { compareNames } from "../../src/light/handover.ts"
import type { NameEntry } from "../../src/names/NameEntry.ts"
import { compare, toHex } from "../../src/protocol/bytes.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Records of some names: a name, and a number that stands for its operation. */
const recordsOf = (names: ReadonlyMap<string, number>): ReadonlyArray<NameEntry> =>
  [...names].map(([name, seed]): NameEntry => ({
    name: bytes(name),
    value: Uint8Array.of(seed),
    height: seed === 0 ? 1 : 100,
    txid: Uint8Array.of(seed),
    vout: 0,
    address: Uint8Array.of(1),
    op: "name_update",
    amount: 1
  })).sort((a, b) => compare(a.name, b.name))

const NAMES = FastCheck.array(
  FastCheck.tuple(FastCheck.string({ maxLength: 2 }), FastCheck.integer({ min: 0, max: 2 })),
  { maxLength: 20 }
).map((entries) => new Map(entries))

describe("compareNames", () => {
  it("finds the living names that one side lacks or has with another operation", () => {
    FastCheck.assert(FastCheck.property(NAMES, NAMES, (chain, window) => {
      const living = (names: ReadonlyMap<string, number>) => new Map([...names].filter(([, seed]) => seed > 0))
      const [inChain, inWindow] = [living(chain), living(window)]
      const all = [...new Set([...inChain.keys(), ...inWindow.keys()])]
      const expected = all.filter((name) => inChain.get(name) !== inWindow.get(name)).map((name) => toHex(bytes(name)))
      const { different, names } = Effect.runSync(compareNames({
        chain: Stream.fromIterable(recordsOf(chain)),
        window: Stream.fromIterable(recordsOf(window)),
        lives: ({ height }) => height > 1
      }))
      assert.strictEqual(names, all.length)
      assert.deepStrictEqual(different.map(toHex), expected.sort())
    }))
  })
})
