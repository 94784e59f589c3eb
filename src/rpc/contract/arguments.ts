import { argumentsOf } from "../method/argumentMarks.ts"
import { isShown } from "../method/contract.ts"
import { CONTRACTS } from "./all.ts"

/** The build replaces this module by its texts: svcd-cli then loads neither the contracts nor their schema library. */
export const ARGUMENTS = argumentsOf(CONTRACTS)

export const SHOWN_METHODS = CONTRACTS.filter(isShown).map(({ name }) => name)
