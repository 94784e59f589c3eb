import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import {
  isAlarming,
  isLostState,
  OUTLOOK_STATES,
  outlookColumn,
  outlookText,
  type OwnOutlook,
  URGENCIES
} from "../../../src/base/outlookWords.ts"
import { EXPIRATION_DEPTH } from "../../../src/consensus/expiry.ts"
import { mainnetParams, regtestParams } from "../../../src/consensus/params.ts"
import { type NameFacts, type OutlookContext, outlookOf } from "../../../src/wallet/names/outlook.ts"
import { renewalWindow } from "../../../src/wallet/names/renewals.ts"

const FACTS: fc.Arbitrary<NameFacts> = fc.record({
  height: fc.integer({ min: 500_000, max: 600_000 }),
  mine: fc.boolean(),
  spendable: fc.boolean(),
  elsewhere: fc.boolean(),
  renewal: fc.constantFrom("on", "unset", "off"),
  pending: fc.constantFrom("none", "own", "away"),
  paid: fc.boolean(),
  failure: fc.option(fc.record({ reason: fc.string(), isFunds: fc.boolean() }), { nil: undefined }),
  since: fc.constantFrom("nobody", "other", "unknown")
})

const NOW = 1_800_000_000

const LOCK: fc.Arbitrary<OutlookContext["lock"]> = fc.oneof(
  fc.constant({ type: "open" as const }),
  fc.constant({ type: "locked" as const }),
  fc.record({ type: fc.constant("until" as const), until: fc.integer({ min: NOW, max: NOW + 40_000_000 }) })
)

const PARAMS = fc.constantFrom(mainnetParams, regtestParams)

const CASE = fc.record({
  facts: FACTS,
  lock: LOCK,
  params: PARAMS,
  share: fc.double({ min: -0.5, max: 1, noNaN: true })
})

/** The outlook of a name with a number of blocks left. */
const at = (
  facts: NameFacts,
  { left, lock, params }: Pick<OutlookContext, "lock" | "params"> & { left: number }
): OwnOutlook => {
  const depth = params === regtestParams ? 30 : EXPIRATION_DEPTH
  return outlookOf(facts, { height: facts.height + depth - left, params, lock, now: NOW })
}

const depthOf = (params: typeof mainnetParams): number => params === regtestParams ? 30 : EXPIRATION_DEPTH

const leftOf = ({ params, share }: { readonly params: typeof mainnetParams; readonly share: number }): number =>
  Math.round(share * depthOf(params))

describe("outlookOf", () => {
  it("a name of the wallet that nothing renews is alarming from the first block of the renewal window on", () => {
    fc.assert(
      fc.property(CASE, ({ facts, lock, params, share }) => {
        const left = leftOf({ params, share })
        const window = renewalWindow(facts.height + depthOf(params) - left, params)
        const { state, urgency } = at(facts, { left, lock, params })
        if (!facts.mine || facts.renewal === "off" || left > window || -left >= depthOf(params)) return
        const isMoving = state === "renews" || state === "pending" || state === "leaving"
        assert.isTrue(isMoving || isAlarming(urgency), `${state} ${urgency} with ${left} left`)
      }),
      { numRuns: 2_000 }
    )
  })

  it("\"renews\" is said only of a name that the wallet can renew now and when it is due", () => {
    fc.assert(
      fc.property(CASE, ({ facts, lock, params, share }) => {
        const left = leftOf({ params, share })
        const { state, urgency } = at(facts, { left, lock, params })
        if (state !== "renews") return
        assert.strictEqual(urgency, "ok")
        assert.isTrue(facts.mine && facts.spendable && facts.paid && facts.failure === undefined && left > 0)
        assert.strictEqual(facts.renewal, "on")
        assert.notStrictEqual(lock.type, "locked")
        const window = renewalWindow(facts.height + depthOf(params) - left, params)
        if (lock.type === "until" && left > window) {
          assert.isAtLeast(lock.until, NOW + (left - window) * params.targetSpacing)
        }
      }),
      { numRuns: 2_000 }
    )
  })

  it("without a change, a living name never becomes less urgent, and ends lost", () => {
    fc.assert(
      fc.property(FACTS, fc.constantFrom("open" as const, "locked" as const), (facts, type) => {
        // The owner means such a name to expire.
        if (facts.renewal === "off") return
        let before = 0
        for (let left = 30; left > -10; left--) {
          const { state, urgency } = at(facts, { left, lock: { type }, params: regtestParams })
          const rank = URGENCIES.indexOf(urgency)
          assert.isAtLeast(rank, before, `${state} with ${left} left`)
          assert.strictEqual(isLostState(state), facts.mine && left <= 0)
          before = rank
        }
      })
    )
  })

  it("a name that was given away is not lost", () => {
    fc.assert(
      fc.property(CASE, ({ facts, lock, params, share }) => {
        const given = at({ ...facts, mine: false }, { left: leftOf({ params, share }), lock, params })
        assert.deepStrictEqual([given.state, given.urgency], ["given", "ok"])
      })
    )
  })

  it("an unlocked time that ends before the renewal is a lock; one that lasts is none", () => {
    const facts: NameFacts = {
      height: 500_000,
      mine: true,
      spendable: true,
      elsewhere: false,
      renewal: "on",
      pending: "none",
      paid: true,
      failure: undefined,
      since: "unknown"
    }
    const due = NOW + (10_000 - 2_000) * 600
    const shown = (until: number) => at(facts, { left: 10_000, lock: { type: "until", until }, params: mainnetParams })
    assert.deepStrictEqual(shown(due - 1), { state: "locked", urgency: "notice", left: 10_000, until: due - 1 })
    assert.strictEqual(
      outlookText(shown(due - 1)),
      "would renew automatically, but the wallet locks on 2027-03-11, before the renewal is due"
    )
    assert.strictEqual(shown(due).state, "renews")
  })
})

describe("outlookText", () => {
  it("each state has its own words, and \"auto\" is only that of a name that the wallet renews", () => {
    const texts = OUTLOOK_STATES.map((state) => outlookText({ state, urgency: "ok", left: 3, reason: "why" }))
    assert.strictEqual(new Set(texts).size, OUTLOOK_STATES.length)
    assert.deepStrictEqual(OUTLOOK_STATES.filter((state) => outlookColumn(state) === "auto"), ["renews"])
    assert.strictEqual(new Set(OUTLOOK_STATES.map(outlookColumn)).size, OUTLOOK_STATES.length)
  })

  it("the words of an alarm say when the name expires, or that it has", () => {
    fc.assert(
      fc.property(CASE, ({ facts, lock, params, share }) => {
        const outlook = at(facts, { left: leftOf({ params, share }), lock, params })
        if (isAlarming(outlook.urgency)) assert.match(outlookText(outlook), /expire[sd]/)
      })
    )
  })
})
