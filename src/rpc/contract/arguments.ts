import { argumentsOf } from "../method/argumentMarks.ts"
import { isShown } from "../method/contract.ts"
import { CONTRACTS } from "./all.ts"

/**
 * The arguments of all methods (`argumentMarks.ts`). The build puts the texts in place of this module: a command line that
 * starts many times loads neither the contracts nor the library of their schemas.
 */
export const ARGUMENTS = argumentsOf(CONTRACTS)

/** The methods that are not hidden, in alphabetical order. */
export const SHOWN_METHODS = CONTRACTS.filter(isShown).map(({ name }) => name)
