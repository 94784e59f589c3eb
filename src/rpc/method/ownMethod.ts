import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { UserRight } from "../../config/accessKinds.ts"
import type { JsonValue } from "../json/encodeJson.ts"
import { type Json, JsonNumber, JsonObject, typeOf } from "../json/json.ts"
import { contract } from "./contract.ts"
import { method } from "./method.ts"
import type { Method } from "./methodTable.ts"
import { custom, optional, type Param, type ParamKind, type Params } from "./params.ts"
import type { AnyResult } from "./results.ts"
import { RpcError } from "./RpcError.ts"

/** Schemas by name, in the order of positions. Decoded without waiting and without services. */
export type OwnParams = Schema.Struct.Fields

export interface OwnMethodDefinition<P extends OwnParams, A, I, R> {
  /** Letters, digits and underscores, as `greet`, and not a name of the node's methods. */
  readonly name: string
  /** For the help, like the descriptions of the schemas. The first sentence says what the method does. */
  readonly summary?: string
  readonly params: P
  /** Encoded as plain JSON. */
  readonly results: Schema.Schema<A, I>
  /** The right that a user needs (`-rpcrights`); `admin` by default. */
  readonly right?: UserRight
  /** Whether a call changes something. It then runs to its end even without its caller. */
  readonly writes?: boolean
  /** A minute by default. */
  readonly timeout?: Duration.DurationInput
  /** The caller gets an `RpcError`. Any other failure is -32603 and a log line. */
  readonly handler: (params: Schema.Struct.Type<P>) => Effect.Effect<A, RpcError, R>
}

/** A method of an application. Its handler needs the services `R`. */
export interface OwnMethod<out R = never> {
  readonly name: string
  readonly withServices: (services: Context.Context<R>) => Method
}

const DEFAULT_TIMEOUT = Duration.minutes(1)

export const isMethodName = (text: string): boolean => /^[A-Za-z][A-Za-z0-9_]*$/.test(text)

/** As a JavaScript value. */
const plain = (json: Json): unknown => {
  if (json instanceof JsonNumber) return json.value
  if (json instanceof JsonObject) {
    const record: Record<string, unknown> = Object.create(null)
    for (const [at, key] of json.keys.entries()) record[key] = plain(json.values[at] ?? null)
    return record
  }
  return Array.isArray(json) ? json.map(plain) : json
}

/** The first place that is not JSON; `undefined` if there is none. */
const notJson = (value: unknown, path = "the result"): string | undefined => {
  switch (typeof value) {
    case "boolean":
    case "string":
    case "undefined":
      return undefined
    case "number":
      return Number.isFinite(value) ? undefined : path
    case "object": {
      if (value === null) return undefined
      const prototype: unknown = Object.getPrototypeOf(value)
      if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return path
      for (const [key, member] of Object.entries(value)) {
        const fault = notJson(member, `${path}.${key}`)
        if (fault !== undefined) return fault
      }
      return undefined
    }
    default:
      return path
  }
}

const isJsonValue = (value: unknown): value is JsonValue => value !== undefined && notJson(value) === undefined

const KINDS: ReadonlyMap<AST.AST["_tag"], readonly [ParamKind, string]> = new Map([
  ["StringKeyword", ["string", "string"]],
  ["NumberKeyword", ["number", "numeric"]],
  ["BooleanKeyword", ["boolean", "boolean"]],
  ["TupleType", ["array", "json array"]],
  ["TypeLiteral", ["object", "json object"]]
])

const TYPES: Readonly<Partial<Record<ParamKind, string>>> = {
  string: "string",
  number: "number",
  boolean: "bool",
  array: "array",
  object: "object"
}

/** Removes the `undefined` of an optional member. */
const presentOf = (ast: AST.AST): AST.AST => {
  if (ast._tag !== "Union") return ast
  const [only, ...others] = ast.types.filter((type) => !AST.isUndefinedKeyword(type))
  return only === undefined || others.length > 0 ? ast : only
}

/** The common kind of all members or literals. */
const kindOf = (ast: AST.AST): readonly [ParamKind, string] => {
  const ANY = ["any", "any"] as const
  if (ast._tag === "Literal") return typeof ast.literal === "string" ? ["string", "string"] : ANY
  if (ast._tag !== "Union") return KINDS.get(ast._tag) ?? ANY
  const [first = ANY, ...others] = ast.types.map(kindOf)
  return others.every(([kind]) => kind === first[0]) ? first : ANY
}

