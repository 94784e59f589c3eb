import type { ConsensusParams } from "../../consensus/params.ts"
import { cursorText } from "../../names/events/EventCursor.ts"
import { expiresAt, type NameEvent, type UndoneName } from "../../names/events/NameEvent.ts"
import type { NameEntry } from "../../names/NameEntry.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { namespaceOf } from "../../protocol/nameText.ts"
import type { ShapeContext } from "./context.ts"
import { nameOutputJson, nameTextJson } from "./name.ts"

/** Events of names as JSON. Names, values, addresses and hashes are as in the answers of methods. */

export interface EventContext extends ShapeContext {
  readonly params: ConsensusParams
}

const recordJson = (context: EventContext, record: NameEntry) => ({
  ...nameOutputJson(context, record),
  height: record.height,
  expires_at: expiresAt(record, context.params)
})

const undoneJson = (context: EventContext, { cursor, name, record }: UndoneName) => ({
  cursor: cursorText(cursor),
  ...nameTextJson(name, context.nameEncoding),
  namespace: namespaceOf(name),
  record: record === undefined ? null : recordJson(context, record)
})

const before = (context: EventContext, record: NameEntry | undefined) =>
  record === undefined ? null : recordJson(context, record)

export const nameEventJson = (context: EventContext, event: NameEvent) => {
  const place = { cursor: cursorText(event.cursor), height: event.height, hash: displayHash(event.hash) }
  if (event.type === "undone") {
    return { type: event.type, ...place, names: event.names.map((name) => undoneJson(context, name)) }
  }
  const { record } = event
  return {
    type: event.type,
    ...place,
    namespace: namespaceOf(record.name),
    ...nameTextJson(record.name, context.nameEncoding),
    blocks: event.type === "expiring" ? event.blocks : undefined,
    record: recordJson(context, record),
    before: event.type === "expired" || event.type === "expiring" ? undefined : before(context, event.before)
  }
}
