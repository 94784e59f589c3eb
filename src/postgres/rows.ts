import { expiryHeight } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { OperationKind } from "../names/events/kinds.ts"
import { addressOf } from "../protocol/address.ts"
import { type Bytes, EMPTY, fromHex } from "../protocol/bytes.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { encodeText, namespaceOf } from "../protocol/nameText.ts"
import { orNothing } from "../protocol/orNothing.ts"
import { type SearchPair, searchPairs, searchTexts } from "../values/searchable.ts"
import { CopyRows } from "./CopyRows.ts"

/** Which texts PostgreSQL can store: as `text` and as `jsonb`. */

/** Bytes of a value that are stored as text and as JSON: the rules allow no more but in a coinbase. */
const MOST_BYTES = 1_024

const SURROGATE = /\p{Surrogate}/u
const SURROGATES = /\p{Surrogate}/gu

/** The bytes as text; `undefined` if they are not UTF-8, or have a NUL, which PostgreSQL cannot store in a text. */
export const storableText = (bytes: Bytes): string | undefined => {
  if (bytes.length > MOST_BYTES || bytes.includes(0)) return undefined
  return encodeText(bytes, "utf8")
}

/** Any text, with U+FFFD in place of what PostgreSQL cannot store. */
export const replacedText = (text: string): string => text.replaceAll("\0", "\ufffd").replaceAll(SURROGATES, "\ufffd")

/** Whether all texts of a parsed JSON value can be stored. */
const hasStorableTexts = (value: unknown): boolean => {
  const waiting: Array<unknown> = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === "string") {
      if (next.includes("\0") || SURROGATE.test(next)) return false
    } else if (typeof next === "object" && next !== null) {
      for (const [key, member] of Object.entries(next)) waiting.push(key, member)
    }
  }
  return true
}

const STRINGS = /"(?:[^"\\]|\\.)*"/g

/** An exponent of four digits or more: `numeric` ends at 131,072 digits before the point and 16,383 behind it. */
const LONG_EXPONENT = /e[+-]?0*[1-9]\d{3}/i

/**
 * A JSON text as it is stored in a `jsonb` column; `undefined` if PostgreSQL would refuse it. A column that is given in
 * any case must not stop the export, so this decides before.
 */
export const jsonbText = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const parsed: unknown = orNothing(() => JSON.parse(text))
  return parsed !== undefined && hasStorableTexts(parsed) && !LONG_EXPONENT.test(text.replaceAll(STRINGS, "\"\""))
    ? text
    : undefined
}

/** An operation as the event stream tells it: bytes in hexadecimal digits, the txid in display order. */
export interface ExportedOperation {
  readonly type: OperationKind
  readonly number: number
  readonly name: string
  readonly value: string
  readonly script: string
  readonly txid: string
  readonly vout: number
}

export interface ExportedBlock {
  readonly height: number
  readonly hash: string
  /** Seconds since 1970. */
  readonly time: number
  readonly cursor: string
  readonly operations: ReadonlyArray<ExportedOperation>
}

export type CurrentName = Omit<ExportedOperation, "type"> & { readonly height: number }

/** The rules allow 255 bytes; only a coinbase can have more, which no PostgreSQL index could hold. */
export const MOST_NAME_BYTES = 1_024

export class RowWriter {
  readonly params: ConsensusParams

  constructor(params: ConsensusParams) {
    this.params = params
  }

  private address(script: Bytes): string | undefined {
    return addressOf(this.params.network, addressScript(script))
  }

  block(out: CopyRows, { cursor, hash, height, operations, time }: ExportedBlock): void {
    out.row(5)
    out.integer(height)
    out.hex(hash)
    out.time(time)
    out.integer(operations.length)
    out.text(cursor)
  }

  operations(out: CopyRows, { height, operations }: ExportedBlock): void {
    for (const { name, number, script, txid, type, value, vout } of operations) {
      out.row(9)
      out.integer(height)
      out.integer(number)
      out.text(type)
      out.hex(name)
      out.hex(value)
      out.text(this.address(out.hexBytes(script)))
      out.hex(txid)
      out.integer(vout)
    }
  }

  name(out: CopyRows, { height, name, number, script, txid, value, vout }: CurrentName): void {
    out.row(14)
    const nameBytes = out.hexBytes(name)
    const nameText = storableText(nameBytes)
    const valueBytes = fromHex(value) ?? EMPTY
    const valueText = storableText(valueBytes)
    const [folded, foldedValue] = searchTexts(nameBytes, valueBytes)
    out.text(nameText)
    out.text(storableNamespace(namespaceOf(nameBytes)))
    out.integer(height)
    out.integer(number)
    out.integer(expiryHeight(height, this.params))
    out.hex(value)
    out.text(valueText)
    out.json(jsonbText(valueText))
    out.text(this.address(out.hexBytes(script)))
    out.hex(txid)
    out.integer(vout)
    out.text(searchedText(folded, foldedValue))
  }

  keys(out: CopyRows, { name, value }: Pick<CurrentName, "name" | "value">): void {
    for (const { key, value: text } of storedKeys(fromHex(value) ?? EMPTY)) {
      out.row(3)
      out.hex(name)
      out.text(key)
      out.text(text)
    }
  }
}

/** Consecutive blocks as the rows of one transaction. */
export class BlockRows {
  readonly blocks = new CopyRows()
  readonly operations = new CopyRows()
  /** The height up to which only the last operations are known, if a block tells it. */
  beginning: number | undefined
  last: Pick<ExportedBlock, "height" | "cursor"> | undefined
  blockCount = 0
  operationCount = 0
  private readonly rows: RowWriter

  constructor(rows: RowWriter) {
    this.rows = rows
  }

  add({ beginning, block }: { readonly block: ExportedBlock; readonly beginning: number | undefined }): void {
    this.rows.block(this.blocks, block)
    this.rows.operations(this.operations, block)
    this.beginning = beginning ?? this.beginning
    this.last = { height: block.height, cursor: block.cursor }
    this.blockCount++
    this.operationCount += block.operations.length
  }
}

/** For `name_keys`, each once. */
export const storedKeys = (value: Bytes): ReadonlyArray<SearchPair> => {
  const found = new Map<string, SearchPair>()
  for (const { key, value: text } of searchPairs(value)) {
    const stored = replacedText(text)
    found.set(`${key} ${stored}`, { key, value: stored })
  }
  return [...found.values()]
}

const storableNamespace = (text: string | undefined): string | undefined =>
  text === undefined || text.includes("\0") ? undefined : text

/** The column of a text search, which compares name and value once more, each alone. */
// positional: the name, then the value, as `searchTexts` returns them
export const searchedText = (name: string, value: string): string => replacedText(`${name}\n${value}`)
