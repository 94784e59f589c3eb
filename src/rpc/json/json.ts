/**
 * JSON of requests and answers. Unlike `JSON.parse`, reading keeps the spelling of numbers, as an `id` of `1e3` or
 * twenty digits is returned unchanged (reference/rpc.md 1.5), and repeated members of an object.
 */

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

/** Larger objects get an index for searches. */
const INDEXED_ABOVE = 16

/** Members in their order, repeated names included. No name is special. */
export class JsonObject {
  readonly keys: Array<string>
  readonly values: Array<Json>
  #index: ReadonlyMap<string, number> | undefined

  constructor(keys: Array<string> = [], values: Array<Json> = []) {
    this.keys = keys
    this.values = values
  }

  get(key: string): Json | undefined {
    const at = this.keys.length <= INDEXED_ABOVE ? this.keys.indexOf(key) : this.#positions().get(key) ?? -1
    return at < 0 ? undefined : this.values[at]
  }

  /** The first name that occurs twice. */
  repeatedKey(): string | undefined {
    const seen = new Set<string>()
    return this.keys.find((key) => seen.size === seen.add(key).size)
  }

  #positions(): ReadonlyMap<string, number> {
    // In a map the last entry wins. Reversing keeps the first member.
    this.#index ??= new Map(this.keys.map((key, at) => [key, at] as const).reverse())
    return this.#index
  }
}

export type Json = null | boolean | string | JsonNumber | ReadonlyArray<Json> | JsonObject

/** A shallow check: does not look into arrays and objects. */
export const isJson = (value: unknown): value is Json =>
  typeof value === "string" || value === null || typeof value === "boolean" || value instanceof JsonNumber ||
  value instanceof JsonObject || Array.isArray(value)

/** Type names in error messages. Upstream `univalue.cpp`, `uvTypeName`. */
export type JsonType = "null" | "bool" | "number" | "string" | "array" | "object"

export const typeOf = (value: Json): JsonType => {
  if (value === null) return "null"
  if (typeof value === "string") return "string"
  if (typeof value === "boolean") return "bool"
  if (value instanceof JsonNumber) return "number"
  return value instanceof JsonObject ? "object" : "array"
}

/** The integer of a number without fraction or exponent, if within the bounds (reference/rpc.md 1.8). */
export const integerWithin = (number: JsonNumber, min: number, max: number): number | undefined => {
  if (!INTEGER.test(number.text)) return undefined
  const value = Number(number.text)
  // Turns -0 into 0.
  return value >= min && value <= max ? value + 0 : undefined
}

const INTEGER = /^-?[0-9]+$/

/** Flattens a text of many pieces: reading a character makes V8 copy it. */
export const flat = (text: string): string => {
  text.charCodeAt(0)
  return text
}
