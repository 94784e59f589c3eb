import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { equal } from "../../../src/protocol/bytes.ts"
import { decodePsbt } from "../../../src/protocol/psbt/decode.ts"
import { PSBT_MAGIC } from "../../../src/protocol/psbt/fields.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { psbtRenewalProblem, signingProblem } from "../../../src/wallet/signing/psbtRenewal.ts"
import { reviewPsbt } from "../../../src/wallet/signing/psbtReview.ts"
import { nameText, reviewLines, warningText } from "../../../src/wallet/signing/psbtReviewText.ts"
import { isSignature, parsePsbtSteps } from "../../../src/wallet/signing/psbtText.ts"
import { MAX_RENEWAL_FEE } from "../../../src/wallet/signing/renewalRule.ts"
import { text } from "../../support/regtest.ts"
import { type Attack, attackBytes, ATTACKS } from "../../support/renewalAttacks.ts"
import { coldRing, keysOf, NAME, OWNERS, type Renewal, renewalOf, update } from "../../support/renewalPsbts.ts"

const decoded = (bytes: Uint8Array) =>
  equal(bytes.subarray(0, PSBT_MAGIC.length), PSBT_MAGIC)
    ? decodePsbt(bytes, { isSignature })
    : runSteps(parsePsbtSteps(Buffer.from(bytes).toString("latin1")))

const rulesOf = ({ ring }: Renewal) => ({
  isOwn: (script: Uint8Array) => ring.own(script) !== undefined,
  maxFee: MAX_RENEWAL_FEE
})

/** Whether the review names the attack, and a machine that renews refuses it. Returns what is missing. */
const faultOf = (attack: Attack, renewal: Renewal): string | undefined => {
  const what = `${renewal.kind}: ${attack.what}`
  const read = decoded(attackBytes(attack, renewal))
  const { said } = attack
  if ("error" in read) {
    return typeof said === "object" && "error" in said && said.error.test(read.error)
      ? undefined
      : `${what}: ${read.error}`
  }
  const review = reviewPsbt(read.psbt, keysOf(renewal.ring))
  const lines = reviewLines(review)
  if (typeof said === "object" && "error" in said) return `${what}: is read`
  if (typeof said === "string") {
    const warning = review.warnings.find(({ code }) => code === said)
    if (warning === undefined) return `${what}: not ${said}, but ${review.warnings.map(({ code }) => code).join(", ")}`
    if (!lines.includes(`WARNING: ${warningText(warning)}`)) return `${what}: is not shown`
  } else if (!lines.some((line) => said.line.test(line))) {
    return `${what}: is not shown in\n${lines.join("\n")}`
  }
  if (psbtRenewalProblem(read.psbt, review, rulesOf(renewal)) === undefined) return `${what}: counts as a renewal`
  return (said === "hash-type" || said === "odd-script") && signingProblem(review) === undefined
    ? `${what}: is signed on request`
    : undefined
}

describe("the review of a PSBT", () => {
  it.effect.each(OWNERS.map((kind) => ({ kind })))(
    "has nothing to say against a renewal of $kind coins",
    ({ kind }) =>
      Effect.gen(function*() {
        const ring = yield* coldRing
        const renewal = renewalOf(ring, kind)
        const review = reviewPsbt(renewal.psbt, keysOf(ring))
        const lines = reviewLines(review)
        assert.deepStrictEqual(review.warnings, [])
        assert.isUndefined(psbtRenewalProblem(renewal.psbt, review, rulesOf(renewal)))
        assert.isUndefined(signingProblem(review))
        assert.deepStrictEqual(lines.slice(0, 2), [
          "Renews d/cold",
          "  Value       {\"ip\":\"192.0.2.1\"}  (unchanged)"
        ])
        const keys = kind === "2-of-3" ? " (2 of 3 keys)" : ""
        const need = kind === "2-of-3" ? 2 : 1
        assert.strictEqual(lines[2], `  Owner       this wallet, ${review.after?.address}${keys}`)
        assert.include(lines, "  Fee         0.0004 NMC")
        assert.include(
          lines,
          `  Input 0     the name d/cold, of this wallet${keys.replace(/[ (]+(.*)\)/, ", $1")}: 0 of ${need} signatures`
        )
      })
  )

  it.effect("names each of more than 200 malicious PSBTs, and none of them is a renewal", () =>
    Effect.gen(function*() {
      const ring = yield* coldRing
      const renewals = OWNERS.map((kind) => renewalOf(ring, kind))
      const cases = renewals.flatMap((renewal) => ATTACKS.map((attack) => ({ attack, renewal })))
      assert.isAtLeast(cases.length, 200)
      assert.deepStrictEqual(cases.flatMap(({ attack, renewal }) => faultOf(attack, renewal) ?? []), [])
    }))

  it.effect("names two of them at once", () =>
    Effect.gen(function*() {
      const ring = yield* coldRing
      const renewal = renewalOf(ring, "bech32")
      const [first] = ATTACKS.filter(({ what }) => what === "a hidden output")
      const [second] = ATTACKS.filter(({ what }) => what === "proprietary records")
      const made = first?.make(renewal)
      if (made === undefined || made instanceof Uint8Array) return assert.fail()
      const both = second?.make({ ...renewal, psbt: made })
      if (both === undefined || both instanceof Uint8Array) return assert.fail()
      const { warnings } = reviewPsbt(both, keysOf(ring))
      assert.deepStrictEqual(warnings.map(({ code }) => code), ["stranger", "unknown-records"])
    }))
})

describe("names in a review", () => {
  it.each([
    ["d/cold", "d/cold"],
    ["d/a b", "\"d/a b\" (0x642f612062)"],
    ["d/<b>", "d/<b>"],
    ["d/\u202egnp", "\"d/\\u202egnp\" (0x642fe280ae676e70)"],
    ["d/x\nOwner", "\"d/x\\nOwner\" (0x642f780a4f776e6572)"],
    ["d/\u0430", "\"d/\u0430\" (0x642fd0b0)"],
    ["d/\\u202e", "\"d/\\\\u202e\" (0x642f5c7532303265)"]
  ])("%j is %s", (name, shown) => {
    assert.strictEqual(nameText(text(name)), shown)
  })

  it("are bytes if they are not UTF-8", () => {
    assert.strictEqual(nameText(Uint8Array.of(0x64, 0x2f, 0xff)), "0x642fff")
  })

  it.effect("and values stay in their lines", () =>
    Effect.gen(function*() {
      const ring = yield* coldRing
      const hostile = "x\n  Fee         0 NMC\u202e\u001b[2J"
      const { psbt } = renewalOf(ring, "bech32", { before: update(NAME, "{}"), after: update(NAME, hostile) })
      const lines = reviewLines(reviewPsbt(psbt, keysOf(ring)))
      assert.deepStrictEqual(lines.slice(0, 3), [
        "Changes d/cold",
        "  Old value   {}",
        "  New value   x\\u000a  Fee         0 NMC\\u202e\\u001b[2J"
      ])
    }))
})
