import { assert } from "@effect/vitest"
import { CONTRACTS } from "../../src/rpc/contract/all.ts"
import { encodeJson, type JsonValue, RawJson } from "../../src/rpc/json/encodeJson.ts"
import { type Described, describedBy } from "../../src/rpc/method/results.ts"

/** Answers of methods as their contracts describe them, made from the members that a test is about. */

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fits = (view: Described, value: unknown): boolean => {
  if (view.kind === "object") return isRecord(value) && Object.keys(value).every((name) => name in view.members)
  if (view.kind === "map") return isRecord(value)
  return view.kind === "array" ? Array.isArray(value) : !isRecord(value) && !Array.isArray(value)
}

/** A value with what it lacks: nothing, zero, false or an empty text. */
const whole = (view: Described, value: unknown, path: string): JsonValue => {
  switch (view.kind) {
    case "object":
      assert.isTrue(value === undefined || fits(view, value), `${path} has other members than its method describes`)
      return Object.fromEntries(
        Object.entries(view.members).flatMap(([name, member]) => {
          const given = isRecord(value) ? value[name] : undefined
          return given === undefined && member.optional ? [] : [[name, whole(member, given, `${path}.${name}`)]]
        })
      )
    case "array":
      return Array.isArray(value) ? value.map((item) => whole(view.items, item, `${path}[]`)) : []
    case "map":
      return isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, whole(view.values, item, `${path}.*`)]))
        : {}
    case "amount":
      return new RawJson(Number(value ?? 0).toFixed(8))
    case "string":
    case "hex":
      return String(value ?? "")
    case "boolean":
      return value === true
    case "integer":
    case "number":
    case "time":
      return Number(value ?? 0)
    default:
      return null
  }
}

/** The answer of a method, as JSON. */
export const describedAnswer = (method: string, value: unknown): string => {
  const contract = CONTRACTS.find(({ name }) => name === method) ?? assert.fail(`no method ${method}`)
  const views = contract.results.map(({ schema }) => describedBy(schema))
  const view = views.find((each) => fits(each, value)) ?? views[0] ?? assert.fail(`${method} has no results`)
  return encodeJson(whole(view, value ?? undefined, method))
}
