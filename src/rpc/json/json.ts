/**
 * JSON values of requests and answers. Unlike `JSON.parse`, reading keeps the spelling of numbers (reference/rpc.md
 * 1.5: an `id` of `1e3` or of twenty digits returns unchanged) and every member of an object, repeated ones included.
 */

/** A number with its original text. */
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

/** Objects with up to this many members are searched in order; larger ones get an index. */
const INDEXED_ABOVE = 16

/** An object as it was written: members in order, repeated names included. No name is special. */
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

  /** The first name that occurs for the second time. */
  repeatedKey(): string | undefined {
    const seen = new Set<string>()
    return this.keys.find((key) => seen.size === seen.add(key).size)
  }

  #positions(): ReadonlyMap<string, number> {
    // The last entry of a key wins in a map. Reversed order therefore keeps the first member.
    this.#index ??= new Map(this.keys.map((key, at) => [key, at] as const).reverse())
    return this.#index
  }
}

export type Json = null | boolean | string | JsonNumber | ReadonlyArray<Json> | JsonObject

/** Whether a value is of the types that `parseJson` returns. Does not look into arrays and objects. */
export const isJson = (value: unknown): value is Json =>
  typeof value === "string" || value === null || typeof value === "boolean" || value instanceof JsonNumber ||
  value instanceof JsonObject || Array.isArray(value)

/** The names of value types in error messages; upstream `univalue.cpp`, `uvTypeName`. */
export type JsonType = "null" | "bool" | "number" | "string" | "array" | "object"

export const typeOf = (value: Json): JsonType => {
  if (value === null) return "null"
  if (typeof value === "string") return "string"
  if (typeof value === "boolean") return "bool"
  if (value instanceof JsonNumber) return "number"
  return value instanceof JsonObject ? "object" : "array"
}

/** The integer that a number spells without fraction or exponent, if it is within the bounds (reference/rpc.md 1.8). */
export const integerWithin = (number: JsonNumber, min: number, max: number): number | undefined => {
  if (!INTEGER.test(number.text)) return undefined
  const value = Number(number.text)
  // Adding zero turns -0 into 0.
  return value >= min && value <= max ? value + 0 : undefined
}

const INTEGER = /^-?[0-9]+$/

/** Returns a text that was put together from many as one piece: reading a character makes V8 copy it. */
export const flat = (text: string): string => {
  text.charCodeAt(0)
  return text
}
