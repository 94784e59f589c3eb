import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { UserRight } from "../../config/accessKinds.ts"
import { formatAmount, parseAmount } from "../../protocol/amount.ts"
import { Amount, type JsonValue, type LazyArray, type LazyMap, RawJson } from "../json/encodeJson.ts"
import { type Json, JsonNumber, JsonObject } from "../json/json.ts"
import type { LongText } from "../json/LongText.ts"

/**
 * Schemas of results, for the help, OpenRPC and client types. Decoded from answers of `plainAnswer`. Their type is the
 * encoder's input, so answers are encoded without a pass over the schema.
 */

/** The kind shown in the help, if the type alone does not determine it. */
const KindId: unique symbol = Symbol.for("svcd/rpc/Kind")

/** What a member name of a map is. */
const KeyId: unique symbol = Symbol.for("svcd/rpc/Key")

/** The right needed to see this part. */
const NeedsId: unique symbol = Symbol.for("svcd/rpc/Needs")

type Kind = "string" | "hex" | "number" | "integer" | "amount" | "time" | "boolean" | "null" | "any"

export type AnyResult = Schema.Schema.AnyNoContext

/** Values that encode to the JSON of `A`: text encoded before, and items and members made during encoding. */
export type Encodable<A> = [JsonValue] extends [A] ? JsonValue : RawJson<A> | LongText<A> | EncodableStructure<A>

type EncodableStructure<A> = A extends null | undefined | boolean | number | string | Amount ? A
  : A extends ReadonlyArray<infer B> ? ReadonlyArray<Encodable<B>> | LazyArray<Encodable<B>>
  : string extends keyof A ? EncodableMap<A[keyof A]>
  : EncodableObject<A>

type EncodableObject<A> = { readonly [K in keyof A]: Encodable<A[K]> }

type EncodableMap<B> =
  | { readonly [name: string]: Encodable<B> }
  | ReadonlyMap<string, Encodable<B>>
  | LazyMap<Encodable<B>>

/** The return type of a function that makes a result. */
export type ValueOf<S extends AnyResult> = EncodableStructure<Schema.Schema.Type<S>>

/** For the members of an object with further members. */
export type MembersOf<F extends Schema.Struct.Fields> = EncodableObject<Schema.Struct.Type<F>>

const described = (description: string, kind: Kind) => ({ description, [KindId]: kind })

const NUMBER = Schema.instanceOf(JsonNumber)

const INTEGER = /^-?\d+$/

const numberOf = (isValid: (text: string) => boolean) =>
  Schema.transform(NUMBER.pipe(Schema.filter(({ text }) => isValid(text))), Schema.Number, {
    strict: true,
    decode: ({ value }) => value,
    encode: (value) => new JsonNumber(String(value))
  })

const ANY_NUMBER = numberOf(() => true)
const ANY_INTEGER = numberOf((text) => INTEGER.test(text))

const EIGHT_DECIMALS = /^-?\d+\.\d{8}$/

const AMOUNT = Schema.transform(
  NUMBER.pipe(Schema.filter(({ text }) => EIGHT_DECIMALS.test(text))),
  Schema.instanceOf(Amount),
  {
    strict: true,
    decode: ({ text }) => new Amount(parseAmount(text) ?? Number.NaN),
    encode: ({ units }) => new JsonNumber(formatAmount(units))
  }
)

const HEX = Schema.String.pipe(Schema.pattern(/^([0-9a-f]{2})*$/))

const ANY = Schema.declare((value: unknown): value is JsonValue => value !== undefined)

export const string = (description: string) => Schema.String.annotations(described(description, "string"))
export const hex = (description: string) => HEX.annotations(described(description, "hex"))
export const number = (description: string) => ANY_NUMBER.annotations(described(description, "number"))
export const integer = (description: string) => ANY_INTEGER.annotations(described(description, "integer"))
/** NMC with eight decimals. */
export const amount = (description: string) => AMOUNT.annotations(described(description, "amount"))
/** Seconds since 1970 UTC. */
export const time = (description: string) => ANY_INTEGER.annotations(described(description, "time"))
export const boolean = (description: string) => Schema.Boolean.annotations(described(description, "boolean"))
export const nothing = (description: string) => Schema.Null.annotations(described(description, "null"))
export const oneOf = <const W extends ReadonlyArray<string>>(description: string, ...words: W) =>
  Schema.Literal<[...W]>(...words).annotations(described(description, "string"))
export const any = (description: string) => ANY.annotations(described(description, "any"))

/** `key` says what a member name is. */
export const map = <A, I>(key: string, values: Schema.Schema<A, I>, description = "") =>
  Schema.Record({ key: Schema.String, value: values }).annotations({ description, [KeyId]: key })

/** Omitted for callers without the right, even if they may call the method (`-rpcrights`). */
export const needing = <A, I>(right: UserRight, schema: Schema.Schema<A, I>): Schema.Schema<A, I> =>
  schema.annotations({ [NeedsId]: right })

export type Described =
  & {
    readonly description: string
    readonly optional: boolean
    readonly needs?: UserRight
  }
  & (
    | { readonly kind: Kind }
    | { readonly kind: "array"; readonly items: Described }
    | { readonly kind: "object"; readonly members: { readonly [name: string]: Described } }
    | { readonly kind: "map"; readonly key: string; readonly values: Described }
  )

