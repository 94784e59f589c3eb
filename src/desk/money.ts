import { isMoney, parseAmount, shortAmount } from "../protocol/amount.ts"

/** Amounts that users write and read. RPC has numbers of NMC; the desk counts in the smallest unit. */

const COIN = 100_000_000

/** The units of an amount in an answer of RPC: exact, since a double holds all amounts with 8 decimals. */
export const unitsOf = (nmc: number): number => Math.round(nmc * COIN)

export const nmc = (amount: number): string => `${shortAmount(unitsOf(amount))} NMC`

/** The amount that a user wrote, as RPC takes it, or what is wrong with it. */
export const amountGiven = (text: string): { readonly amount: string } | { readonly wrong: string } => {
  const plain = text.trim().replace(/\s*NMC$/i, "")
  if (plain.includes(",")) return { wrong: "Write the amount with a point, as 1.5, and without commas." }
  const units = /^\d{1,8}(?:\.\d*)?$|^\.\d+$/.test(plain)
    ? parseAmount(plain.replace(/^\./, "0.").replace(/\.$/, ""))
    : undefined
  if (units === undefined || !isMoney(units)) {
    return { wrong: "This is no amount, as 0.5 is: it has at most 8 decimals." }
  }
  return units === 0 ? { wrong: "The amount is zero." } : { amount: shortAmount(units) }
}
