import { argumentsOf } from "../method/argumentMarks.ts"
import { isShown } from "../method/contract.ts"
import { CONTRACTS } from "./all.ts"

/** The build replaces this module with its values, so that svcd-cli loads neither the contracts nor their schemas. */
export const ARGUMENTS = argumentsOf(CONTRACTS)

export const SHOWN_METHODS = CONTRACTS.filter(isShown).map(({ name }) => name)
