import { type Bytes, concatAll, displayHash, fromHex, reversed, toHex } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import { hashOfKey, type ScriptKey, scriptKey } from "../../protocol/keys.ts"

/** Script hashes and their status (electrum-protocol, `protocol-basics.rst`). */

/** A transaction in a history. Height 0 is in the pool, -1 in the pool with unconfirmed inputs. */
export interface HistoryEntry {
  /** Wire order. */
  readonly txid: Bytes
  readonly height: number
}

/** As clients write it: reversed. */
export const shownKey = (key: ScriptKey): string => displayHash(hashOfKey(key))

/** The hash that a client wrote; `undefined` if it is not one. */
export const readScriptHash = (text: string): ScriptKey | undefined => {
  const bytes = text.length === 64 ? fromHex(text) : undefined
  return bytes && scriptKey(reversed(bytes))
}

/** Digits of a hash. */
const DIGITS = 64

/** What the server tells of a history: a hash of it, `null` without one. */
export const statusOf = (history: ReadonlyArray<HistoryEntry>): string | null => {
  if (history.length === 0) return null
  // All hashes are reversed at once, and with them their order.
  const shown = displayHash(concatAll(history.map(({ txid }) => txid).toReversed()))
  const parts = history.map(({ height }, at) => `${shown.slice(DIGITS * at, DIGITS * (at + 1))}:${height}:`)
  return toHex(sha256(Buffer.from(parts.join(""), "latin1")))
}
