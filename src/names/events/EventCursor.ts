import { type Bytes, toHex } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { CursorUnusable } from "../errors.ts"
import { OPERATIONS_PER_BLOCK } from "../NameEntry.ts"

/**
 * A place in the log of name events, after an event of a block. As text: `a` for the version, the height, the number
 * within the block, and the block: `a0832100.01048593.0123456789abcdef`. Texts of one version sort by place. A fourth
 * part is the `base`. Clients keep the text without reading it.
 */
export interface EventCursor {
  /** -1 before the first block. */
  readonly height: Height
  /**
   * The number of the event within the block: its phase, then the number of its operation within that operation's
   * block. So no other events need to be counted.
   */
  readonly number: number
  /** The first 8 bytes of the block's hash in wire order, in hex; empty before the first block. */
  readonly block: string
  /**
   * While blocks are undone, the height down to which they are. Names undone so far have the records of that block, so
   * the others must follow, even if the chain changes back.
   */
  readonly base?: Height | undefined
}

/**
 * The phases of a block, in event order. A name expires before the operations of the block, as the same block may
 * register it again.
 */
export const EventPhase = {
  expired: 0,
  operations: 1,
  /** The first notice of an expiry. One phase per notice. */
  notices: 2,
  /** After all events of the block. */
  end: 8,
  /** The block is being undone: its names are, up to this one. */
  undone: 9
} as const

/** The number of operation `index` of a block in a phase. */
export const numberIn = ({ index, phase }: { readonly phase: number; readonly index: number }): number =>
  phase * OPERATIONS_PER_BLOCK + index

export const phaseOf = (number: number): number => Math.floor(number / OPERATIONS_PER_BLOCK)

export const indexOf = (number: number): number => number % OPERATIONS_PER_BLOCK

export const blockKey = (hash: Bytes): string => toHex(hash.subarray(0, 8))

/** Before the first event. */
export const BEGINNING: EventCursor = { height: -1, number: numberIn({ phase: EventPhase.end, index: 0 }), block: "" }

/** After all events of a block. */
export const endOf = ({ hash, height }: { readonly height: Height; readonly hash: Bytes }): EventCursor => ({
  height,
  number: numberIn({ phase: EventPhase.end, index: 0 }),
  block: blockKey(hash)
})

const VERSION = "a"
const HEIGHT_DIGITS = 7
const NUMBER_DIGITS = 8
const PATTERN = /^a([0-9]{7})\.([0-9]{8})\.([0-9a-f]{16})(?:\.([0-9]{7}))?$/

const heightText = (height: Height): string => String(height).padStart(HEIGHT_DIGITS, "0")

export const cursorText = ({ base, block, height, number }: EventCursor): string => {
  if (height < 0) return "0"
  const place = `${VERSION}${heightText(height)}.${String(number).padStart(NUMBER_DIGITS, "0")}.${block}`
  return base === undefined ? place : `${place}.${heightText(base)}`
}

/** Reads the text of a cursor; `undefined` for any other text. `0` is the beginning. */
export const readCursorText = (text: string): EventCursor | undefined => {
  if (text === "0") return BEGINNING
  const [, height, number, block, base] = PATTERN.exec(text) ?? []
  if (height === undefined || number === undefined || block === undefined) return undefined
  const place = { height: Number(height), number: Number(number), block }
  const found = base === undefined ? place : { ...place, base: Number(base) }
  const isBelow = base === undefined || Number(base) < found.height
  return phaseOf(found.number) <= EventPhase.undone && isBelow ? found : undefined
}

/** Blocks by which the node that a reader comes from may be ahead of this one if both are synced. */
export const MOST_AHEAD = 6

/** Whether the block of an unusable cursor may still arrive, so that the reader keeps its state and retries. */
export const mayCome = (
  { cursor, height, why }: Pick<CursorUnusable, "cursor" | "height" | "why">,
  { syncing }: { readonly syncing: boolean }
): boolean => {
  if (why !== "future") return false
  const lead = (readCursorText(cursor)?.height ?? Infinity) - (height ?? -1)
  return syncing || lead <= MOST_AHEAD
}
