import type { Psbt } from "../../protocol/psbt/Psbt.ts"
import { spentOutput } from "./psbtData.ts"
import type { PsbtReview } from "./psbtReview.ts"
import { warningText } from "./psbtReviewText.ts"
import { renewalProblem, type RenewalRules } from "./renewalRule.ts"

/** Warnings of PSBTs that no signature makes better. */
const NEVER: ReadonlySet<PsbtReview["warnings"][number]["code"]> = new Set([
  "hash-type",
  "odd-script",
  "two-coins",
  "spent-twice",
  "overspent"
])

/** Why a PSBT is not signed, whatever its owner says. */
export const signingProblem = ({ inputs, warnings }: PsbtReview): string | undefined => {
  const never = warnings.find(({ code }) => NEVER.has(code))
  if (never !== undefined) return warningText(never)
  return inputs.some(({ final, own, signed }) => own && !final && signed.state !== "complete")
    ? undefined
    : "it has no input of this wallet that lacks a signature"
}

/** Why it is more or less than a renewal. A machine that signs without an owner accepts no warning at all. */
export const psbtRenewalProblem = (psbt: Psbt, review: PsbtReview, rules: RenewalRules): string | undefined => {
  const [warning] = review.warnings
  if (warning !== undefined) return warningText(warning)
  const final = review.inputs.find((input) => input.final)
  if (final !== undefined) return `input ${final.index} is final already`
  return renewalProblem(psbt.transaction, psbt.inputs.map((_, index) => spentOutput(psbt, index)), rules)
}
