import { amountText, COIN, shortAmount, writtenAmount } from "../protocol/amount.ts"

/** Amounts that users write and read. RPC has numbers of NMC; the desk counts in the smallest unit. */

/** The units of an amount in an answer of RPC: exact, since a double holds all amounts with 8 decimals. */
export const unitsOf = (nmc: number): number => Math.round(nmc * COIN)

export const nmc = (amount: number): string => amountText(unitsOf(amount))

/** The amount that a user wrote, as RPC takes it, or what is wrong with it. */
export const amountGiven = (text: string): { readonly amount: string } | { readonly wrong: string } => {
  const written = writtenAmount(text)
  return "wrong" in written ? written : { amount: shortAmount(written.units) }
}
