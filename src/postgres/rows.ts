import { expiryHeight } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import type { OperationKind } from "../names/events/NameEvent.ts"
import { addressOf } from "../protocol/address.ts"
import { EMPTY, fromHex } from "../protocol/bytes.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { namespaceOf } from "../protocol/nameText.ts"
import { searchPairs, searchTexts } from "../values/searchable.ts"
import { jsonbText, replacedText, storableText } from "./jsonText.ts"

/** The rows of the tables, as lines of COPY's text format. */

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

/** A block of the best chain with its operations. */
export interface ExportedBlock {
  readonly height: number
  readonly hash: string
  /** Seconds since 1970. */
  readonly time: number
  /** Behind the block. */
  readonly cursor: string
  readonly operations: ReadonlyArray<ExportedOperation>
}

/** The last operation on a name, as its row is made from it. */
export type CurrentName = Omit<ExportedOperation, "type"> & { readonly height: number }

/**
 * Bytes of a name. The rules allow 255; only the coinbase of a block can have more, which no client can ask for, and
 * which an index of PostgreSQL could not take.
 */
export const MOST_NAME_BYTES = 1_024

const SPECIAL = /[\\\n\r\t]/
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/** A text of COPY's text format; `undefined` is NULL. */
export const copyText = (text: string | undefined): string => {
  if (text === undefined) return "\\N"
  return SPECIAL.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character) : text
}

const copyBytes = (hex: string): string => `\\\\x${hex}`

/** Scripts whose addresses are kept: owners come again and again, and an address takes two hashes to write. */
const KEPT_ADDRESSES = 50_000

/** Writes rows. It remembers addresses: one for each export. */
export class RowWriter {
  readonly params: ConsensusParams
  private readonly addresses = new Map<string, string | undefined>()

  constructor(params: ConsensusParams) {
    this.params = params
  }

  /** The address of an owner's script; `undefined` if it has none. */
  address(script: string): string | undefined {
    const known = this.addresses.get(script)
    if (known !== undefined || this.addresses.has(script)) return known
    const made = addressOf(this.params.network, addressScript(fromHex(script) ?? EMPTY))
    if (this.addresses.size >= KEPT_ADDRESSES) this.addresses.clear()
    this.addresses.set(script, made)
    return made
  }

  block({ cursor, hash, height, operations, time }: ExportedBlock): string {
    const at = new Date(time * 1_000).toISOString()
    return `${height}\t${copyBytes(hash)}\t${at}\t${operations.length}\t${cursor}\n`
  }

  // positional: runs for each operation of an export
  operation(height: number, { name, number, script, txid, type, value, vout }: ExportedOperation): string {
    return `${height}\t${number}\t${type}\t\\\\x${name}\t\\\\x${value}\t\\\\x${script}\t` +
      `${this.address(script) ?? "\\N"}\t\\\\x${txid}\t${vout}\n`
  }

  name({ height, name: nameHex, number, script, txid, value: valueHex, vout }: CurrentName): string {
    const [name, value] = [fromHex(nameHex) ?? EMPTY, fromHex(valueHex) ?? EMPTY]
    const valueText = storableText(value)
    const [folded, foldedValue] = searchTexts(name, value)
    return [
      copyBytes(nameHex),
      copyText(storableText(name)),
      copyText(storableNamespace(namespaceOf(name))),
      height,
      number,
      expiryHeight(height, this.params),
      copyBytes(valueHex),
      copyText(valueText),
      copyText(jsonbText(valueText)),
      copyBytes(script),
      copyText(this.address(script)),
      copyBytes(txid),
      vout,
      copyText(searchedText(folded, foldedValue))
    ].join("\t") + "\n"
  }

  /** The rows of a name in `name_keys`. */
  keys({ name, value }: Pick<CurrentName, "name" | "value">): string {
    const lines = new Set<string>()
    for (const pair of searchPairs(fromHex(value) ?? EMPTY)) {
      lines.add(`${copyBytes(name)}\t${pair.key}\t${copyText(replacedText(pair.value))}\n`)
    }
    return [...lines].join("")
  }
}

const storableNamespace = (text: string | undefined): string | undefined =>
  text === undefined || text.includes("\0") ? undefined : text

/** The column in which a text is searched. A search compares name and value once more, each alone. */
// positional: the name, then the value, as `searchTexts` returns them
export const searchedText = (name: string, value: string): string => replacedText(`${name}\n${value}`)
