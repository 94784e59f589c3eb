import { cursorText, type EventCursor } from "../../names/events/EventCursor.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"

/** How a stream of events is written: Server-Sent Events, or one JSON object a line. */
export interface EventForm {
  readonly type: string
  // positional: runs for each event
  readonly event: (json: string, cursor: EventCursor) => string
  /** Keeps the connection open, and moves the reader's cursor past events that the reader does not want. */
  readonly position: (cursor: EventCursor) => string
  /** The end of a stream. It keeps the reader's cursor: the answer to its next request says what is wrong. */
  readonly failure: (json: string) => string
}

/** Without `data` a browser stores the id, and reports no event. */
export const serverSentEvents: EventForm = {
  type: "text/event-stream; charset=utf-8",
  event: (json, cursor) => `id: ${cursorText(cursor)}\ndata: ${json}\n\n`,
  position: (cursor) => `: position\nid: ${cursorText(cursor)}\n\n`,
  failure: (json) => `data: ${json}\n\n`
}

export const jsonLines: EventForm = {
  type: "application/x-ndjson",
  event: (json) => `${json}\n`,
  position: (cursor) => `${encodeJson({ type: "position", cursor: cursorText(cursor) })}\n`,
  failure: (json) => `${json}\n`
}
