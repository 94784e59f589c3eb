import { COIN } from "./amount.ts"

/** What operations on names cost, as far as it can be known before their transactions exist. Amounts are in the smallest unit. */

/** The lowest fee rate that the wallets of svcd and Namecoin Core use (`-mintxfee`), per 1000 virtual bytes. */
const LEAST_RATE = COIN / 1000

/** Blocks within which wallets want their transactions confirmed by default. */
export const FEE_TARGET = 6

/** Virtual bytes of a NAME_NEW with one input and change. */
const NEW_SIZE = 225

/** Virtual bytes of another operation with two inputs and change, without name and value. */
const OPERATION_SIZE = 420

export interface NameCosts {
  /** Fee of NAME_NEW. */
  readonly commitment: number
  /** Fee of any other operation on the name. */
  readonly operation: number
}

/** Estimates the fees for a name and a value of so many bytes together, at the highest of these rates that is known. */
export const nameCosts = (bytes: number, rates: ReadonlyArray<number | undefined>): NameCosts => {
  const rate = Math.max(LEAST_RATE, ...rates.map((each = 0) => each))
  return {
    commitment: Math.ceil(rate * NEW_SIZE / 1000),
    operation: Math.ceil(rate * (OPERATION_SIZE + bytes) / 1000)
  }
}
