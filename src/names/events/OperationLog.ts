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
  /** The record of the name before it; `undefined` for the first known one, or if it is not wanted. */
  readonly before: NameEntry | undefined
}

/** Numbers of operations from `from` to below `to`. */
export interface OperationRange {
  readonly from: number
  readonly to: number
}

export interface OperationsWanted {
  /** The largest number of operations. */
  readonly limit: number
  /** Whether the records before them are wanted too. */
  readonly before: boolean
}

/**
 * The operations of one state of names, without a wait. All reads of a log are of the same state: it must not be used
 * after the function that received it.
 */
export interface OperationLog {
  /** The last block of the state; `undefined` before the first. */
  readonly last: Cursor | undefined
  /** The height up to which only the newest operation on each name is known; -1 if all are. */
  readonly beginning: Height
  /** The operations of a range, in their order. */
  readonly operations: (range: OperationRange, wanted: OperationsWanted) => ReadonlyArray<LoggedOperation>
  /** How many operations a range has. It reads all of them: a day of the chain takes some milliseconds. */
  readonly count: (range: OperationRange) => number
  /** Those operations of a range that are the newest on their name below the number `asOf`, in their order. */
  readonly newest: (range: OperationRange, asOf: number) => ReadonlyArray<Pick<LoggedOperation, "id" | "record">>
  /** The record of a name without the operations from a number on. */
  readonly recordBelow: (name: Bytes, id: number) => NameEntry | undefined
}
