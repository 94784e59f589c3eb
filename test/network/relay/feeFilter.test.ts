import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { type FeeFilterState, feeSteps, nextFeeFilter, roundFeeRate } from "../../../src/network/relay/feeFilter.ts"
import { MAX_MONEY } from "../../../src/protocol/amount.ts"
import { seeded } from "./random.ts"

const STEPS = feeSteps(100)

const FLOOR = 100_000

const MINUTE = 60_000

const needs = (rate: number, initialDownload = false) => ({ rate, floor: FLOOR, initialDownload })

const fresh = (): FeeFilterState => ({ sent: undefined, next: 0 })

describe("roundFeeRate", () => {
  it("the steps are 0, half the incremental rate, and increases of a tenth up to 10,000,000", () => {
    assert.deepStrictEqual(STEPS.slice(0, 3).map((step) => Math.round(step * 100) / 100), [0, 50, 55])
    assert.isAtMost(STEPS[STEPS.length - 1] ?? Infinity, 1e7)
    assert.isAbove((STEPS[STEPS.length - 1] ?? 0) * 1.1, 1e7)
    assert.strictEqual(feeSteps(1)[1], 1)
  })

  it("0 stays 0, and the maximum amount becomes the last step", () => {
    for (const random of [() => 0, () => 0.999]) {
      assert.strictEqual(roundFeeRate(STEPS, 0, random), 0)
      assert.strictEqual(roundFeeRate(STEPS, MAX_MONEY, random), Math.floor(STEPS[STEPS.length - 1] ?? 0))
    }
  })

  it("a rate is rounded up in one of three cases", () => {
    assert.strictEqual(roundFeeRate(STEPS, 52, () => 0), 55)
    assert.strictEqual(roundFeeRate(STEPS, 52, () => 0.333), 55)
    assert.strictEqual(roundFeeRate(STEPS, 52, () => 0.334), 50)
    assert.strictEqual(roundFeeRate(STEPS, 50, () => 0), 50)
    assert.strictEqual(roundFeeRate(STEPS, 50, () => 0.5), 0)
  })

  it("the rounded rate is within a step of the rate", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer({ min: 100, max: 9_000_000 }), FastCheck.nat(), (rate, seed) => {
        const rounded = roundFeeRate(STEPS, rate, seeded(seed))
        assert.isAtLeast(rounded, Math.floor(rate / 1.1) - 1)
        assert.isAtMost(rounded, rate * 1.1)
      })
    )
  })
})

describe("nextFeeFilter", () => {
  it("the filter is sent at once, and again only if it changed", () => {
    const state = fresh()
    assert.strictEqual(nextFeeFilter(state, needs(0), { steps: STEPS, now: 0, random: seeded(1) }), FLOOR)
    assert.isUndefined(nextFeeFilter(state, needs(0), { steps: STEPS, now: state.next, random: seeded(1) }))
    const next = state.next
    assert.isUndefined(nextFeeFilter(state, needs(500_000), { steps: STEPS, now: next - 1, random: () => 0.9 }))
    const told = nextFeeFilter(state, needs(500_000), { steps: STEPS, now: next, random: seeded(1) }) ?? 0
    assert.isAbove(told, 450_000)
  })

  it("the filter refuses all transactions during initial download, and changes as soon as it ends", () => {
    const state = fresh()
    const highest = Math.floor(STEPS[STEPS.length - 1] ?? 0)
    assert.strictEqual(nextFeeFilter(state, needs(0, true), { steps: STEPS, now: 0, random: seeded(1) }), highest)
    assert.isUndefined(nextFeeFilter(state, needs(0, true), { steps: STEPS, now: 1, random: seeded(1) }))
    assert.strictEqual(nextFeeFilter(state, needs(0), { steps: STEPS, now: 1, random: seeded(1) }), FLOOR)
  })

  it("the filter is checked within five minutes after a big change, and not after a small one", () => {
    for (const [rate, soon] of [[200_000, true], [133_333, false], [133_334, true], [110_000, false]] as const) {
      const state: FeeFilterState = { sent: FLOOR, next: 60 * MINUTE }
      assert.isUndefined(nextFeeFilter(state, needs(rate), { steps: STEPS, now: 0, random: seeded(1) }))
      assert.strictEqual(state.next <= 5 * MINUTE, soon, `${rate}`)
    }
    const state: FeeFilterState = { sent: 400_000, next: 60 * MINUTE }
    nextFeeFilter(state, needs(0), { steps: STEPS, now: 0, random: seeded(1) })
    assert.isAtMost(state.next, 5 * MINUTE)
  })

  it("the filter is checked every ten minutes on average", () => {
    const random = seeded(5)
    const state = fresh()
    const LOOKS = 2000
    for (let i = 0; i < LOOKS; i++) nextFeeFilter(state, needs(0), { steps: STEPS, now: state.next, random })
    assert.approximately(state.next / LOOKS, 10 * MINUTE, MINUTE)
  })
})