/** For the help and the command line. Parameters are decoded together. */
const paramOf = ({ isOptional, type }: AST.PropertySignature, description: string): Param<unknown> => {
  const [kind, words] = kindOf(presentOf(type))
  const expected = TYPES[kind]
  const param = custom({
    kind,
    words,
    description,
    read: (value) =>
      expected === undefined || typeOf(value) === expected
        ? plain(value)
        : RpcError.wrongType({ actual: typeOf(value), expected })
  })
  return isOptional ? optional(param) : param
}

const descriptionOf = (ast: AST.AST): string =>
  AST.getDescriptionAnnotation(ast).pipe((found) => found._tag === "Some" ? found.value : "")

const membersOf = ({ ast }: Schema.Schema.AnyNoContext): ReadonlyArray<AST.PropertySignature> =>
  ast._tag === "TypeLiteral" ? ast.propertySignatures : []

const paramsOf = (schema: Schema.Schema.AnyNoContext): Params => {
  const described = new Map(
    membersOf(Schema.typeSchema(schema)).map((
      { name, type }
    ) => [name, descriptionOf(type) || descriptionOf(presentOf(type))])
  )
  return Object.fromEntries(
    membersOf(Schema.encodedSchema(schema)).map((member) =>
      [String(member.name), paramOf(member, descriptionOf(member.type) || (described.get(member.name) ?? ""))] as const
    )
  )
}

/** The place of the mismatch without the value, which may be secret. */
const placeOf = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  return issue === undefined || issue.path.length === 0 ? "the result" : `the result at ${issue.path.join(".")}`
}

const refusalOf = (error: ParseResult.ParseError): RpcError => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  const path = issue?.path.join(".") ?? ""
  return RpcError.invalidParameter(`${path}${path === "" ? "" : ": "}${issue?.message ?? "is not valid"}`)
}

/** A defect of the application: -32603 for the caller, details in the log. */
const broken = (what: string): Effect.Effect<never> => Effect.dieMessage(what)

/** An `RpcError` goes to the caller. Any other failure is a defect. */
const asAnswer = (cause: Cause.Cause<unknown>): Effect.Effect<never, RpcError> => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure instanceof RpcError) return failure
  if (Cause.isInterruptedOnly(cause)) return broken("its handler interrupted itself")
  return Effect.failCause(Cause.die(Cause.squash(cause)))
}

/** Defines a method of an application, with `help`, OpenRPC, rights and metrics. */
export const ownMethod = <const P extends OwnParams, A, I, R = never>(
  definition: OwnMethodDefinition<P, A, I, R>
): OwnMethod<R> => {
  const { handler, name, results, right, summary = "A method of this application.", writes = false } = definition
  const timeout = Duration.decode(definition.timeout ?? DEFAULT_TIMEOUT)
  // A schema that needs services refuses every value.
  const given = Schema.Struct<P>(definition.params) as unknown as Schema.Schema<Schema.Struct.Type<P>, unknown>
  const decode = ParseResult.decodeUnknownEither(given)
  const encode = ParseResult.encodeUnknown(results)

  const answer = (params: unknown): Effect.Effect<JsonValue, RpcError, R> => {
    const decoded = decode(params)
    if (Either.isLeft(decoded)) return refusalOf(ParseResult.parseError(decoded.left))
    return Effect.suspend(() => handler(decoded.right)).pipe(
      Effect.catchAllCause(asAnswer),
      // Limits even an effect that cannot be interrupted.
      Effect.disconnect,
      Effect.timeoutFailCause({
        duration: timeout,
        onTimeout: () => Cause.die(new Error(`no answer within ${Duration.format(timeout)}`))
      }),
      Effect.flatMap((value) =>
        Effect.catchAll(
          encode(value),
          (issue) => broken(`${placeOf(ParseResult.parseError(issue))} is not as its schema says`)
        )
      ),
      Effect.flatMap((value) =>
        isJsonValue(value) ? Effect.succeed(value) : broken(`${notJson(value) ?? "the result"} is not JSON`)
      )
    )
  }

  const shown: AnyResult = Schema.encodedSchema(results)
  const promised = contract({
    name,
    group: "Application",
    coins: "any",
    ...right === undefined ? {} : { right },
    summary,
    params: paramsOf(given),
    results: [{ schema: shown }],
    examples: [],
    own: true,
    writes
  })
  return {
    name,
    withServices: (services) =>
      method(promised, (values) => {
        const present = Object.entries(values).filter(([, value]) => value !== undefined)
        return Effect.provide(answer(Object.fromEntries(present)), services)
      })
  }
}