const viewOf = (ast: AST.AST, optional = false): Described => {
  const needs = AST.getAnnotation<UserRight>(NeedsId)(ast)
  const view = plainView(ast, optional)
  return Option.isNone(needs) ? view : { ...view, needs: needs.value }
}

const plainView = (ast: AST.AST, optional: boolean): Described => {
  const description = Option.getOrElse(AST.getDescriptionAnnotation(ast), () => "")
  const kind = AST.getAnnotation<Kind>(KindId)(ast)
  if (Option.isSome(kind)) return { kind: kind.value, description, optional }
  switch (ast._tag) {
    case "Union": {
      const [type] = ast.types.filter((each) => !AST.isUndefinedKeyword(each))
      return type === undefined ? { kind: "any", description, optional } : viewOf(type, optional)
    }
    case "TupleType": {
      const [rest] = ast.rest
      return rest === undefined
        ? { kind: "any", description, optional }
        : { kind: "array", items: viewOf(rest.type), description, optional }
    }
    case "TypeLiteral": {
      const [index] = ast.indexSignatures
      if (index !== undefined) {
        const key = Option.getOrElse(AST.getAnnotation<string>(KeyId)(ast), () => "name")
        return { kind: "map", key, values: viewOf(index.type), description, optional }
      }
      const members = ast.propertySignatures.map((member) =>
        [String(member.name), viewOf(member.type, member.isOptional)] as const
      )
      return { kind: "object", members: Object.fromEntries(members), description, optional }
    }
    case "StringKeyword":
      return { kind: "string", description, optional }
    case "NumberKeyword":
      return { kind: "number", description, optional }
    case "BooleanKeyword":
      return { kind: "boolean", description, optional }
    case "Refinement":
      return { ...viewOf(ast.from, optional), description }
    default:
      return { kind: "any", description, optional }
  }
}

const SAMPLES: Readonly<Record<Kind, string>> = {
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

const TYPE_WORDS: Readonly<Record<Described["kind"], string>> = {
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

export type Row = readonly [left: string, right: string]

/** One line per member, indented by two per level. */
const rowsOf = (
  view: Described,
  { indent = "", prefix = "", suffix = "" }: {
    readonly indent?: string
    readonly prefix?: string
    readonly suffix?: string
  } = {}
): ReadonlyArray<Row> => {
  const needs = view.needs === undefined ? "" : `, right ${view.needs}`
  const words = `(${TYPE_WORDS[view.kind]}${view.optional ? ", optional" : ""}${needs})`
  const right = view.description === "" ? words : `${words} ${view.description}`
  const inner = `${indent}  `
  switch (view.kind) {
    case "array":
      return [
        [`${indent}${prefix}[`, right],
        ...rowsOf(view.items, { indent: inner, prefix: "", suffix: "," }),
        [`${inner}...`, ""],
        [`${indent}]${suffix}`, ""]
      ]
    case "map":
      return [
        [`${indent}${prefix}{`, right],
        ...rowsOf(view.values, { indent: inner, prefix: `"${view.key}": `, suffix: "," }),
        [`${inner}...`, ""],
        [`${indent}}${suffix}`, ""]
      ]
    case "object": {
      const members = Object.entries(view.members)
      const rows = members.flatMap(([name, member], at) =>
        rowsOf(member, { indent: inner, prefix: `"${name}": `, suffix: at === members.length - 1 ? "" : "," })
      )
      return [[`${indent}${prefix}{`, right], ...rows, [`${indent}}${suffix}`, ""]]
    }
    default:
      return [[`${indent}${prefix}${SAMPLES[view.kind]}${suffix}`, right]]
  }
}

type JsonSchemaObject = { readonly [key: string]: JsonValue | undefined }

const SCALAR_SCHEMAS: Readonly<Record<Kind, JsonSchemaObject>> = {
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

const jsonSchema = (view: Described): JsonSchemaObject => ({
  ...structureOf(view),
  description: view.description === "" ? undefined : view.description
})

const structureOf = (view: Described): JsonSchemaObject => {
  switch (view.kind) {
    case "array":
      return { type: "array", items: jsonSchema(view.items) }
    case "map":
      return { type: "object", additionalProperties: jsonSchema(view.values) }
    case "object": {
      const members = Object.entries(view.members)
      return {
        type: "object",
        properties: new Map(members.map(([name, member]) => [name, jsonSchema(member)])),
        required: members.filter(([, member]) => !member.optional).map(([name]) => name)
      }
    }
    default:
      return SCALAR_SCHEMAS[view.kind]
  }
}

export const describedBy = ({ ast }: AnyResult): Described => viewOf(ast)

export const describe = (schema: AnyResult): ReadonlyArray<Row> => rowsOf(describedBy(schema))

/** For the OpenRPC document. */
export const jsonSchemaOf = (schema: AnyResult): JsonSchemaObject => jsonSchema(describedBy(schema))

/** As the schemas decode it: objects as records, numbers with their digits. */
export const plainAnswer = (json: Json): unknown => {
  if (json instanceof JsonObject) {
    const record: Record<string, unknown> = Object.create(null)
    for (const [at, key] of json.keys.entries()) record[key] = plainAnswer(json.values[at] ?? null)
    return record
  }
  return Array.isArray(json) ? json.map(plainAnswer) : json
}
