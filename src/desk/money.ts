import { amountText, shortAmount, writtenAmount } from "../protocol/amount.ts"
import type { Amount } from "../rpc/json/encodeJson.ts"

export const nmc = ({ units }: Amount): string => amountText(units)

/** As RPC takes it, or what is wrong with it. */
export const amountGiven = (
  text: string
): { readonly amount: string; readonly units: number } | { readonly wrong: string } => {
  const written = writtenAmount(text)
  return "wrong" in written ? written : { amount: shortAmount(written.units), units: written.units }
}
