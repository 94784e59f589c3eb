import { amountText, shortAmount, writtenAmount } from "../protocol/amount.ts"
import type { Amount } from "../rpc/json/encodeJson.ts"

/** Amounts that users write and read. */

export const nmc = ({ units }: Amount): string => amountText(units)

/** The amount that a user wrote, as RPC takes it, or what is wrong with it. */
export const amountGiven = (
  text: string
): { readonly amount: string; readonly units: number } | { readonly wrong: string } => {
  const written = writtenAmount(text)
  return "wrong" in written ? written : { amount: shortAmount(written.units), units: written.units }
}
