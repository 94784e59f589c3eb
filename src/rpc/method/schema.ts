import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { isJson, type Json, JsonNumber, JsonObject, type JsonType, typeOf } from "../json/json.ts"
import { type ErrorOf, ExpectedId, RefusalId } from "./refusal.ts"
import { RpcError } from "./RpcError.ts"

/** Schemas of request values. Refusals become errors of the reference node (`refusal.ts`). */

/** The value, or the error that refuses it. */
export type Refusable<A> = A | RpcError

export type JsonSchema<A> = Schema.Schema<A, Json>

type Issue = ParseResult.ParseIssue
export type Outcome<A> = Either.Either<A, Issue>

/** Clients write their parameters as JSON, so requests are never encoded. */
const onlyDecoded = () => (value: unknown, _options: AST.ParseOptions, ast: AST.AST): Outcome<Json> =>
  Either.left(new ParseResult.Forbidden(ast, value, "a request is only decoded"))

const refused = (ast: AST.AST, value: unknown): Outcome<never> => Either.left(new ParseResult.Type(ast, value))

/** Makes the error again, because a schema's issue has neither a code nor the label. */
const refusalBy = (read: (value: unknown, label: string) => unknown): ErrorOf => (value, label) => {
  const outcome = read(value, label)
  return outcome instanceof RpcError ? outcome : RpcError.invalidParameter(`Invalid ${label}`)
}

const expecting = (type: JsonType | undefined) => type === undefined ? {} : { [ExpectedId]: type }

/** The only JSON type that the schema accepts. */
export const expectedOf = ({ ast }: Schema.Schema.AnyNoContext): JsonType | undefined =>
  Option.getOrUndefined(AST.getAnnotation<JsonType>(ExpectedId)(ast))

/** Any value that `read` accepts. `label` is its name in messages. */
export const ofJson = <A>(read: (value: Json, label: string) => Refusable<A>): JsonSchema<A> =>
  leaf((value, label) => isJson(value) ? read(value, label) : RpcError.invalidParameter(`Invalid ${label}`), undefined)

export interface ValueLabel {
  readonly label: string
}

export const ofString = <A>(read: (text: string, named: ValueLabel) => Refusable<A>): JsonSchema<A> =>
  leaf((value, label) => typeof value === "string" ? read(value, { label }) : wrongType(value, "string"), "string")

export const ofNumber = <A>(read: (number: JsonNumber, label: string) => Refusable<A>): JsonSchema<A> =>
  leaf((value, label) => value instanceof JsonNumber ? read(value, label) : wrongType(value, "number"), "number")

export const ofBoolean: JsonSchema<boolean> = leaf(
  (value) => typeof value === "boolean" ? value : wrongType(value, "bool"),
  "bool"
)

const wrongType = (value: unknown, expected: JsonType): RpcError =>
  RpcError.wrongType({ actual: isJson(value) ? typeOf(value) : typeof value, expected })

function leaf<A>(read: (value: unknown, label: string) => Refusable<A>, expected: JsonType | undefined): JsonSchema<A> {
  return Schema.declare([], {
    decode: () => (value, _, ast): Outcome<A> => {
      const outcome = read(value, "")
      return outcome instanceof RpcError ? refused(ast, value) : Either.right(outcome)
    },
    encode: onlyDecoded
  }, { ...expecting(expected), [RefusalId]: refusalBy(read) })
}

/** An item of an array or a member of an object. */
export interface JsonPart<out A> {
  readonly schema: Schema.Schema.AnyNoContext
  readonly parse: (value: Json) => Outcome<A>
}

export const refinedTo = <A, B>(part: JsonPart<A>, read: (value: A, label: string) => Refusable<B>): JsonSchema<B> => {
  const refusal: ErrorOf = (value, label) => {
    const decoded = isJson(value) ? part.parse(value) : undefined
    const outcome = decoded !== undefined && Either.isRight(decoded) ? read(decoded.right, label) : undefined
    return outcome instanceof RpcError ? outcome : RpcError.invalidParameter(`Invalid ${label}`)
  }
  return Schema.declare([part.schema], {
    decode: () => (value, _, ast): Outcome<B> => {
      if (!isJson(value)) return refused(ast, value)
      const decoded = part.parse(value)
      if (Either.isLeft(decoded)) return Either.left(decoded.left)
      const outcome = read(decoded.right, "")
      return outcome instanceof RpcError ? refused(ast, value) : Either.right(outcome)
    },
    encode: onlyDecoded
  }, { ...expecting(expectedOf(part.schema)), [RefusalId]: refusal })
}

