import { COIN } from "./amount.ts"

/** Costs of name operations before their transactions exist. Amounts are in the smallest unit. */

/** The lowest fee rate that the wallets of svcd and Namecoin Core use (`-mintxfee`), per 1000 virtual bytes. */
const LEAST_RATE = COIN / 1000

/** The default confirmation target of wallets, in blocks. */
export const FEE_TARGET = 6

/** Virtual bytes of a NAME_NEW with one input and change. */
const NEW_SIZE = 225

/** Virtual bytes of other operations with two inputs and change, without name and value. */
const OPERATION_SIZE = 420

export interface NameCosts {
  readonly commitment: number
  readonly operation: number
}

/** Estimates the fees for a name and value of `bytes` together, at the highest known rate. */
export const nameCosts = (bytes: number, rates: ReadonlyArray<number | undefined>): NameCosts => {
  const rate = Math.max(LEAST_RATE, ...rates.map((each = 0) => each))
  return {
    commitment: Math.ceil(rate * NEW_SIZE / 1000),
    operation: Math.ceil(rate * (OPERATION_SIZE + bytes) / 1000)
  }
}
