/**
 * JSON as requests and answers carry it. Unlike `JSON.parse`, reading keeps the spelling of numbers (rpc.md 1.5: an
 * `id` of `1e3` or of twenty digits goes back as it came) and every member of an object, repeated ones included.
 */

/** A number with the text it was written in. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The nearest double; infinite for `1e999`. */
  get value(): number {
    return Number(this.text)
  }
}

/** Objects up to this many members are searched member by member; larger ones get an index. */
const INDEXED_ABOVE = 16

/** An object as it was written: members in order, repeated names included. No name has a meaning of its own. */
export class JsonObject {
  readonly keys: Array<string> = []
  readonly values: Array<Json> = []
  #index: ReadonlyMap<string, number> | undefined

  /** The value of the first member with this name. */
  get(key: string): Json | undefined {
    const at = this.keys.length <= INDEXED_ABOVE ? this.keys.indexOf(key) : this.#positions().get(key) ?? -1
    return at < 0 ? undefined : this.values[at]
  }

  /** The first name that stands here for the second time. */
  repeatedKey(): string | undefined {
    const seen = new Set<string>()
    return this.keys.find((key) => seen.size === seen.add(key).size)
  }

  #positions(): ReadonlyMap<string, number> {
    // The last entry of a name wins in a map: backwards, that is the first member.
    this.#index ??= new Map(this.keys.map((key, at) => [key, at] as const).reverse())
    return this.#index
  }
}

/** A JSON value that was read. */
export type Json = null | boolean | string | JsonNumber | ReadonlyArray<Json> | JsonObject

/** The words for kinds of values in error messages; upstream `univalue.cpp`, `uvTypeName`. */
export type JsonType = "null" | "bool" | "number" | "string" | "array" | "object"

export const typeOf = (value: Json): JsonType => {
  if (value === null) return "null"
  if (typeof value === "string") return "string"
  if (typeof value === "boolean") return "bool"
  if (value instanceof JsonNumber) return "number"
  return value instanceof JsonObject ? "object" : "array"
}

/** The integer that a number spells without fraction or exponent, if it lies between the bounds (rpc.md 1.8). */
export const integerWithin = (number: JsonNumber, min: number, max: number): number | undefined => {
  if (!INTEGER.test(number.text)) return undefined
  const value = Number(number.text)
  // Adding zero makes of -0 what every other integer is.
  return value >= min && value <= max ? value + 0 : undefined
}

const INTEGER = /^-?[0-9]+$/

/** Arrays and objects within each other; upstream `univalue_read.cpp`, `MAX_JSON_DEPTH`. */
const MAX_DEPTH = 512

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\"", "\""],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"]
])

/** Length from which the rest of a string is skipped by a regular expression, faster than by a loop. */
const LONG = 256

