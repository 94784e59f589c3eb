import { type Json, JsonObject } from "../json/json.ts"
import type { GivenParams } from "./methodTable.ts"
import type { Param, Params } from "./params.ts"
import { RpcError } from "./RpcError.ts"
import type { Refusable } from "./schema.ts"

/** Bounds a body's work before it begins. The bytes count as the caller's memory (`runCalls.ts`). */

/** For all calls of one body. */
export const MOST_WORK = 400_000_000

/** From this size on, a call waits for a place among heavy calls. */
export const HEAVY_WORK = 1_000_000

const hasWork = ({ item, members = {}, work }: Param<unknown>): boolean =>
  work !== undefined || Object.values(members).some(hasWork) || (item !== undefined && hasWork(item))

const workIn = ({ item, members = {}, work }: Param<unknown>, value: Json | undefined): number => {
  if (value === undefined || value === null) return 0
  let bytes = work?.(value) ?? 0
  if (Array.isArray(value) && item !== undefined) { for (const each of value) bytes += workIn(item, each) }
  if (!(value instanceof JsonObject)) return bytes
  for (const [name, member] of Object.entries(members)) bytes += workIn(member, value.get(name))
  return bytes
}

/** `undefined` if the work depends on the length of the parameters only. */
export const workReader = (
  params: Params,
  positionsOf: (given: GivenParams) => Refusable<ReadonlyArray<Json>>
): ((given: GivenParams) => number) | undefined => {
  const all = Object.values(params)
  if (!all.some(hasWork)) return undefined
  return (given) => {
    const positions = positionsOf(given)
    // The call will fail with this error.
    if (positions instanceof RpcError) return 0
    return all.reduce((bytes, param, at) => bytes + workIn(param, positions[at]), 0)
  }
}
