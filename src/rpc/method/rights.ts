import type { UserRight } from "../../config/accessKinds.ts"
import { type Json, JsonObject } from "../json/json.ts"
import type { Demand, GivenParams } from "./methodTable.ts"
import type { Param, Params } from "./params.ts"
import type { UserPermission } from "./permission.ts"
import { RpcError } from "./RpcError.ts"
import type { Refusable } from "./schema.ts"

/** A request needs the rights of its method and its guarded parameters. No right contains another (`-rpcrights`). */

const isGuarded = ({ item, members = {}, needs }: Param<unknown>): boolean =>
  needs !== undefined || Object.values(members).some(isGuarded) || (item !== undefined && isGuarded(item))

/** A value that stands for a missing one needs no right. */
function* rightsOfValue(param: Param<unknown>, value: Json | undefined): Generator<UserRight> {
  if (value === undefined || value === null) return
  if (param.needs !== undefined) yield param.needs
  if (Array.isArray(value)) {
    if (param.item !== undefined) { for (const item of value) yield* rightsOfValue(param.item, item) }
  } else if (value instanceof JsonObject) {
    for (const [name, member] of Object.entries(param.members ?? {})) yield* rightsOfValue(member, value.get(name))
  }
}

/** Does not look at the request if the method has no guarded parameters, as for nearly all. */
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
    // The call will fail with this error.
    if (positions instanceof RpcError) return own
    return [...new Set([right, ...all.flatMap((param, at) => [...rightsOfValue(param, positions[at])])])]
  }
}

/** Names the missing right in a 403 answer. Our clients only read this header. */
export const MISSING_RIGHT = "X-Svcd-Missing-Right"

/** `undefined` if permitted; empty if the user's list lacks the method. */
export const missingRights = (
  { methods, rights }: UserPermission,
  demand: Demand
): ReadonlyArray<UserRight> | undefined => {
  const missing = rights === undefined ? [] : demand.rights.filter((right) => !rights.has(right))
  if (missing.length > 0) return missing
  return methods === undefined || methods.has(demand.method) ? undefined : []
}
