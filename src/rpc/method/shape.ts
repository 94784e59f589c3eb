import { Amount, type JsonValue, LazyArray, LazyMap, RawJson } from "../json/encodeJson.ts"
import { JsonNumber, JsonObject, typeOf } from "../json/json.ts"
import { LongText } from "../json/LongText.ts"

/**
 * The shape of a result, written once: the help text, the OpenRPC document and a check of real results are derived from
 * it.
 */
export type Shape = Scalar | ArrayShape | ObjectShape | MapShape

type ScalarKind = "string" | "hex" | "number" | "integer" | "amount" | "time" | "boolean" | "null" | "any"

interface Described {
  readonly description: string
  readonly optional: boolean
}

interface Scalar extends Described {
  readonly kind: ScalarKind
}

interface ArrayShape extends Described {
  readonly kind: "array"
  readonly items: Shape
}

interface ObjectShape extends Described {
  readonly kind: "object"
  readonly members: { readonly [name: string]: Shape }
}

/** An object whose member names are data. */
interface MapShape extends Described {
  readonly kind: "map"
  readonly key: string
  readonly values: Shape
}

const scalar = (kind: ScalarKind) => (description: string): Shape => ({ kind, description, optional: false })

export const string = scalar("string")
/** Bytes or a hash in hexadecimal digits. */
export const hex = scalar("hex")
export const number = scalar("number")
export const integer = scalar("integer")
/** NMC with eight decimals. */
export const amount = scalar("amount")
/** Seconds since 1970 UTC. */
export const time = scalar("time")
export const boolean = scalar("boolean")
export const nothing = scalar("null")
export const any = scalar("any")

export const array = (items: Shape, description = ""): Shape => ({ kind: "array", items, description, optional: false })

export const object = (members: { readonly [name: string]: Shape }, description = ""): Shape => ({
  kind: "object",
  members,
  description,
  optional: false
})

export const map = (key: string, values: Shape, description = ""): Shape => ({
  kind: "map",
  key,
  values,
  description,
  optional: false
})

export const optional = (shape: Shape): Shape => ({ ...shape, optional: true })

const SAMPLES: Readonly<Record<ScalarKind, string>> = {
  string: "\"str\"",
  hex: "\"hex\"",
  number: "n",
  integer: "n",
  amount: "n.nnnnnnnn",
  time: "seconds",
  boolean: "true|false",
  null: "null",
  any: "..."
}

const TYPE_WORDS: Readonly<Record<Shape["kind"], string>> = {
  string: "string",
  hex: "string",
  number: "numeric",
  integer: "numeric",
  amount: "numeric",
  time: "numeric",
  boolean: "boolean",
  null: "json null",
  any: "any",
  array: "json array",
  object: "json object",
  map: "json object"
}

/** A line of a help text: the member and its explanation. */
export type Row = readonly [left: string, right: string]

/** Returns the lines that show a shape, one for each member, with each level indented by two. */
export const describe = (shape: Shape, indent = "", prefix = "", suffix = ""): ReadonlyArray<Row> => {
  const words = `(${TYPE_WORDS[shape.kind]}${shape.optional ? ", optional" : ""})`
  const right = shape.description === "" ? words : `${words} ${shape.description}`
  const inner = `${indent}  `
  switch (shape.kind) {
    case "array":
      return [
        [`${indent}${prefix}[`, right],
        ...describe(shape.items, inner, "", ","),
        [`${inner}...`, ""],
        [`${indent}]${suffix}`, ""]
      ]
    case "map":
      return [
        [`${indent}${prefix}{`, right],
        ...describe(shape.values, inner, `"${shape.key}": `, ","),
        [`${inner}...`, ""],
        [`${indent}}${suffix}`, ""]
      ]
    case "object": {
      const members = Object.entries(shape.members)
      const rows = members.flatMap(([name, member], at) =>
        describe(member, inner, `"${name}": `, at === members.length - 1 ? "" : ",")
      )
      return [[`${indent}${prefix}{`, right], ...rows, [`${indent}}${suffix}`, ""]]
    }
    default:
      return [[`${indent}${prefix}${SAMPLES[shape.kind]}${suffix}`, right]]
  }
}

