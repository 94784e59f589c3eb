import type { Contract } from "../method/contract.ts"
import * as every from "./every.ts"

const isContract = (value: unknown): value is Contract =>
  typeof value === "object" && value !== null && "summary" in value && "params" in value

/** In alphabetical order of their names. */
export const CONTRACTS: ReadonlyArray<Contract> = Object.values<unknown>(every)
  .filter(isContract)
  .sort((a, b) => a.name < b.name ? -1 : 1)
