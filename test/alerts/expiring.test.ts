import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { byExpiry, type ExpiringRecord, FirstToExpire, placeText, readPlace } from "../../src/alerts/expiring.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { blocksToExpiry } from "../../src/names/NameEntry.ts"

const TIP = 100
const clock = { params: regtestParams, tipHeight: TIP }

const recordOf = ([height, name]: readonly [number, Uint8Array]): ExpiringRecord => ({
  name,
  height,
  value: new Uint8Array(0),
  txid: new Uint8Array(32),
  vout: 0,
  address: new Uint8Array(0)
})

const records = FastCheck.uniqueArray(
  FastCheck.tuple(FastCheck.integer({ min: 60, max: TIP }), FastCheck.uint8Array({ maxLength: 3 })),
  { maxLength: 300, selector: ([, name]) => name.join() }
)

describe("FirstToExpire", () => {
  it.prop("lists each name of the range once, in order, over pages of any size", {
    given: records,
    limit: FastCheck.integer({ min: 1, max: 20 }),
    blocks: FastCheck.integer({ min: 1, max: 40 })
  }, ({ blocks, given, limit }) => {
    const all = given.map(recordOf)
    const expected = all.filter((record) => {
      const left = record.height + 30 - TIP
      return left > 0 && left <= blocks
    }).sort(byExpiry)
    const listed: Array<ExpiringRecord> = []
    for (let cursor: string | undefined = undefined;;) {
      const first: FirstToExpire = new FirstToExpire({
        clock,
        blocks,
        after: cursor === undefined ? undefined : readPlace(cursor)
      }, limit)
      for (const record of all) first.add(record)
      const { names, next } = first.page()
      assert.isAtMost(names.length, limit)
      for (const { left, record } of names) {
        assert.strictEqual(left, blocksToExpiry(record, clock))
        listed.push(record)
      }
      if (next === undefined) break
      cursor = next
    }
    assert.deepStrictEqual(listed, expected)
  })
})

describe("readPlace", () => {
  it.prop("reads what placeText writes", {
    height: FastCheck.nat({ max: 9_999_999 }),
    name: FastCheck.uint8Array({ maxLength: 255 })
  }, (place) => {
    assert.deepStrictEqual(readPlace(placeText(place)), place)
  })

  it.each(["", "1.5", "1.x.00", "1.5.0", "2.5.00", "1.5.00.00", "1.-5.00"])("refuses %j", (text) => {
    assert.isUndefined(readPlace(text))
  })
})
