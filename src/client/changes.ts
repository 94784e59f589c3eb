import type { ConsensusParams } from "../consensus/params.ts"
import { cursorText, type EventCursor } from "../names/events/EventCursor.ts"
import type { EventKind } from "../names/events/kinds.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { type ChainRecord, fixedPart, recordAt } from "./record.ts"
import { changeOf, type Freshness, type NameChange, type NameRecord } from "./records.ts"

interface Placed {
  readonly cursor: EventCursor
  readonly height: number
  /** In wire order. */
  readonly hash: Bytes
}

/** The common form of events in names.db and events read from blocks. */
export type ChainNameEvent =
  | Placed & {
    readonly type: Exclude<EventKind, "undone">
    readonly record: ChainRecord
    readonly before?: ChainRecord | undefined
    readonly blocks?: number
  }
  | Placed & {
    readonly type: "undone"
    readonly names: ReadonlyArray<{
      readonly cursor: EventCursor
      readonly name: Bytes
      readonly record: ChainRecord | undefined
    }>
  }

export interface ChangeContext {
  readonly params: ConsensusParams
  readonly asOf: (height: number) => Freshness
}

/** Omits names that are not text. */
export const changesOf = ({ asOf, params }: ChangeContext, event: ChainNameEvent): ReadonlyArray<NameChange> => {
  const shown = (record: ChainRecord | undefined, height: number): NameRecord | undefined => {
    const fixed = record === undefined ? undefined : fixedPart(record, params)
    return fixed === undefined ? undefined : recordAt(fixed, asOf(height), params)
  }
  const { height, type } = event
  const hash = displayHash(event.hash)
  if (event.type !== "undone") {
    const record = shown(event.record, height)
    if (record === undefined) return []
    const { before, blocks } = event
    const cursor = cursorText(event.cursor)
    return [
      changeOf({ type, name: record.name, record, before: shown(before, height), blocks, height, hash, cursor })
    ]
  }
  return event.names.flatMap(({ cursor, name, record }): ReadonlyArray<NameChange> => {
    const text = encodeText(name, "utf8")
    return text === undefined ? [] : [changeOf({
      type: "undone",
      name: text,
      record: shown(record, height - 1),
      before: undefined,
      blocks: undefined,
      height,
      hash,
      cursor: cursorText(cursor)
    })]
  })
}
