import { assert, describe, it } from "@effect/vitest"
import { actOf, OUTLOOK_STATES } from "../../../src/base/outlookWords.ts"
import { dangerRemedy } from "../../../src/programs/cli/outlooks.ts"

const NAME = { text: "d/a", hex: "642f61" }

const remedyOf = (state: string): string =>
  dangerRemedy({ name: NAME, outlook: { state, urgency: "alarm", text: "", acknowledged: false } }, "svcd-cli")

describe("dangerRemedy", () => {
  it.each(OUTLOOK_STATES.filter((state) => actOf(state) !== undefined))(
    "says what to do about a name that is %s, and not only how to hide it",
    (state) => assert.notMatch(remedyOf(state), /^"svcd-cli dismiss/)
  )

  it("names the transaction of an unconfirmed renewal", () => {
    const outlook = { state: "pending", urgency: "alarm", text: "", acknowledged: false, txid: "ab".repeat(32) }
    assert.strictEqual(
      dangerRemedy({ name: NAME, outlook }, "svcd-cli"),
      `if it stays unconfirmed, "svcd-cli bumpfee ${"ab".repeat(32)}" raises the fee`
    )
  })

  it("ends the warning of a name that cannot be helped", () => {
    assert.strictEqual(remedyOf("taken"), "\"svcd-cli dismiss d/a\" ends this warning")
  })
})
