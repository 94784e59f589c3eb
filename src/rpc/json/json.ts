/**
 * JSON as requests and answers carry it. Unlike `JSON.parse`, reading keeps the spelling of numbers
 * (reference/rpc.md 1.5: an `id` of `1e3` or of twenty digits goes back as it came) and every member of an object,
 * repeated ones included.
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

/**
 * The integer that a number spells without fraction or exponent, if it lies between the bounds (reference/rpc.md 1.8).
 */
export const integerWithin = (number: JsonNumber, min: number, max: number): number | undefined => {
  if (!INTEGER.test(number.text)) return undefined
  const value = Number(number.text)
  // Adding zero makes of -0 what every other integer is.
  return value >= min && value <= max ? value + 0 : undefined
}

const INTEGER = /^-?[0-9]+$/