/** `adapt` changes or refuses the value before `part` decodes it. */
export const adaptedTo = <A>(part: JsonPart<A>, adapt: (value: Json) => Refusable<Json>): JsonSchema<A> =>
  Schema.declare([part.schema], {
    decode: () => (value, _, ast): Outcome<A> => {
      const adapted = isJson(value) ? adapt(value) : undefined
      return adapted === undefined || adapted instanceof RpcError ? refused(ast, value) : part.parse(adapted)
    },
    encode: onlyDecoded
  }, {
    ...expecting(expectedOf(part.schema)),
    [RefusalId]: refusalBy((value) => isJson(value) ? adapt(value) : undefined)
  })

const isArray = (value: unknown): value is ReadonlyArray<Json> => Array.isArray(value)

/** The handler decodes the members. */
export const ofMembers: JsonSchema<JsonObject> = leaf(
  (value) => value instanceof JsonObject ? value : wrongType(value, "object"),
  "object"
)

/** `read` takes undecoded items. */
export const ofArrayOfJson = <A>(read: (values: ReadonlyArray<Json>) => A): JsonSchema<A> =>
  leaf((value) => isArray(value) ? read(value) : wrongType(value, "array"), "array")

export const ofArray = <A>(item: JsonPart<A>): JsonSchema<ReadonlyArray<A>> =>
  Schema.declare([item.schema], {
    decode: () => (value, _, ast): Outcome<ReadonlyArray<A>> => {
      if (!isArray(value)) return refused(ast, value)
      const items: Array<A> = []
      for (let at = 0; at < value.length; at++) {
        const outcome = item.parse(value[at] ?? null)
        if (Either.isLeft(outcome)) return within({ ast, value }, new ParseResult.Pointer(at, value, outcome.left))
        items.push(outcome.right)
      }
      return Either.right(items)
    },
    encode: onlyDecoded
  }, { [ExpectedId]: "array" })

const within = ({ ast, value }: { readonly ast: AST.AST; readonly value: unknown }, pointer: ParseResult.Pointer) =>
  Either.left(new ParseResult.Composite(ast, value, pointer))

interface Member extends JsonPart<unknown> {
  readonly expected: JsonType | undefined
  readonly fallback: unknown
}

interface ObjectRules<A> {
  /** For unknown members. */
  readonly unknown: "ignore" | "refuse"
  /** Called after all types have been checked. */
  readonly decode: (given: (name: string) => Json | undefined) => Either.Either<A, ParseResult.Pointer>
}

/** Checks the types of all members, in the order of names, before it decodes one. */
export const ofObject = <A>(
  members: { readonly [name: string]: Member },
  { decode, unknown }: ObjectRules<A>
): JsonSchema<A> => {
  const sorted = Object.entries(members).sort(([a], [b]) => a < b ? -1 : 1)
  return Schema.declare(sorted.map(([, { schema }]) => schema), {
    decode: () => (value, _, ast): Outcome<A> => {
      if (!(value instanceof JsonObject)) return refused(ast, value)
      for (const [name, member] of sorted) {
        const fault = memberFault(member, value.get(name) ?? null)
        if (fault !== undefined) return within({ ast, value }, new ParseResult.Pointer(name, value, fault))
      }
      const stranger = unknown === "refuse" ? value.keys.find((key) => !Object.hasOwn(members, key)) : undefined
      if (stranger !== undefined) {
        return within({ ast, value }, new ParseResult.Pointer(stranger, value, new ParseResult.Unexpected(value)))
      }
      const outcome = decode((name) => value.get(name))
      return Either.isLeft(outcome) ? within({ ast, value }, outcome.left) : Either.right(outcome.right)
    },
    encode: onlyDecoded
  }, { [ExpectedId]: "object" })
}

const memberFault = ({ expected, fallback, schema }: Member, value: Json): Issue | undefined => {
  if (value === null) {
    return fallback === undefined ? new ParseResult.Missing(new AST.Type(schema.ast)) : undefined
  }
  return expected === undefined || typeOf(value) === expected ? undefined : new ParseResult.Type(schema.ast, value)
}