type Schema = { readonly [key: string]: JsonValue | undefined }

const SCALAR_SCHEMAS: Readonly<Record<ScalarKind, Schema>> = {
  string: { type: "string" },
  hex: { type: "string", pattern: "^([0-9a-f]{2})*$" },
  number: { type: "number" },
  integer: { type: "integer" },
  amount: { type: "number", multipleOf: new RawJson("0.00000001") },
  time: { type: "integer" },
  boolean: { type: "boolean" },
  null: { type: "null" },
  any: {}
}

export const schemaOf = (shape: Shape): Schema => ({
  ...structureOf(shape),
  description: shape.description === "" ? undefined : shape.description
})

const structureOf = (shape: Shape): Schema => {
  switch (shape.kind) {
    case "array":
      return { type: "array", items: schemaOf(shape.items) }
    case "map":
      return { type: "object", additionalProperties: schemaOf(shape.values) }
    case "object": {
      const members = Object.entries(shape.members)
      return {
        type: "object",
        properties: new Map(members.map(([name, member]) => [name, schemaOf(member)])),
        required: members.filter(([, member]) => !member.optional).map(([name]) => name)
      }
    }
    default:
      return SCALAR_SCHEMAS[shape.kind]
  }
}

const kindOf = (value: JsonValue): string => {
  if (typeof value === "number" || typeof value === "bigint" || value instanceof Amount) return "number"
  if (value instanceof RawJson || value instanceof LongText) return "any"
  if (value instanceof JsonNumber || value instanceof JsonObject || typeof value !== "object" || value === null) {
    return typeOf(value)
  }
  return Array.isArray(value) || value instanceof LazyArray ? "array" : "object"
}

const EXPECTED: Readonly<Record<Shape["kind"], string>> = {
  string: "string",
  hex: "string",
  number: "number",
  integer: "number",
  amount: "number",
  time: "number",
  boolean: "bool",
  null: "null",
  any: "any",
  array: "array",
  object: "object",
  map: "object"
}

/**
 * Returns the first mismatch between a result and its shape, as the reference node's `-rpcdoccheck` would, or
 * `undefined`: an undescribed member, a missing member, a value of another type. For tests.
 */
export const mismatch = (shape: Shape, value: JsonValue, path = "result"): string | undefined => {
  const kind = kindOf(value)
  const expected = EXPECTED[shape.kind]
  if (kind === "any" || expected === "any") return undefined
  if (kind !== expected) return `${path} is ${kind}, described as ${expected}`
  if (shape.kind === "amount" && !(value instanceof Amount)) return `${path} is no Amount`
  if (shape.kind === "array" && (Array.isArray(value) || value instanceof LazyArray)) {
    const items: Iterable<JsonValue> = value instanceof LazyArray ? value.items : value
    return firstOf([...items].entries(), ([at, item]) => mismatch(shape.items, item, `${path}[${at}]`))
  }
  if (shape.kind === "map") {
    return firstOf(membersOf(value), ([name, member]) => mismatch(shape.values, member, `${path}.${name}`))
  }
  if (shape.kind === "object") return mismatchedMember(shape, new Map(membersOf(value)), path)
  return undefined
}

const mismatchedMember = (
  shape: ObjectShape,
  members: ReadonlyMap<string, JsonValue>,
  path: string
): string | undefined =>
  firstOf(members.keys(), (name) => Object.hasOwn(shape.members, name) ? undefined : `${path}.${name} is not described`)
    ?? firstOf(Object.entries(shape.members), ([name, member]) => {
      const value = members.get(name)
      if (value !== undefined) return mismatch(member, value, `${path}.${name}`)
      return member.optional ? undefined : `${path}.${name} is missing`
    })

const membersOf = (value: JsonValue): ReadonlyArray<readonly [string, JsonValue]> => {
  if (value instanceof Map) return [...value]
  if (value instanceof LazyMap) return [...value.members]
  if (value instanceof JsonObject) return value.keys.map((name, at) => [name, value.values[at] ?? null])
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => member === undefined ? [] : [[name, member] as const])
}

const firstOf = <A>(items: Iterable<A>, find: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
