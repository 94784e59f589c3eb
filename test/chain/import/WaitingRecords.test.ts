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
      for (let n = 0; n < 5_000; n++) assert.deepStrictEqual(records.take(hashOf(n)), [placeOf(n)])
      assert.strictEqual(records.size, 0)
      assert.isUndefined(records.first())
    }
  })
})
