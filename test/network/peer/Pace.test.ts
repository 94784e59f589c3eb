import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { bytesAskedFor, MOST_EXPECTED, Pace } from "../../../src/network/peer/Pace.ts"
import { ItemType } from "../../../src/network/wire/messages/inv.ts"

describe("Pace", () => {
  it("lets half a second go at once, then a tenth of the time", () => {
    const pace = new Pace(1_000)
    pace.spent(500, 1_000)
    assert.strictEqual(pace.wait(1_000), 0)
    pace.spent(1, 1_000)
    assert.strictEqual(pace.wait(1_000), 10)
    assert.strictEqual(pace.wait(1_009), 1)
    assert.strictEqual(pace.wait(1_010), 0)
  })

  it("saves up no more than half a second", () => {
    const pace = new Pace(0)
    pace.spent(501, 1_000_000)
    assert.isAbove(pace.wait(1_000_000), 0)
  })

  it("keeps whoever waits as told to a tenth of the time", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.array(FastCheck.double({ min: 0.01, max: 50, noNaN: true }), { minLength: 50, maxLength: 300 }),
      (costs) => {
        const pace = new Pace(0)
        let now = 0
        let spent = 0
        for (const cost of costs) {
          now += pace.wait(now) + cost
          pace.spent(cost, now)
          spent += cost
        }
        assert.isAtMost(spent, 500 + 0.1 * now + 50)
      }
    ))
  })
})

describe("bytesAskedFor", () => {
  it("counts blocks and headers that answer, and nothing else", () => {
    const hash = new Uint8Array(32)
    const items = [{ type: ItemType.witnessBlock, hash }, { type: ItemType.wtx, hash }, { type: ItemType.block, hash }]
    assert.strictEqual(bytesAskedFor({ type: "getdata", items }), 2_000_000)
    assert.strictEqual(bytesAskedFor({ type: "getblocktxn", hash, indexes: [1] }), 1_000_000)
    assert.strictEqual(bytesAskedFor({ type: "getheaders", version: 1, locator: [], stop: hash }), 200_000)
    assert.strictEqual(bytesAskedFor({ type: "inv", items }), 0)
    assert.isAbove(MOST_EXPECTED, 16 * 4_000_000 - 1)
  })
})
