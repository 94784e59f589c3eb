import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { missedRule, RULES } from "../../../src/chain/state/missedRule.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { Activation } from "../../../src/consensus/readerParams.ts"

const TIP = 20

const activation: FastCheck.Arbitrary<Activation> = FastCheck.record({
  bip16: FastCheck.constantFrom(0, 1, TIP - 1, TIP, TIP + 1, TIP + 5, Infinity),
  bip34: FastCheck.constantFrom(0, 1, TIP - 1, TIP, TIP + 1, TIP + 5, Infinity),
  bip65: FastCheck.nat(TIP + 6),
  bip66: FastCheck.nat(TIP + 6),
  csv: FastCheck.nat(TIP + 6),
  segwit: FastCheck.constantFrom(0, 1, 2, TIP, TIP + 1, Infinity),
  taproot: FastCheck.constantFrom(0, 1, TIP, TIP + 1, Infinity)
})

/** Each rule on its own, block by block: whether this start applies it where it was not applied. */
const missedBy = (rule: keyof Activation, upTo: number, before: Activation, now: Activation): boolean => {
  for (let height = 1; height <= upTo; height++) if (height >= now[rule] && height < before[rule]) return true
  return false
}

describe("missedRule", () => {
  it("names the first rule that a checked block missed, and none if there is no such block", () => {
    const checked = FastCheck.record({ tip: FastCheck.nat(TIP + 6), beyond: FastCheck.nat(4) })
    let refused = 0
    FastCheck.assert(
      FastCheck.property(activation, activation, checked, (before, now, { beyond, tip }) => {
        const headers = tip + beyond
        const upTo = (rule: keyof Activation) => rule === "bip16" || rule === "taproot" ? tip : headers
        const wanted = RULES.find((rule) => missedBy(rule, upTo(rule), before, now))
        assert.strictEqual(missedRule({ tip, headers }, { before, now })?.rule, wanted)
        if (wanted !== undefined) refused++
        // What was allowed stays allowed for the same rules, and a later beginning is always allowed.
        assert.isUndefined(missedRule({ tip, headers }, { before: now, now }))
      }),
      { numRuns: 2_000 }
    )
    assert.isAbove(refused, 200)
  })

  it("says both heights and the blocks between, for each rule", () => {
    for (const rule of RULES) {
      const before = { ...regtestParams.activation, [rule]: 10 }
      const said = (now: number, tip: number) =>
        missedRule({ tip, headers: tip }, { before, now: { ...before, [rule]: now } })
      const reason = "it was applied from height 10 on, and this start applies it from height 5 on"
      assert.deepStrictEqual(said(5, 8), { rule, reason: `${reason}: blocks 5 to 8 may break it` })
      assert.deepStrictEqual(said(5, 5), { rule, reason: `${reason}: block 5 may break it` })
      assert.deepStrictEqual(said(5, 100), { rule, reason: `${reason}: blocks 5 to 9 may break it` })
      assert.isUndefined(said(5, 4))
      assert.isUndefined(said(11, 100))
    }
  })

  it("knows every rule with a height", () => {
    assert.sameMembers([...RULES], Object.keys(regtestParams.activation))
  })
})
