import { expiryHeight } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { Height, UnixTime } from "../../protocol/keys.ts"
import { deedOf, type KeptByUpdate, type MineSides, NOT_MINE } from "../../protocol/operationWord.ts"
import type { NameEntry } from "../NameEntry.ts"
import type { EventCursor } from "./EventCursor.ts"
import type { OperationKind } from "./kinds.ts"

/** The place of an event: its block, and the cursor after it. */
export interface Placed {
  readonly cursor: EventCursor
  readonly height: Height
  /** Hash of the block, in wire order. */
  readonly hash: Bytes
}

export interface OperationEvent extends Placed {
  readonly type: OperationKind
  readonly record: NameEntry
  /** The record that it replaced; `undefined` for a registration, if unknown, or if unwanted. */
  readonly before: NameEntry | undefined
}

/** The name is expired from this block on. */
export interface ExpiredEvent extends Placed {
  readonly type: "expired"
  readonly record: NameEntry
}

/** The name expires in `blocks` blocks unless renewed. */
export interface ExpiringEvent extends Placed {
  readonly type: "expiring"
  readonly record: NameEntry
  readonly blocks: number
}

export interface UndoneName {
  /** After this name. */
  readonly cursor: EventCursor
  readonly name: Bytes
  /** The record without the blocks that left the best chain; `undefined` if there is none. */
  readonly record: NameEntry | undefined
  /** The owners that the undone operations of the block had set. */
  readonly owners: ReadonlyArray<Bytes>
}

/**
 * A block left the best chain: its height, hash and changed names. The cursor is after the previous block, or within
 * the names of the block if there are more.
 */
export interface UndoneEvent extends Placed {
  readonly type: "undone"
  readonly names: ReadonlyArray<UndoneName>
}

/** The end of a block of the best chain, even without names: all its events precede. */
export interface BlockEvent extends Placed {
  readonly type: "block"
  readonly time: UnixTime
}

export type NameEvent = OperationEvent | ExpiredEvent | ExpiringEvent | UndoneEvent | BlockEvent

/** The kind of an operation for a reader. A name that is given to the reader is a transfer, too. */
export const kindKeeping = (
  record: Pick<NameEntry, "op" | "value">,
  kept: KeptByUpdate | undefined,
  mine: MineSides = NOT_MINE
): OperationKind => {
  const deed = deedOf(record, kept, mine)
  return deed === "received" ? "transferred" : deed
}

/** The same from the record that it replaces. */
export const operationKind = (record: NameEntry, before: NameEntry | undefined): OperationKind =>
  kindKeeping(
    record,
    before === undefined || record.op === "name_firstupdate"
      ? undefined
      : { address: equal(record.address, before.address), value: equal(record.value, before.value) }
  )

/**
 * The event for a reader who knows some addresses: an update of the reader's name to another of them is not a transfer
 * (decision 0028).
 */
export const seenBy = (event: NameEvent, isMine: (owner: Bytes) => boolean): NameEvent => {
  if (event.type !== "transferred" || event.before === undefined) return event
  const { before, record } = event
  const mine = { before: isMine(before.address), after: isMine(record.address) }
  if (!mine.before || !mine.after) return event
  return { ...event, type: kindKeeping(record, { address: false, value: equal(record.value, before.value) }, mine) }
}

/** Blocks before its expiry at which a name has a notice: eight, four, two weeks, a week, a day. */
const NOTICES = [8_064, 4_032, 2_016, 1_008, 144]

/** The same on regtest, where a name lives for 30 blocks. */
const REGTEST_NOTICES = [16, 8, 4, 2, 1]

export const noticesOf = ({ expiry }: ConsensusParams): ReadonlyArray<number> =>
  expiry === "regtest" ? REGTEST_NOTICES : NOTICES

/** The height from which on the record is expired. */
export const expiresAt = ({ height }: NameEntry, params: ConsensusParams): Height => expiryHeight(height, params)
