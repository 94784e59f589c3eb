import { isMoney, MAX_MONEY, parseAmount, shortAmount } from "../protocol/amount.ts"

/** Amounts that users write and read. RPC has numbers of NMC; the desk counts in the smallest unit. */

const COIN = 100_000_000

/** The units of an amount in an answer of RPC: exact, since a double holds all amounts with 8 decimals. */
export const unitsOf = (nmc: number): number => Math.round(nmc * COIN)

export const nmc = (amount: number): string => `${shortAmount(unitsOf(amount))} NMC`

/** The amount that a user wrote, as RPC takes it, or what is wrong with it. */
export const amountGiven = (text: string): { readonly amount: string } | { readonly wrong: string } => {
  const plain = text.trim().replace(/\s*NMC$/i, "")
  if (plain.includes(",")) return { wrong: "Write the amount with a point, as 1.5, and without commas." }
  if (plain === "") return { wrong: "Write an amount, as 0.5." }
  if (/^-[\d.]/.test(plain)) return { wrong: "The amount is negative: an amount to pay is above zero." }
  if (!/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(plain)) {
    return { wrong: "This is no amount: write digits alone, with a point before the decimals, as 0.5." }
  }
  if (/\.\d{8}\d*[1-9]/.test(plain)) {
    return { wrong: "The amount has more than 8 decimals: the smallest one is 0.00000001." }
  }
  const units = parseAmount(plain.replace(/^\./, "0.").replace(/\.$/, ""))
  if (units === undefined || !isMoney(units)) {
    return { wrong: `The amount is more than all coins that can exist: ${shortAmount(MAX_MONEY)} NMC.` }
  }
  return units === 0 ? { wrong: "The amount is zero." } : { amount: shortAmount(units) }
}
