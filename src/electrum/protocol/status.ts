import {
  binaryString,
  type Bytes,
  displayHash,
  fromBinaryString,
  fromHex,
  reversed,
  toHex
} from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"

/** Script hashes and their status (electrum-protocol, `protocol-basics.rst`). */

/** A transaction in a history. Height 0 is in the pool, -1 in the pool with unconfirmed inputs. */
export interface HistoryEntry {
  /** Wire order. */
  readonly txid: Bytes
  readonly height: number
}

/** A script hash as a key of maps: 32 characters, one per byte in digest order. */
export type ScriptKey = string & { readonly ScriptKey: unique symbol }

const isScriptKey = (text: string): text is ScriptKey => text.length === 32

/** Throws for another length than 32 bytes. */
export const scriptKey = (hash: Bytes): ScriptKey => {
  const key = binaryString(hash)
  if (!isScriptKey(key)) throw new RangeError(`a script hash has 32 bytes, not ${hash.length}`)
  return key
}

export const hashOfKey = (key: ScriptKey): Bytes => fromBinaryString(key)

/** As clients write it: reversed. */
export const shownKey = (key: ScriptKey): string => displayHash(hashOfKey(key))

/** The hash that a client wrote; `undefined` if it is not one. */
export const readScriptHash = (text: string): ScriptKey | undefined => {
  const bytes = text.length === 64 ? fromHex(text) : undefined
  return bytes && scriptKey(reversed(bytes))
}

/** What the server tells of a history: a hash of it, `null` without one. */
export const statusOf = (history: ReadonlyArray<HistoryEntry>): string | null =>
  history.length === 0 ? null : toHex(sha256(Buffer.from(
    history.map(({ height, txid }) => `${displayHash(txid)}:${height}:`).join(""),
    "latin1"
  )))