const NOT_PLAIN = /["\\\u0000-\u001f]/g

const FOUR_HEX_DIGITS = /^[0-9a-fA-F]{4}$/

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** A cursor over a text. Where a method returns `undefined` or `false`, the text is not JSON. */
class JsonReader {
  readonly #text: string
  #at = 0
  /** How many values were met. */
  values = 0
  readonly #maxValues: number

  constructor(text: string, maxValues: number) {
    this.#text = text
    this.#maxValues = maxValues
  }

  /** The whole text as one value. Open containers are on a stack of its own: depth costs no call frames. */
  read(): Json | undefined {
    const open: Array<Array<Json> | JsonObject> = []
    for (;;) {
      if (++this.values > this.#maxValues) return undefined
      const code = this.#next()
      let value: Json | undefined
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (open.length === MAX_DEPTH) return undefined
        this.#at++
        const container = code === OPEN_BRACE ? new JsonObject() : []
        if (this.#next() === code + 2) {
          this.#at++
          value = container
        } else {
          open.push(container)
          if (container instanceof JsonObject && !this.#readKey(container)) return undefined
          continue
        }
      } else {
        value = this.#readScalar(code)
        if (value === undefined) return undefined
      }
      // A value is complete; so may be the containers that it ends.
      for (;;) {
        const container = open.at(-1)
        const after = this.#next()
        if (container === undefined) return this.#at === this.#text.length ? value : undefined
        this.#at++
        if (container instanceof JsonObject) {
          container.values.push(value)
          if (after === COMMA) {
            if (!this.#readKey(container)) return undefined
            break
          }
          if (after !== CLOSE_BRACE) return undefined
        } else {
          container.push(value)
          if (after === COMMA) break
          if (after !== CLOSE_BRACKET) return undefined
        }
        value = container
        open.pop()
      }
    }
  }

  /** The code unit after white space, not taken; NaN at the end. */
  #next(): number {
    let code = this.#text.charCodeAt(this.#at)
    while (isSpace(code)) code = this.#text.charCodeAt(++this.#at)
    return code
  }

  #readKey(object: JsonObject): boolean {
    if (this.#next() !== QUOTE) return false
    const key = this.#readString()
    if (key === undefined || this.#next() !== COLON) return false
    this.#at++
    object.keys.push(key)
    return true
  }

  #readScalar(code: number): Json | undefined {
    if (code === QUOTE) return this.#readString()
    if (code === MINUS || isDigit(code)) return this.#readNumber()
    if (this.#takeWord("null")) return null
    if (this.#takeWord("true")) return true
    if (this.#takeWord("false")) return false
    return undefined
  }

  #takeWord(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #readNumber(): JsonNumber | undefined {
    const start = this.#at
    if (this.#text.charCodeAt(this.#at) === MINUS) this.#at++
    const leadingZero = this.#text.charCodeAt(this.#at) === ZERO
    const digits = this.#skipDigits()
    if (digits === 0 || (leadingZero && digits > 1)) return undefined
    if (this.#text.charCodeAt(this.#at) === POINT) {
      this.#at++
      if (this.#skipDigits() === 0) return undefined
    }
    // 0x20 apart: E and e.
    if ((this.#text.charCodeAt(this.#at) | 0x20) === 0x65) {
      this.#at++
      const sign = this.#text.charCodeAt(this.#at)
      if (sign === PLUS || sign === MINUS) this.#at++
      if (this.#skipDigits() === 0) return undefined
    }
    return new JsonNumber(this.#text.slice(start, this.#at))
  }

  #skipDigits(): number {
    const start = this.#at
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++
    return this.#at - start
  }

  /** The string whose opening quote is next. Almost every string has no escapes, and is a part of the text. */
  #readString(): string | undefined {
    const start = ++this.#at
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) return this.#text.slice(start, this.#at++)
      if (code === BACKSLASH) return this.#readEscaped(this.#text.slice(start, this.#at))
      // Also false for NaN: the text ends within the string.
      if (!(code >= 0x20)) return undefined
      this.#at++
      if (this.#at - start === LONG) this.#skipPlain()
    }
  }

  /** Goes on to the next character that a string cannot hold as it is: a block in hex has millions before it. */
  #skipPlain(): void {
    NOT_PLAIN.lastIndex = this.#at
    this.#at = NOT_PLAIN.exec(this.#text)?.index ?? this.#text.length
  }

  /** The rest of a string from its first escape on. */
  #readEscaped(before: string): string | undefined {
    let out = before
    let start = this.#at
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) return out + this.#text.slice(start, this.#at++)
      if (!(code >= 0x20)) return undefined
      if (code !== BACKSLASH) {
        this.#at++
        continue
      }
      const char = this.#readEscape()
      if (char === undefined) return undefined
      out += this.#text.slice(start, char.from) + char.text
      start = this.#at
    }
  }

  /** One escape, or two that make a surrogate pair. Half a pair is no character. */
  #readEscape(): { readonly from: number; readonly text: string } | undefined {
    const from = this.#at
    const letter = this.#text.charAt(from + 1)
    if (letter !== "u") {
      const text = ESCAPES.get(letter)
      this.#at += 2
      return text === undefined ? undefined : { from, text }
    }
    const unit = this.#readUnit()
    if (unit === undefined || isLowSurrogate(unit)) return undefined
    if (!isHighSurrogate(unit)) return { from, text: String.fromCharCode(unit) }
    const second = this.#text.startsWith("\\u", this.#at) ? this.#readUnit() : undefined
    if (second === undefined || !isLowSurrogate(second)) return undefined
    return { from, text: String.fromCharCode(unit, second) }
  }

  /** The code unit of a backslash, a `u` and four digits. */
  #readUnit(): number | undefined {
    const digits = this.#text.slice(this.#at + 2, this.#at + 6)
    if (!FOUR_HEX_DIGITS.test(digits)) return undefined
    this.#at += 6
    return Number.parseInt(digits, 16)
  }
}

/**
 * Reads a text that is one JSON value and nothing else but white space; `undefined` for everything else. Strict:
 * text behind the value, half a surrogate pair in escapes and more than 512 levels are not JSON (rpc.md 1.5).
 * Takes stack space that does not depend on the text. A text with more than `maxValues` values, whose memory would
 * be many times that of the text, is not read either: `values` is above `maxValues` then.
 */
export const readJson = (
  text: string,
  maxValues: number
): { readonly read: Json | undefined; readonly values: number } => {
  const reader = new JsonReader(text, maxValues)
  const read = reader.read()
  return { read, values: reader.values }
}

/** The value alone. */
export const parseJson = (text: string, maxValues = Number.MAX_SAFE_INTEGER): Json | undefined =>
  readJson(text, maxValues).read
