import { cursorText, type EventCursor } from "../../names/events/EventCursor.ts"
import { encodeJson } from "../../rpc/json/encodeJson.ts"

/** How a stream of events is written: Server-Sent Events, or one JSON object a line. */
export interface EventForm {
  readonly type: string
  // positional: runs for each event
  readonly event: (json: string, cursor: EventCursor) => string
  /** Keeps the connection open, and moves the reader's cursor past events that the reader does not want. */
  readonly position: (cursor: EventCursor) => string
  /**
   * What has no place, and keeps the reader's cursor: an event of the moment, or the end of a stream, whose reader gets what is
   * wrong with the answer to its next request.
   */
  readonly placeless: (json: string) => string
}

/** Without `data` a browser stores the id, and reports no event. */
export const serverSentEvents: EventForm = {
  type: "text/event-stream; charset=utf-8",
  event: (json, cursor) => `id: ${cursorText(cursor)}\ndata: ${json}\n\n`,
  position: (cursor) => `: position\nid: ${cursorText(cursor)}\n\n`,
  placeless: (json) => `data: ${json}\n\n`
}

export const jsonLines: EventForm = {
  type: "application/x-ndjson",
  event: (json) => `${json}\n`,
  position: (cursor) => `${encodeJson({ type: "position", cursor: cursorText(cursor) })}\n`,
  placeless: (json) => `${json}\n`
}
