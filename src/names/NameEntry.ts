import { expirationDepth } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { NameSetting } from "../protocol/nameOperation.ts"

/** The current record of a name: the last operation that set it. It may be expired. */
export interface NameEntry {
  readonly name: Bytes
  readonly value: Bytes
  readonly height: Height
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** The owner's script: the output's script after the name prefix. */
  readonly address: Bytes
  readonly op: NameSetting["op"]
  /** Smallest units locked in the output. */
  readonly amount: number
}

export interface NameHistoryEntry extends NameEntry {
  /** The salt of a NAME_FIRSTUPDATE; `undefined` for a NAME_UPDATE. */
  readonly rand: Bytes | undefined
}

/** The tip and the rules that decide whether a name is expired. */
export interface NameClock {
  readonly tipHeight: Height
  readonly params: ConsensusParams
}

/** Blocks until a record expires; 0 or less if it has. */
export const blocksToExpiry = ({ height }: Pick<NameEntry, "height">, { params, tipHeight }: NameClock): number =>
  height + expirationDepth(tipHeight, params) - tipHeight

/**
 * An operation has the number height · 2^20 + its index among the block's operations. So numbers are in chain order,
 * and a height is a range of them. A block has far fewer than 2^20 name outputs, and the numbers are exact as doubles.
 */
export const OPERATIONS_PER_BLOCK = 0x100000

/**
 * The part of `operations_by_txid` (2^14 blocks) with an operation, in SQL. It must not change: a migration contains
 * it, and SQLite uses an index of expressions only for the same expression.
 */
export const TXID_PART = "id >> 34"

export const firstOperationAt = (height: Height): number => height * OPERATIONS_PER_BLOCK

export const heightOfOperation = (id: number): number => Math.floor(id / OPERATIONS_PER_BLOCK)

export const hashKey = (hash: Bytes): Bytes => hash.subarray(0, 8)

/** The stored columns of a record. `first` is 1 for a NAME_FIRSTUPDATE. */
export interface OperationRow {
  readonly id: number
  readonly txid: Buffer
  readonly vout: number
  readonly amount: number
  readonly value: Buffer
  readonly address: Buffer
  readonly first: number
}

/** In `name_keys`, the key of the names that a value imports. No search has it. */
export const IMPORT_KEY = "import"

export const RECORD_COLUMNS = "o.id, o.txid, o.vout, o.amount, o.value, o.address, o.rand IS NOT NULL AS first"

/** A row has a value that its table does not allow, so the file is damaged. */
export class WrongRow extends Error {
  override readonly name = "WrongRow"
}

/** The driver's buffer as plain bytes, whose `slice` copies, unlike a `Buffer`'s. Throws `WrongRow`. */
export const plain = (buffer: Buffer): Uint8Array => {
  if (!(buffer instanceof Uint8Array)) throw new WrongRow("a row has a value of the wrong type: bytes expected")
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}

const integer = (cell: number): number => {
  if (!Number.isSafeInteger(cell)) throw new WrongRow("a row has a value of the wrong type: number expected")
  return cell
}

/** The columns of a record, with plain bytes. */
export interface RecordColumns {
  readonly name: Bytes
  readonly id: number
  readonly txid: Bytes
  readonly vout: number
  readonly amount: number
  readonly value: Bytes
  readonly address: Bytes
  readonly first: number
}

/** Throws `WrongRow`. */
export const recordEntryOf = ({ address, amount, first, id, name, txid, value, vout }: RecordColumns): NameEntry => ({
  name,
  value,
  height: heightOfOperation(integer(id)),
  txid,
  vout: integer(vout),
  address,
  op: first === 1 ? "name_firstupdate" : "name_update",
  amount: integer(amount)
})

/** Throws `WrongRow`. */
export const nameEntryOf = (name: Bytes, row: OperationRow): NameEntry =>
  recordEntryOf({ ...row, name, value: plain(row.value), txid: plain(row.txid), address: plain(row.address) })
