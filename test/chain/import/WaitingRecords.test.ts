import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import type { RecordPlace } from "../../../src/chain/import/Places.ts"
import { WaitingRecords } from "../../../src/chain/import/WaitingRecords.ts"
import { hash256 } from "../../../src/protocol/hash.ts"

const hashOf = (n: number): Uint8Array => hash256(Uint8Array.of(n, n >> 8, n >> 16))

const placeOf = (n: number): RecordPlace => ({ file: n % 3, offset: 2 ** 33 + n, size: 80 + n })

const inOrder = (places: ReadonlyArray<RecordPlace>): Array<RecordPlace> =>
  [...places].sort((a, b) => a.file - b.file || a.offset - b.offset)

describe("WaitingRecords", () => {
  it("returns what a map of arrays returns, whatever is added and taken", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.record({ parent: FastCheck.nat({ max: 9 }), takes: FastCheck.boolean() }), {
          maxLength: 200
        }),
        (steps) => {
          const records = new WaitingRecords()
          const model = new Map<number, Array<RecordPlace>>()
          for (const [n, { parent, takes }] of steps.entries()) {
            if (takes) {
              assert.deepStrictEqual(records.take(hashOf(parent)), inOrder(model.get(parent) ?? []))
              model.delete(parent)
            } else {
              records.add(hashOf(parent), placeOf(n))
              model.set(parent, [...model.get(parent) ?? [], placeOf(n)])
            }
            const all = [...model.values()].flat()
            assert.strictEqual(records.size, all.length)
            assert.deepStrictEqual(records.first(), inOrder(all)[0])
          }
        }
      ),
      { numRuns: 50 }
    ))

  it("grows, and uses the room of what was taken", () => {
    const records = new WaitingRecords()
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 5_000; n++) records.add(hashOf(n), placeOf(n))
      assert.strictEqual(records.size, 5_000)
      // Keys have 32 bits: in one run of some 300, two of the hashes have the same.
      const taken = new Set<number>()
      for (let n = 0; n < 5_000; n++) {
        for (const { offset } of records.take(hashOf(n))) taken.add(offset)
        assert.isTrue(taken.has(placeOf(n).offset))
      }
      assert.strictEqual(taken.size, 5_000)
      assert.strictEqual(records.size, 0)
      assert.isUndefined(records.first())
    }
  })

  it("returns the records of a parent whose key is the same too", () => {
    const parent = hashOf(1)
    // The change of word 7 undoes that of word 6, with any multipliers.
    const other = parent.slice()
    const view = new DataView(other.buffer)
    view.setUint32(24, view.getUint32(24, true) ^ 0x8000_0000, true)
    view.setUint32(28, view.getUint32(28, true) ^ 0x8001_0000, true)
    const records = new WaitingRecords()
    records.add(parent, placeOf(1))
    records.add(other, placeOf(2))
    assert.deepStrictEqual(records.take(parent), inOrder([placeOf(1), placeOf(2)]))
    assert.deepStrictEqual(records.take(other), [])
  })
})
