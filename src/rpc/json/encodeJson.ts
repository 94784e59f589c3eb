import { formatAmount } from "../../protocol/amount.ts"
import { flat, JsonNumber, JsonObject } from "./json.ts"
import { LongText } from "./LongText.ts"

/** Answers as JSON (reference/rpc.md 1.5 and 6). Text outside ASCII stays unescaped. */

/** Printed in NMC with exactly eight decimals. */
export class Amount {
  /** Smallest units, of either sign. */
  readonly units: number

  constructor(units: number) {
    this.units = units
  }
}

/** JSON text that an answer contains unchanged. Whoever makes one guarantees that it is the JSON of an `A`. */
export class RawJson<out A = unknown> {
  declare readonly says: A
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** An array whose items are made during encoding, so that a long answer's values never exist all at once. */
export class LazyArray<out A = JsonValue> {
  readonly items: Iterable<A>

  constructor(items: Iterable<A>) {
    this.items = items
  }
}

/** The same for an object whose member names are data. */
export class LazyMap<out A = JsonValue> {
  readonly members: Iterable<readonly [string, A]>

  constructor(members: Iterable<readonly [string, A]>) {
    this.members = members
  }
}

/** Applies `make` on demand, again in each iteration. */
export const lazily = <A, B>(items: Iterable<A>, make: (item: A, at: number) => B | undefined): Iterable<B> => ({
  *[Symbol.iterator]() {
    let at = 0
    for (const item of items) {
      const made = make(item, at++)
      if (made !== undefined) yield made
    }
  }
})

const MANY = 256

/** Few items are made at once, many during encoding. */
export const itemsOf = <A, B>(
  items: ReadonlyArray<A>,
  make: (item: A, at: number) => B
): ReadonlyArray<B> | LazyArray<B> => items.length > MANY ? new LazyArray(lazily(items, make)) : items.map(make)

/** Values of answers. Undefined members are omitted. A map's member names are data and keep their order. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Amount
  | RawJson
  | JsonNumber
  | JsonObject
  | LazyArray
  | LazyMap
  | LongText
  | ReadonlyArray<JsonValue>
  | ReadonlyMap<string, JsonValue>
  | { readonly [key: string]: JsonValue | undefined }

/**
 * A number as the reference node prints it. Upstream `univalue.cpp`, `setFloat`: doubles have up to 16 significant
 * digits, and below 0.0001 and from 10^16 on an exponent of at least two digits.
 */
export const formatNumber = (value: number): string => {
  if (Number.isSafeInteger(value)) return String(value)
  if (!Number.isFinite(value)) throw new RangeError(`not a JSON number: ${value}`)
  const [digits = "", power = ""] = roundedTo16(value).split("e")
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) {
    const sign = exponent < 0 ? "-" : "+"
    return `${withoutTrailingZeros(digits)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`
  }
  return withoutTrailingZeros(withPoint(digits, exponent))
}

/** An exact tie at the seventeenth digit, a 5 after an even digit: `1.2345678901234525e+14`. */
const TIE_BEHIND_EVEN = /^(-?\d\.\d{14}[02468])50*(e.*)$/

/** JavaScript rounds an exact tie up, C to the even digit. One in thirty difficulties around 10^14 is a tie. */
const roundedTo16 = (value: number): string => {
  const rounded = value.toExponential(15)
  if (!value.toExponential(16).includes("5e")) return rounded
  // oxlint-disable-next-line oxc/number-arg-out-of-range -- the limit was 20 before ECMAScript 2018, and is 100 now
  const tie = TIE_BEHIND_EVEN.exec(value.toExponential(100))
  return tie === null ? rounded : `${tie[1]}${tie[2]}`
}

/** `1.25` and 1 → `12.5`. Exponents are -4 to 15. */
const withPoint = (digits: string, exponent: number): string => {
  const sign = digits.startsWith("-") ? "-" : ""
  const plain = digits.replace("-", "").replace(".", "")
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${plain}`
  return `${sign}${plain.slice(0, exponent + 1)}.${plain.slice(exponent + 1)}`
}

const withoutTrailingZeros = (digits: string): string => digits.replace(/\.?0*$/, "")

const NEEDS_ESCAPES = /["\\\u0000-\u001f\u007f]/

/** With quotes. U+007F is escaped too. */
export const encodeString = (text: string): string =>
  NEEDS_ESCAPES.test(text) ? JSON.stringify(text).replaceAll("\u007f", "\\u007f") : `"${text}"`

/** Encoded names with quotes and colon. The members of results are a closed set. */
const memberNames = new Map<string, string>()
const MAX_MEMBER_NAMES = 2_000

const encodeMemberName = (name: string): string => {
  const known = memberNames.get(name)
  if (known !== undefined) return known
  const text = `${encodeString(name)}:`
  if (memberNames.size < MAX_MEMBER_NAMES) memberNames.set(name, text)
  return text
}

const isArray = (value: object): value is ReadonlyArray<JsonValue> => Array.isArray(value)

const isMap = (value: object): value is ReadonlyMap<string, JsonValue> => value instanceof Map

const encodeMembers = (members: Iterable<readonly [string, JsonValue]>): string => {
  let text = ""
  for (const [name, value] of members) {
    text += `${text === "" ? "" : ","}${encodeString(name)}:${encodeJson(value)}`
  }
  return `{${text}}`
}

const encodeRecord = (record: { readonly [key: string]: JsonValue | undefined }): string => {
  let text = "{"
  for (const name of Object.keys(record)) {
    const value = record[name]
    if (value === undefined) continue
    text += (text === "{" ? "" : ",") + encodeMemberName(name) + encodeJson(value)
  }
  return text + "}"
}

/** Characters from which the text, a chain of many short pieces, is flattened. */
const PIECE = 4_096

const encodeArray = (values: ReadonlyArray<JsonValue>): string => {
  const pieces: Array<string> = []
  let text = "["
  for (let i = 0; i < values.length; i++) {
    text += (i === 0 ? "" : ",") + encodeJson(values[i] ?? null)
    if (text.length > PIECE) {
      pieces.push(flat(text))
      text = ""
    }
  }
  text += "]"
  if (pieces.length === 0) return text
  pieces.push(text)
  return pieces.join("")
}

/** Throws a RangeError for NaN and infinities, which JSON lacks. */
export const encodeJson = (value: JsonValue): string => {
  switch (typeof value) {
    case "string":
      return encodeString(value)
    case "number":
      return formatNumber(value)
    case "boolean":
      return value ? "true" : "false"
    case "bigint":
      return value.toString()
  }
  if (value === null) return "null"
  if (isArray(value)) return encodeArray(value)
  if (value instanceof Amount) return formatAmount(value.units)
  if (value instanceof RawJson || value instanceof JsonNumber) return value.text
  if (value instanceof JsonObject) return encodeMembers(value.keys.map((key, at) => [key, value.values[at] ?? null]))
  if (isMap(value)) return encodeMembers(value)
  if (value instanceof LazyArray) return encodeArray([...value.items])
  if (value instanceof LazyMap) return encodeMembers(value.members)
  if (value instanceof LongText) return value.toString()
  return encodeRecord(value)
}
