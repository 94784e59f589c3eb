import { blockKey, type EventCursor, indexOf, readCursorText } from "../names/events/EventCursor.ts"
import { OPERATION_KINDS, type OperationKind } from "../names/events/kinds.ts"
import { isHex, parseDisplayHash } from "../protocol/bytes.ts"
import type { FeedLine } from "../rpc/eventFeed.ts"
import { type ExportedBlock, type ExportedOperation, MOST_NAME_BYTES } from "./rows.ts"

/** Parses the lines of a daemon's events (`form=bytes`, docs/events.md) into blocks and undos. */

export interface BlockStep {
  readonly type: "block"
  readonly block: ExportedBlock
  /** The height up to which only the last operations are known, if the block tells it. */
  readonly beginning: number | undefined
}

export type ExportStep =
  | BlockStep
  /** The blocks from this height on left the best chain. */
  | { readonly type: "undo"; readonly height: number; readonly cursor: string }

export const EXPORT_QUERY = new URLSearchParams({ form: "bytes", types: [...OPERATION_KINDS, "block"].join(",") })

const isKind = (type: unknown): type is OperationKind => OPERATION_KINDS.some((kind) => kind === type)

const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31

/** Seconds since 1970, as in block headers. */
const isTime = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32

const isHexText = (value: unknown): value is string => typeof value === "string" && isHex(value)

const isHash = (value: unknown): value is string => isHexText(value) && value.length === 64

const NOTHING: ReadonlyArray<ExportStep> = []

/** Collects lines until a block is complete. A foreign line makes it fail with `undefined`. */
export class BlockCollector {
  private operations: Array<ExportedOperation> = []
  private height = -1
  /** Names longer than the rules allow, which are not exported. */
  tooLong = 0

  /** The steps after a line, often none. `undefined`: the line is not svcd's. */
  take({ cursor, event }: FeedLine): ReadonlyArray<ExportStep> | undefined {
    const { type } = event
    // Without a cursor it is in no block.
    if (type === "position" || cursor === undefined) return NOTHING
    const place = readCursorText(cursor)
    if (place === undefined) return undefined
    if (isKind(type)) return this.operation(type, event, place) ? NOTHING : undefined
    const { hash, height, time } = event
    if (!isCount(height) || !isHash(hash)) return undefined
    const { operations } = this
    this.operations = []
    if (type === "undone") return [{ type: "undo", height, cursor }]
    if (type !== "block" || !isTime(time)) return undefined
    const beginning = place.block === blockKey(parseDisplayHash(hash) ?? new Uint8Array()) ? undefined : height + 1
    return [{ type: "block", block: { height, hash, time, cursor, operations }, beginning }]
  }

  // positional: runs for each operation of an export
  private operation(type: OperationKind, event: FeedLine["event"], place: EventCursor): boolean {
    const { height, name, script, txid, value, vout } = event
    if (!isCount(height) || !isHexText(name) || !isHexText(script) || !isHexText(value)) return false
    if (!isHash(txid) || !isCount(vout)) return false
    // The connection broke within a block that left the chain meanwhile.
    if (height !== this.height) this.operations = []
    this.height = height
    if (name.length > 2 * MOST_NAME_BYTES) this.tooLong++
    else this.operations.push({ type, number: indexOf(place.number), name, value, script, txid, vout })
    return true
  }
}
