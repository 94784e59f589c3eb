import { type Bytes } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"

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
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  return hasStorableTexts(parsed) && !LONG_EXPONENT.test(text.replaceAll(STRINGS, "\"\"")) ? text : undefined
}
