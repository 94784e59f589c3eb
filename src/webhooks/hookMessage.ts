import { cursorText, type EventCursor, EventPhase, phaseOf } from "../names/events/EventCursor.ts"
import { type EventFilter, filtered } from "../names/events/EventFilter.ts"
import type { NameEvent } from "../names/events/NameEvent.ts"
import type { EventPage } from "../names/events/NameEvents.ts"
import { displayHash, equal } from "../protocol/bytes.ts"

/** The content of a message: the wanted events of one block, or the end of that block. */

/** Approximate events per message. A block with more has several messages. */
export const MESSAGE_EVENTS = 256

/** The events of one block in order, or one `undone` event. */
export interface HookDelivery {
  readonly isUndone: boolean
  /** After the last event, wanted or not. Does not depend on later blocks. */
  readonly next: EventCursor
  /** Whether the block may have further events, in the next message. */
  readonly more: boolean
  readonly events: readonly [NameEvent, ...ReadonlyArray<NameEvent>]
}

type Step =
  | { readonly type: "deliver"; readonly delivery: HookDelivery }
  /** No event before this place is wanted. */
  | { readonly type: "skip"; readonly to: EventCursor }

const isSameBlock = (a: NameEvent, b: NameEvent): boolean =>
  a.type !== "undone" && b.type !== "undone" && a.height === b.height && equal(a.hash, b.hash)

const firstBlock = (events: ReadonlyArray<NameEvent>): ReadonlyArray<NameEvent> => {
  const [first] = events
  if (first === undefined) return []
  const end = events.findIndex((event, i) => i > 0 && !isSameBlock(first, event))
  return events.slice(0, end < 0 ? events.length : end)
}

const isCut = ({ next }: EventPage): boolean => phaseOf(next.number) !== EventPhase.end

/**
 * The next message of a page. It has all events of its block that the page can have, and so is the same whenever read
 * again from the same cursor: after a block without wanted events, a page that ends within the next one is read again.
 */
export const stepOf = (page: EventPage, filter: EventFilter): Step => {
  let before: NameEvent | undefined
  for (let left = page.events; left.length > 0;) {
    const block = firstBlock(left)
    left = left.slice(block.length)
    const last = block.at(-1)
    const cut = left.length === 0 && isCut(page)
    const [first, ...others] = block.flatMap((event) => filtered(filter, event) ?? [])
    if (first !== undefined && last !== undefined) {
      if (cut && before !== undefined) return { type: "skip", to: before.cursor }
      return {
        type: "deliver",
        delivery: { isUndone: first.type === "undone", next: last.cursor, more: cut, events: [first, ...others] }
      }
    }
    before = last
  }
  return { type: "skip", to: page.next }
}

/** The body of a message. `textOf` writes an event as `/events` does. */
export const messageBody = (
  { events, isUndone, more, next }: HookDelivery,
  { hook, textOf }: { readonly hook: string; readonly textOf: (event: NameEvent) => string }
): string => {
  const [{ hash, height }] = events
  return `{"type":"${isUndone ? "names.undone" : "names.block"}","hook":"${hook}","height":${height},` +
    `"hash":"${displayHash(hash)}","cursor":"${cursorText(next)}","more":${more},` +
    `"events":[${events.map(textOf).join(",")}]}`
}

/** The body of a message that only tests a receiver. It has no event and moves no cursor. */
export const testBody = (hook: string): string => `{"type":"names.test","hook":"${hook}"}`

/** The unique id of a message: its hook, its number in the hook, and its block. */
export const messageId = (
  hook: string,
  sequence: number,
  { events: [{ hash }] }: Pick<HookDelivery, "events">
): string => `msg_${hook}_${String(sequence).padStart(8, "0")}_${displayHash(hash).slice(-16)}`
