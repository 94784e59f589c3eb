import { assert } from "@effect/vitest"
import { encodeJson } from "../../src/rpc/json/encodeJson.ts"
import { type Json, JsonObject } from "../../src/rpc/json/json.ts"
import { parseJson } from "../../src/rpc/json/readJson.ts"
import { fixtureText } from "./fixtures.ts"

/** Recorded answers as they were written: order of members and spelling of numbers kept. */

export const recordedJson = (name: string): Json => parseJson(fixtureText(name)) ?? assert.fail(`${name} is not JSON`)

/** The value at a path of member names and positions. */
export const at = (json: Json, ...path: ReadonlyArray<string | number>): Json => {
  let value = json
  for (const step of path) {
    const next = typeof step === "number"
      ? (Array.isArray(value) ? value[step] : undefined)
      : (value instanceof JsonObject ? value.get(step) : undefined)
    value = next ?? assert.fail(`nothing at ${path.join(".")}`)
  }
  return value
}

/** The items of an array. */
export const items = (json: Json): ReadonlyArray<Json> => Array.isArray(json) ? json : assert.fail("not an array")

export const stringAt = (json: Json, ...path: ReadonlyArray<string | number>): string => {
  const value = at(json, ...path)
  return typeof value === "string" ? value : assert.fail(`no string at ${path.join(".")}`)
}

/** A recorded value as our encoder writes it: equal text means equal members, order and digits. */
export const recordedText = (json: Json): string => encodeJson(json)
