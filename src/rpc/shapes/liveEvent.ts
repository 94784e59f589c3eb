import type { LiveEvent } from "../../names/events/LiveEvent.ts"
import { namespaceOf } from "../../protocol/nameText.ts"
import { encodeJson } from "../json/encodeJson.ts"
import type { ShapeContext } from "./context.ts"
import { nameOutputJson } from "./name.ts"
import { eventNameJson, eventValueJson } from "./nameEvent.ts"

/** Without a cursor. An operation has the members of `name_pending`. */
export const liveEventText = (context: ShapeContext, event: LiveEvent): string => {
  if (event.type === "pending_reset" || event.type === "synced") return encodeJson({ ...event })
  const { operation, type } = event
  return encodeJson({
    type,
    operation: operation.kind,
    namespace: namespaceOf(operation.name),
    ...nameOutputJson(context, operation),
    ...eventNameJson(operation.name, context.nameEncoding),
    ...eventValueJson(operation.value, context.valueEncoding),
    reason: type === "pending_dropped" ? event.reason : undefined
  })
}
