import { runSteps, type Steps } from "../../protocol/steps.ts"
import { flat, type Json, JsonNumber, JsonObject } from "./json.ts"

/** Nesting of arrays and objects. Upstream `univalue_read.cpp`, `MAX_JSON_DEPTH`. */
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

/** Values minus one, and characters of a string with escapes, between two pauses. */
const STEP = 0x3ff
const PART = 0x8000

/** From this length on, a regular expression skips the rest of a string faster than a loop. */
const LONG = 256

/** Characters skipped at a time: about half a millisecond. */
const SKIPPED = 0x80000

const NOT_PLAIN = /["\\\u0000-\u001f]/

const FOUR_HEX_DIGITS = /^[0-9a-fA-F]{4}$/

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

export const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** Up to this length, a complete array is copied to its exact size. Growing arrays have room for at least 17 values. */
const FEW = 32

/** Drops spare room: most values of a long batch are in short arrays and stay until all of it is answered. */
const exact = <A>(values: Array<A>): Array<A> => values.length > FEW ? values : values.slice()

interface Open {
  /** `undefined` for an array. */
  readonly keys: Array<string> | undefined
  readonly values: Array<Json>
}

const equalKeys = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean => {
  if (a.length !== b.length || a.length > FEW) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Longer elements of a long array are kept. Reading this many characters again takes some microseconds. */
const READ_AGAIN = 1_024

/** How to read the elements of an outermost array. */
export interface Top {
  readonly seen: (element: Json) => void
  /** For each element its offset or its value; `undefined` if the outermost value is not an array. */
  elements: Array<number | Json> | undefined
}

/** Where to read; from the beginning by default. */
interface Place {
  readonly from?: number
  readonly top?: Top
}

/** `undefined` or `false` means that the text is not JSON. */
export class JsonReader {
  readonly #text: string
  #at = 0
  values = 0
  /** Parts of an unfinished string with escapes. */
  #parts: Array<string> | undefined
  /** Start of an unfinished string, still without escapes. */
  #start: number | undefined
  readonly #maxValues: number
  /** Names of the last complete object. The next one often has the same and then shares the array. */
  #keys: Array<string> = []

  /** If 0, the value must end with the text. */
  readonly #from: number
  readonly #top: Top | undefined

  constructor(text: string, maxValues: number, { from = 0, top }: Place = {}) {
    this.#text = text
    this.#maxValues = maxValues
    this.#from = from
    this.#at = from
    this.#top = top
  }

  /** Reads one value, with pauses for other work. Open containers are on an explicit stack, not in call frames. */
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
      // A value is complete, and perhaps its containers.
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

  /** The next code unit after white space, not consumed; NaN at the end. */
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

  #isUnfinished(): boolean {
    return this.#parts !== undefined || this.#start !== undefined
  }

  #readOn(): string | undefined {
    const start = this.#start
    this.#start = undefined
    return start === undefined ? this.#readEscaped(this.#at) : this.#readPlain(start)
  }

  /** Almost every string has no escapes and is a slice of the text. */
  #readString(): string | undefined {
    return this.#readPlain(++this.#at)
  }

  #readPlain(start: number): string | undefined {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === QUOTE) return this.#text.slice(start, this.#at++)
      if (code === BACKSLASH) return this.#readEscaped(start)
      // NaN fails too: the text ends within the string.
      if (!(code >= 0x20)) return undefined
      this.#at++
      if (this.#at - start >= LONG && !this.#skipPlain()) {
        this.#start = start
        return undefined
      }
    }
  }

  /** Skips plain characters, millions in a block in hex. Returns false if no other was found yet. */
  #skipPlain(): boolean {
    const next = this.#text.slice(this.#at, this.#at + SKIPPED)
    const found = next.search(NOT_PLAIN)
    this.#at += found === -1 ? next.length : found
    return found !== -1 || this.#at === this.#text.length
  }

  /**
   * Reads a part of a string with escapes; the text from `start` to here has none. Unless the string ends, `#parts` has
   * the result. Each part is flattened, as text of millions of pieces would take many times its length.
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

  /** One escape, or the two of a surrogate pair. A lone surrogate is invalid. */
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

  /** Reads a `\u` escape. */
  #readUnit(): number | undefined {
    const digits = this.#text.slice(this.#at + 2, this.#at + 6)
    if (!FOUR_HEX_DIGITS.test(digits)) return undefined
    this.#at += 6
    return Number.parseInt(digits, 16)
  }
}

export interface ReadJson {
  /** `undefined` if the text is invalid or has too many values. */
  readonly read: Json | undefined
  readonly values: number
}

/**
 * Reads exactly one JSON value and white space. Strict: more text, a lone surrogate in an escape or more than 512
 * levels make it invalid (reference/rpc.md 1.5). More than `maxValues` values, which would take many times the text's
 * memory, are refused with `values` above `maxValues`. The stack space does not depend on the text.
 */
export function* readJsonSteps(text: string, maxValues: number): Steps<ReadJson> {
  const reader = new JsonReader(text, maxValues)
  const read = yield* reader.read()
  return { read, values: reader.values }
}

export const readJson = (text: string, maxValues: number): ReadJson => runSteps(readJsonSteps(text, maxValues))

export const parseJson = (text: string, maxValues = Number.MAX_SAFE_INTEGER): Json | undefined =>
  readJson(text, maxValues).read
