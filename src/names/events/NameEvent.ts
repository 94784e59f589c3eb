import { expiryHeight } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { Height, UnixTime } from "../../protocol/keys.ts"
import type { NameEntry } from "../NameEntry.ts"
import type { EventCursor } from "./EventCursor.ts"
import type { OperationKind } from "./kinds.ts"

/** The place of an event: its block, and the cursor after it. */
export interface Placed {
  readonly cursor: EventCursor
  readonly height: Height
  /** Of the block, in wire order. */
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

/** What an operation keeps of the record that it replaces. */
export interface KeptParts {
  readonly owner: boolean
  readonly value: boolean
}

/** The kind of an operation. `kept` is `undefined` if the replaced record is unknown. Transfers may change values. */
export const kindKeeping = (
  record: Pick<NameEntry, "op" | "value">,
  kept: KeptParts | undefined
): OperationKind => {
  if (record.op === "name_firstupdate") return "registered"
  if (kept === undefined) return "updated"
  if (!kept.owner) return "transferred"
  if (kept.value) return "renewed"
  return record.value.length === 0 ? "cleared" : "updated"
}

/** The same from the record that it replaces. */
export const operationKind = (record: NameEntry, before: NameEntry | undefined): OperationKind =>
  kindKeeping(
    record,
    before === undefined || record.op === "name_firstupdate"
      ? undefined
      : { owner: equal(record.address, before.address), value: equal(record.value, before.value) }
  )

/** Blocks before its expiry at which a name has a notice: eight, four, two weeks, a week, a day. */
const NOTICES = [8_064, 4_032, 2_016, 1_008, 144]

/** The same on regtest, where a name lives for 30 blocks. */
const REGTEST_NOTICES = [16, 8, 4, 2, 1]

export const noticesOf = ({ expiry }: ConsensusParams): ReadonlyArray<number> =>
  expiry === "regtest" ? REGTEST_NOTICES : NOTICES

/** The height from which on the record is expired. */
export const expiresAt = ({ height }: NameEntry, params: ConsensusParams): Height => expiryHeight(height, params)
