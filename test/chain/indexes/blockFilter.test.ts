import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  encodeFilter,
  filterHash,
  filterHeader,
  filterScripts,
  intoRange,
  matchesFilter
} from "../../../src/chain/indexes/blockFilter.ts"
import { decodeBlock } from "../../../src/protocol/block.ts"
import { displayHash, fromHex, parseDisplayHash, toHex } from "../../../src/protocol/bytes.ts"
import { bytesOf } from "../../support/bytes.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"

type Vector = readonly [
  height: number,
  hash: string,
  block: string,
  spent: ReadonlyArray<string>,
  previous: string,
  filter: string,
  header: string,
  notes: string
]

const bytes = (hex: string): Uint8Array => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)
const hash = (hex: string): Uint8Array => parseDisplayHash(hex) ?? assert.fail(`no hash: ${hex}`)

const coin = (script: string) => ({ value: 0, script: bytes(script), height: 0, coinbase: false })

const scripts = FastCheck.uniqueArray(FastCheck.uint8Array({ minLength: 1, maxLength: 40 }), {
  maxLength: 60,
  selector: toHex
})

describe("basic block filters", () => {
  it.skipIf(!hasShared)("agree with the vectors of BIP 158", () => {
    const [, ...vectors] = fixtureJson<readonly [unknown, ...ReadonlyArray<Vector>]>("core/unit/blockfilters.json")
    assert.lengthOf(vectors, 10)
    for (const [, blockHash, hex, spent, previous, expected, header, notes] of vectors) {
      const block = decodeBlock(bytes(hex))
      const scripts = filterScripts(block, [spent.map(coin)])
      const filter = encodeFilter(scripts, hash(blockHash))
      assert.strictEqual(toHex(filter), expected, notes)
      const made = filterHeader({ hash: filterHash(filter), previous: hash(previous) })
      assert.strictEqual(displayHash(made), header, notes)
      for (const script of scripts) assert.isTrue(matchesFilter(filter, hash(blockHash), [script]))
    }
  })

  it("spread hashes over their range as whole numbers do", () => {
    const half = FastCheck.integer({ min: 0, max: 2 ** 32 - 1 })
    const range = FastCheck.integer({ min: 1, max: 2 ** 41 - 1 })
    FastCheck.assert(
      FastCheck.property(half, half, range, (low, high, range) => {
        const exact = (((BigInt(high) << 32n) | BigInt(low)) * BigInt(range)) >> 64n
        assert.strictEqual(intoRange([low, high], range), Number(exact))
      }),
      { numRuns: 2_000, examples: [[2 ** 32 - 1, 2 ** 32 - 1, 2 ** 41 - 1]] }
    )
  })

  it("match each of their scripts, alone or among others, and no set of none", () => {
    FastCheck.assert(FastCheck.property(scripts, bytesOf(32), scripts, (scripts, blockHash, others) => {
      const filter = encodeFilter(scripts, blockHash)
      for (const script of scripts) {
        assert.isTrue(matchesFilter(filter, blockHash, [script]))
        assert.isTrue(matchesFilter(filter, blockHash, [...others, script]))
      }
      assert.isFalse(matchesFilter(filter, blockHash, []))
    }))
  })

  it("match other scripts rarely", () => {
    const numbered = (i: number) => Uint8Array.of(i, i >> 8, 7)
    const blockHash = new Uint8Array(32).fill(3)
    const filter = encodeFilter(Array.from({ length: 1000 }, (_, i) => numbered(i)), blockHash)
    const wrong = Array.from({ length: 20_000 }, (_, i) => numbered(1000 + i)).filter((script) =>
      matchesFilter(filter, blockHash, [script])
    )
    assert.isBelow(wrong.length, 5)
  })

  it("an empty filter is one byte and matches nothing; a truncated one ends the search", () => {
    const blockHash = new Uint8Array(32)
    assert.deepStrictEqual([...encodeFilter([], blockHash)], [0])
    assert.isFalse(matchesFilter(Uint8Array.of(0), blockHash, [Uint8Array.of(1)]))
    assert.isFalse(matchesFilter(Uint8Array.of(5, 0xff), blockHash, [Uint8Array.of(1)]))
  })
})
