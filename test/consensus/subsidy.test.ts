import { assert, describe, it } from "@effect/vitest"
import { mainnetParams, regtestParams } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import { COIN, MAX_MONEY } from "../../src/protocol/amount.ts"

describe("blockSubsidy", () => {
  it.each([
    { height: 0, amount: 50 * COIN },
    { height: 209_999, amount: 50 * COIN },
    { height: 210_000, amount: 25 * COIN },
    { height: 419_999, amount: 25 * COIN },
    { height: 420_000, amount: 12.5 * COIN },
    { height: 630_000, amount: 6.25 * COIN },
    { height: 839_999, amount: 6.25 * COIN },
    { height: 840_000, amount: 3.125 * COIN },
    { height: 32 * 210_000, amount: 1 },
    { height: 33 * 210_000 - 1, amount: 1 },
    { height: 33 * 210_000, amount: 0 },
    { height: 64 * 210_000, amount: 0 },
    { height: 2 ** 31 - 1, amount: 0 }
  ])("1.1 mainnet at height $height: $amount", ({ amount, height }) => {
    assert.strictEqual(blockSubsidy(height, mainnetParams), amount)
  })

  it.each([
    { height: 149, amount: 50 * COIN },
    { height: 150, amount: 25 * COIN },
    { height: 600, amount: 3.125 * COIN }
  ])("1.1 regtest at height $height: $amount", ({ amount, height }) => {
    assert.strictEqual(blockSubsidy(height, regtestParams), amount)
  })

  it("all subsidies together are less than the maximum amount of money", () => {
    let total = 0
    for (let halvings = 0; halvings < 64; halvings++) {
      total += 210_000 * blockSubsidy(halvings * 210_000, mainnetParams)
    }
    assert.strictEqual(total, 2_099_999_997_690_000)
    assert.isBelow(total, MAX_MONEY)
  })
})
