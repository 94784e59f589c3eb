import type { ConsensusParams } from "../consensus/params.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { NameChange } from "../protocol/nameOperation.ts"

/** What the chain says about a name: the operation that set it last. Expired or not; the height tells. */
export interface NameRecord {
  readonly name: Bytes
  readonly value: Bytes
  /** Of the block with the operation. */
  readonly height: number
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** The owner's script: what stands behind the name prefix of the output. */
  readonly address: Bytes
  readonly op: NameChange["op"]
  /** Smallest units locked in the output. */
  readonly amount: number
}

/** An operation in the history of a name. */
export interface NameHistoryEntry extends NameRecord {
  /** The salt of a NAME_FIRSTUPDATE; `undefined` for a NAME_UPDATE. */
  readonly rand: Bytes | undefined
}

/** The moment from which the age of names is judged. */
export interface NameClock {
  readonly tipHeight: number
  readonly params: ConsensusParams
}

/**
 * An operation has the number height · 2^20 + its place among the operations of the block: numbers are in chain order,
 * and those of a height are a range. A block has room for far fewer than 2^20 name outputs, and heights stay exact.
 */
export const OPERATIONS_PER_BLOCK = 0x100000

/** The smallest number that an operation at a height can have. */
export const firstOperationAt = (height: number): number => height * OPERATIONS_PER_BLOCK

/** The height of the operation with a number. */
export const heightOfOperation = (id: number): number => Math.floor(id / OPERATIONS_PER_BLOCK)

/** The part of a name's hash that is stored. */
export const hashKey = (hash: Bytes): Bytes => hash.subarray(0, 8)

/** The columns of a record as they are stored. `first` is 1 for a NAME_FIRSTUPDATE. */
export interface OperationRow {
  readonly id: number
  readonly txid: Buffer
  readonly vout: number
  readonly amount: number
  readonly value: Buffer
  readonly address: Buffer
  readonly first: number
}

/** What a query has to select of `operations o` for `recordOf`. */
export const RECORD_COLUMNS = "o.id, o.txid, o.vout, o.amount, o.value, o.address, o.rand IS NOT NULL AS first"

/** A row does not hold what its table allows: the file is damaged. */
export class WrongRow extends Error {
  override readonly name = "WrongRow"
}

/** The driver's buffer as plain bytes: a `Buffer`'s `slice` is no copy, as callers expect. Throws `WrongRow`. */
export const plain = (buffer: Buffer): Uint8Array => {
  if (!(buffer instanceof Uint8Array)) throw new WrongRow("a row has something else where bytes belong")
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}

const integer = (cell: number): number => {
  if (!Number.isSafeInteger(cell)) throw new WrongRow("a row has something else where a number belongs")
  return cell
}

/** Throws `WrongRow`. */
export const recordOf = (name: Bytes, row: OperationRow): NameRecord => ({
  name,
  value: plain(row.value),
  height: heightOfOperation(integer(row.id)),
  txid: plain(row.txid),
  vout: integer(row.vout),
  address: plain(row.address),
  op: row.first === 1 ? "name_firstupdate" : "name_update",
  amount: integer(row.amount)
})
