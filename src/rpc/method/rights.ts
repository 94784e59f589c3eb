import type { UserRight } from "../../config/accessKinds.ts"
import { type Json, JsonObject } from "../json/json.ts"
import type { Demand, GivenParams } from "./methodTable.ts"
import type { Param, Params } from "./params.ts"
import { RpcError } from "./RpcError.ts"
import type { Refusable } from "./schema.ts"

/**
 * The rights that a request needs (`-rpcrights`): that of its method, and that of each parameter which gives more than the
 * method alone, such as a payment beside an update of a name. A right does not contain another.
 */

/** Whether a parameter, or a part of it, needs a right of its own. */
const isGuarded = ({ item, members = {}, needs }: Param<unknown>): boolean =>
  needs !== undefined || Object.values(members).some(isGuarded) || (item !== undefined && isGuarded(item))

/** The rights of a given value. A value that stands for a missing one needs none. */
function* rightsOfValue(param: Param<unknown>, value: Json | undefined): Generator<UserRight> {
  if (value === undefined || value === null) return
  if (param.needs !== undefined) yield param.needs
  if (Array.isArray(value)) {
    if (param.item !== undefined) { for (const item of value) yield* rightsOfValue(param.item, item) }
  } else if (value instanceof JsonObject) {
    for (const [name, member] of Object.entries(param.members ?? {})) yield* rightsOfValue(member, value.get(name))
  }
}

/**
 * Returns the function that tells the rights which a request needs. For a method without guarded parameters, as nearly all
 * are, it does not look at the request.
 */
export const rightsReader = (
  right: UserRight,
  params: Params,
  positionsOf: (given: GivenParams) => Refusable<ReadonlyArray<Json>>
): (given: GivenParams) => ReadonlyArray<UserRight> => {
  const own = [right]
  const all = Object.values(params)
  if (!all.some(isGuarded)) return () => own
  return (given) => {
    const positions = positionsOf(given)
    // The call fails with this error, and does nothing.
    if (positions instanceof RpcError) return own
    return [...new Set([right, ...all.flatMap((param, at) => [...rightsOfValue(param, positions[at])])])]
  }
}

/** The header of an answer with 403 that names the missing right. Our clients read it, and no text. */
export const MISSING_RIGHT = "X-Svcd-Missing-Right"

/** What a user may do; `undefined` for a part without a limit. */
export interface UserPermission {
  /** The methods of the user's lists (`-rpcwhitelist`): as in the reference node, a list permits all parameters. */
  readonly methods: ReadonlySet<string> | undefined
  readonly rights: ReadonlySet<UserRight> | undefined
}

/** The rights that a user lacks for a request; none if the user's list lacks its method; `undefined` if the request is permitted. */
export const missingRights = (
  { methods, rights }: UserPermission,
  demand: Demand
): ReadonlyArray<UserRight> | undefined => {
  const missing = rights === undefined ? [] : demand.rights.filter((right) => !rights.has(right))
  if (missing.length > 0) return missing
  return methods === undefined || methods.has(demand.method) ? undefined : []
}
