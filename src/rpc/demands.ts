import type * as Context from "effect/Context"
import { type Json, JsonObject } from "./json/json.ts"
import type { Lifecycle } from "./Lifecycle.ts"
import type { Demand, GivenParams, MethodTable } from "./method/methodTable.ts"

export const demandsWith = (lifecycle: Context.Tag.Service<Lifecycle>) => {
  /** An unknown method needs `admin`. While the node starts there are no methods, and every user gets -28. */
  const demandIn = (table: MethodTable, method: string, params: GivenParams): Demand => ({
    method,
    rights: table.get(method)?.rightsFor(params) ?? (lifecycle.phase()._tag === "WarmUp" ? [] : ["admin"])
  })

  /** For an element of a batch. */
  const demandsOf = (table: MethodTable, element: Json): ReadonlyArray<Demand> => {
    if (!(element instanceof JsonObject)) return []
    const method = element.get("method")
    const params = element.get("params")
    if (typeof method !== "string") return []
    return [demandIn(table, method, params instanceof JsonObject || Array.isArray(params) ? params : [])]
  }

  return { demandIn, demandsOf }
}
