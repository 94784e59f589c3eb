import { type Json, JsonObject } from "../json/json.ts"
import type { GivenParams } from "./methodTable.ts"
import type { Param, Params } from "./params.ts"
import { RpcError } from "./RpcError.ts"
import type { Refusable } from "./schema.ts"

/**
 * Bounds the work that the numbers of a call ask for: the bytes that it takes are known before it begins. One bound holds for the
 * sum over a body, and the bytes are counted in the memory of the caller (`runCalls.ts`).
 */

/** Most bytes that the calls of one body may ask for. */
export const MOST_WORK = 400_000_000

/** Bytes from which a call waits for a place among the heavy ones. */
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

/** Returns the function that tells the bytes of a call; `undefined` for a method whose work follows the length of its parameters. */
export const workReader = (
  params: Params,
  positionsOf: (given: GivenParams) => Refusable<ReadonlyArray<Json>>
): ((given: GivenParams) => number) | undefined => {
  const all = Object.values(params)
  if (!all.some(hasWork)) return undefined
  return (given) => {
    const positions = positionsOf(given)
    // The call fails with this error.
    if (positions instanceof RpcError) return 0
    return all.reduce((bytes, param, at) => bytes + workIn(param, positions[at]), 0)
  }
}
