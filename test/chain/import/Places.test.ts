import { assert, describe, it } from "@effect/vitest"
import { Places } from "../../../src/chain/import/Places.ts"
import { headerId } from "../../../src/protocol/keys.ts"

describe("Places", () => {
  it("Places returns each record by its header, the numbers in order, and nothing for other headers", () => {
    const places = new Places()
    assert.deepStrictEqual(places.ids(), [])
    const offset = 2 ** 40
    // In any order, far apart, and beyond the room at the start.
    for (const id of [5_000, 3, 0, 1_023, 1_024]) {
      places.set(headerId(id), { file: id, offset: offset + id, size: id + 80 })
    }
    assert.strictEqual(places.size, 5)
    assert.deepStrictEqual(places.ids(), [0, 3, 1_023, 1_024, 5_000].map(headerId))
    for (const id of places.ids()) {
      assert.deepStrictEqual(places.get(id), { file: id, offset: offset + id, size: id + 80 })
    }
    for (const id of [1, 4_999, 5_001, 1_000_000]) assert.isUndefined(places.get(headerId(id)))
  })
})
