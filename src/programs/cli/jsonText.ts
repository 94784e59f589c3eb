import { encodeString } from "../../rpc/json/encodeJson.ts"
import { type Json, JsonNumber, JsonObject } from "../../rpc/json/json.ts"

export const indented = (value: Json, indent = ""): string => {
  const inner = `${indent}  `
  if (value instanceof JsonObject) {
    const members = value.keys.map((key, at) =>
      `${inner}${encodeString(key)}: ${indented(value.values[at] ?? null, inner)}`
    )
    return members.length === 0 ? "{}" : `{\n${members.join(",\n")}\n${indent}}`
  }
  if (value instanceof JsonNumber) return value.text
  if (typeof value === "string") return encodeString(value)
  if (value === null || typeof value === "boolean") return String(value)
  return value.length === 0 ? "[]" : `[\n${value.map((item) => inner + indented(item, inner)).join(",\n")}\n${indent}]`
}

/** A bare text, nothing for null, JSON for the rest (reference/rpc.md 8). */
export const resultText = (result: Json): string =>
  result === null ? "" : typeof result === "string" ? `${result}\n` : `${indented(result)}\n`

export type JsonMembers = { readonly [name: string]: Json | number | undefined }

export const objectOf = (members: JsonMembers): JsonObject => {
  const object = new JsonObject()
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    object.keys.push(name)
    object.values.push(typeof value === "number" ? new JsonNumber(String(value)) : value)
  }
  return object
}

export const at = (value: Json | undefined, ...path: ReadonlyArray<string>): Json | undefined => {
  const [name, ...rest] = path
  if (name === undefined) return value
  return value instanceof JsonObject ? at(value.get(name), ...rest) : undefined
}

export const textAt = (value: Json | undefined, ...path: ReadonlyArray<string>): string | undefined => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : undefined
}

export const numberAt = (value: Json | undefined, ...path: ReadonlyArray<string>): number | undefined => {
  const found = at(value, ...path)
  return found instanceof JsonNumber && Number.isFinite(found.value) ? found.value : undefined
}

/** Keeps the spelling: an amount has its eight decimals. */
export const spelledAt = (value: Json | undefined, ...path: ReadonlyArray<string>): string | undefined => {
  const found = at(value, ...path)
  return found instanceof JsonNumber ? found.text : undefined
}

export const objectsOf = (value: Json | undefined): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter((item) => item instanceof JsonObject) : []

export const textsOf = (value: Json | undefined): ReadonlyArray<string> => {
  if (typeof value === "string") return value === "" ? [] : [value]
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
}
