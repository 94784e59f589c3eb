import { type Json, JsonNumber, JsonObject } from "../../rpc/json/json.ts"

/**
 * Values as they appear in ElectrumX's messages: the `str` and `repr` of Python. Clients compare messages as whole
 * texts, and so do tests.
 */

/** Characters of a value in a message, which a client could make a megabyte long. */
const SHOWN = 10_000

const shortened = (text: string): string => text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text

/** Control characters, DEL to U+00A0 and the soft hyphen, which Python escapes. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u00a0\u00ad]/g

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

const escaped = (character: string): string =>
  ESCAPES[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`

/** A string literal: with single quotes, unless the text has these and no double ones. */
export const quotedText = (text: string): string => {
  const quote = text.includes("'") && !text.includes("\"") ? "\"" : "'"
  const inner = text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`).replaceAll(UNPRINTABLE, escaped)
  return quote + inner + quote
}

const numberText = ({ text, value }: JsonNumber): string => {
  if (/^-?[0-9]+$/.test(text)) return text === "-0" ? "0" : text
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf"
  return Number.isInteger(value) && Math.abs(value) < 1e16
    ? value.toFixed(1)
    : String(value).replace(/e([+-])(\d)$/, "e$10$2")
}

const literal = (value: Json): string => typeof value === "string" ? quotedText(value) : plainText(value)

const plainText = (value: Json): string => {
  if (value === null) return "None"
  if (typeof value === "string") return value
  if (typeof value === "boolean") return value ? "True" : "False"
  if (value instanceof JsonNumber) return numberText(value)
  if (value instanceof JsonObject) {
    return `{${value.keys.map((key) => `${quotedText(key)}: ${literal(value.get(key) ?? null)}`).join(", ")}}`
  }
  return `[${value.map(literal).join(", ")}]`
}

/** A value inside a message. */
export const shownValue = (value: Json): string => shortened(plainText(value))

/** A whole number with a comma between thousands. */
export const withCommas = (value: number): string => String(BigInt(value)).replaceAll(/\B(?=(\d{3})+$)/g, ",")
