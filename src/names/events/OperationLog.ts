import type { Cursor } from "../../chain/write/Follower.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { NameEntry } from "../NameEntry.ts"
import type { OperationKind } from "./kinds.ts"

/** A NAME_FIRSTUPDATE or NAME_UPDATE by its number: height · 2^20 + its index in the block. */
export interface LoggedOperation {
  readonly id: number
  readonly kind: OperationKind
  readonly record: NameEntry
  /** The previous record of the name; `undefined` for the first known one, or if unwanted. */
  readonly before: NameEntry | undefined
}

/** Numbers of operations from `from` to below `to`. */
export interface OperationRange {
  readonly from: number
  readonly to: number
}

export interface OperationsWanted {
  readonly limit: number
  /** Whether the previous records are wanted too. */
  readonly before: boolean
}

/** The operations of one state of names, synchronously. Must not be used after the function that received it. */
export interface OperationLog {
  /** The last block of the state; `undefined` before the first. */
  readonly last: Cursor | undefined
  /** The height up to which only the newest operation on each name is known; -1 if all are. */
  readonly beginning: Height
  /** The operations of a range, in order. */
  readonly operations: (range: OperationRange, wanted: OperationsWanted) => ReadonlyArray<LoggedOperation>
  /** Counts a range by reading it: a day of the chain takes some milliseconds. */
  readonly count: (range: OperationRange) => number
  /** The operations of a range that are the newest on their name below the number `asOf`, in order. */
  readonly newest: (range: OperationRange, asOf: number) => ReadonlyArray<Pick<LoggedOperation, "id" | "record">>
  /** The record of a name before the operations from a number on. */
  readonly recordBelow: (name: Bytes, id: number) => NameEntry | undefined
}
