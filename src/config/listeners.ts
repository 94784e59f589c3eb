import { type Address, formatHostPort, overlap } from "../base/addresses.ts"
import type { Issue } from "./decode.ts"
import type { OptionName } from "./options.ts"

/** An address to listen on, and the option that names it. */
export interface Listener<Name extends OptionName = OptionName> {
  readonly name: Name
  readonly address: Address
}

/** Issues for listeners with the address of an earlier listener or of one in `others`. */
export const takenIssues = (
  listeners: ReadonlyArray<Listener>,
  others: ReadonlyArray<Listener> = []
): ReadonlyArray<Issue> =>
  listeners.flatMap(({ address, name }, at): ReadonlyArray<Issue> => {
    const taken = [...others, ...listeners.slice(0, at)].find((other) => overlap(other.address, address))
    if (taken === undefined) return []
    return [[name, `${formatHostPort(address)} is taken by ${taken.name} ${formatHostPort(taken.address)}`]]
  })
