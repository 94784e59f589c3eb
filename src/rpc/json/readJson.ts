import { runSteps, type Steps } from "../../protocol/steps.ts"
import { flat, type Json, JsonNumber, JsonObject } from "./json.ts"

/** Maximum nesting of arrays and objects; upstream `univalue_read.cpp`, `MAX_JSON_DEPTH`. */
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

/** The reader pauses after this many values, less one, and after this many characters of a string with escapes. */
const STEP = 0x3ff
const PART = 0x8000

/** Length from which a regular expression, faster than a loop, skips the rest of a string. */
const LONG = 256

/** Characters that it skips at a time: about half a millisecond. */
const SKIPPED = 0x80000

const NOT_PLAIN = /["\\\u0000-\u001f]/

const FOUR_HEX_DIGITS = /^[0-9a-fA-F]{4}$/

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

export const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** Length up to which an array is copied when it is complete: it has room for more until then, for some 17 values at least. */
const FEW = 32

/** The array without room for more. Most values of a long batch are in short arrays, and stay until all of it is answered. */
const exact = <A>(values: Array<A>): Array<A> => values.length > FEW ? values : values.slice()

/** An array or object that is not complete. */
interface Open {
  /** The names of the members of an object; `undefined` for an array. */
  readonly keys: Array<string> | undefined
  readonly values: Array<Json>
}

const equalKeys = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean => {
  if (a.length !== b.length || a.length > FEW) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Characters up to which an element of a long array is read again rather than kept: some microseconds. */
const READ_AGAIN = 1_024

/** What a reader does with the elements of an array at the top. */
export interface Top {
  readonly seen: (element: Json) => void
  /** For each element its place in the text, or itself; `undefined` unless there is an array at the top. */
  elements: Array<number | Json> | undefined
}

/** What a reader reads: from the beginning, unless it says another character. */
interface Place {
  readonly from?: number
  readonly top?: Top
}

/** A cursor over a text. A result of `undefined` or `false` means that the text is not JSON. */
export class JsonReader {
  readonly #text: string
  #at = 0
  values = 0
  /** The parts read so far of an unfinished string with escapes. */
  #parts: Array<string> | undefined
  /** Where an unfinished string without escapes so far starts. */
  #start: number | undefined
  readonly #maxValues: number
  /** The names of the last complete object: those of the next one are often the same, and then the same array. */
  #keys: Array<string> = []

  /** The first character to read: the end of the value is the end of the text if that is 0. */
  readonly #from: number
  readonly #top: Top | undefined

  constructor(text: string, maxValues: number, { from = 0, top }: Place = {}) {
    this.#text = text
    this.#maxValues = maxValues
    this.#from = from
    this.#at = from
    this.#top = top
  }

  /**
   * Reads the text as one value. Open containers are on an explicit stack: depth needs no call frames. The reader
   * pauses regularly, so that other work gets a turn.
   */
  *read(): Steps<Json | undefined> {
    const open: Array<Open> = []
    let element = 0
    for (;;) {
      if (++this.values > this.#maxValues) return undefined
      if ((this.values & STEP) === 0) yield
      const keys = open.at(-1)?.keys
      if (keys !== undefined) {
        if (this.#next() !== QUOTE) return undefined
        let key = this.#readString()
        while (this.#isUnfinished()) {
          yield
          key = this.#readOn()
        }
        if (key === undefined || this.#next() !== COLON) return undefined
        this.#at++
        keys.push(key)
      }
      const code = this.#next()
      if (open.length === 1) element = this.#at
      let value: Json | undefined
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (open.length === MAX_DEPTH) return undefined
        this.#at++
        const container: Open = { keys: code === OPEN_BRACE ? [] : undefined, values: [] }
        if (this.#next() === code + 2) {
          this.#at++
          value = this.#complete(container)
        } else {
          open.push(container)
          continue
        }
      } else {
        value = code === QUOTE ? this.#readString() : this.#readWordOrNumber(code)
        while (this.#isUnfinished()) {
          yield
          value = this.#readOn()
        }
        if (value === undefined) return undefined
      }
      // A value is complete, and perhaps the containers that it ends.
      for (;;) {
        const container = open.at(-1)
        const after = this.#next()
        if (container === undefined) return this.#from > 0 || this.#at === this.#text.length ? value : undefined
        if (this.#top !== undefined && open.length === 1 && container.keys === undefined) {
          this.#keep(this.#top, value, element)
        } else container.values.push(value)
        this.#at++
        if (after === COMMA) break
        if (after !== (container.keys === undefined ? CLOSE_BRACKET : CLOSE_BRACE)) return undefined
        value = this.#complete(container)
        open.pop()
      }
    }
  }

  #keep(top: Top, value: Json, place: number): void {
    top.seen(value)
    top.elements ??= []
    top.elements.push(this.#at - place > READ_AGAIN ? value : place)
  }

  #complete({ keys, values }: Open): Json {
    if (keys === undefined) return exact(values)
    if (!equalKeys(keys, this.#keys)) this.#keys = exact(keys)
    return new JsonObject(this.#keys, exact(values))
  }

  /** The code unit after white space, not consumed; NaN at the end. */
  #next(): number {
    let code = this.#text.charCodeAt(this.#at)
    while (isSpace(code)) code = this.#text.charCodeAt(++this.#at)
    return code
  }

  #readWordOrNumber(code: number): Json | undefined {
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
    // E and e differ by 0x20.
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

  /** Whether the string that is read goes on: `readOn` reads its next part. */
  #isUnfinished(): boolean {
    return this.#parts !== undefined || this.#start !== undefined
  }

  #readOn(): string | undefined {
    const start = this.#start
    this.#start = undefined
    return start === undefined ? this.#readEscaped(this.#at) : this.#readPlain(start)
  }

  /** Reads the string whose opening quote is next. Almost every string has no escapes and is a slice of the text. */
  #readString(): string | undefined {
    return this.#readPlain(++this.#at)
  }

  #readPlain(start: number): string | undefined {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) return this.#text.slice(start, this.#at++)
      if (code === BACKSLASH) return this.#readEscaped(start)
      // Also false for NaN: the text ends within the string.
      if (!(code >= 0x20)) return undefined
      this.#at++
      if (this.#at - start >= LONG && !this.#skipPlain()) {
        this.#start = start
        return undefined
      }
    }
  }

  /**
   * Skips to the next character that needs handling: a block in hex has millions of plain ones. Returns false if it
   * found none yet.
   */
  #skipPlain(): boolean {
    const next = this.#text.slice(this.#at, this.#at + SKIPPED)
    const found = next.search(NOT_PLAIN)
    this.#at += found === -1 ? next.length : found
    return found !== -1 || this.#at === this.#text.length
  }

  /**
   * Reads a part of a string with escapes from the next character on; the text from `start` to there has none. If the
   * string continues after the part, `#parts` holds what was read. Each part is flattened to one piece: text
   * concatenated from millions of pieces would take many times its length.
   */
  #readEscaped(start: number): string | undefined {
    const parts = this.#parts ?? []
    this.#parts = undefined
    const end = this.#at + PART
    let out = ""
    for (let from = start;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) {
        out += this.#text.slice(from, this.#at++)
        return parts.length === 0 ? out : parts.join("") + out
      }
      if (!(code >= 0x20)) return undefined
      if (this.#at >= end) {
        parts.push(flat(out + this.#text.slice(from, this.#at)))
        this.#parts = parts
        return undefined
      }
      if (code !== BACKSLASH) {
        this.#at++
        continue
      }
      const char = this.#readEscape()
      if (char === undefined) return undefined
      out += this.#text.slice(from, char.from) + char.text
      from = this.#at
    }
  }

  /** Reads one escape, or the two of a surrogate pair. A lone surrogate is not a character. */
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

export interface ReadJson {
  /** `undefined` if the text is not JSON or has too many values. */
  readonly read: Json | undefined
  readonly values: number
}

/**
 * Reads a text that is exactly one JSON value and white space; otherwise the result is `undefined`. Strict: text after
 * the value, a lone surrogate in escapes and more than 512 levels are not JSON (reference/rpc.md 1.5). The stack space
 * does not depend on the text. A text with more than `maxValues` values would take many times its own memory and is
 * refused: `values` is then above `maxValues`.
 */
export function* readJsonSteps(text: string, maxValues: number): Steps<ReadJson> {
  const reader = new JsonReader(text, maxValues)
  const read = yield* reader.read()
  return { read, values: reader.values }
}

/** The same in one step. */
export const readJson = (text: string, maxValues: number): ReadJson => runSteps(readJsonSteps(text, maxValues))

export const parseJson = (text: string, maxValues = Number.MAX_SAFE_INTEGER): Json | undefined =>
  readJson(text, maxValues).read
