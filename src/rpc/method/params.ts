import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import type { UserRight } from "../../config/accessKinds.ts"
import { fromHex, parseDisplayHash } from "../../protocol/bytes.ts"
import type { Steps } from "../../protocol/steps.ts"
import { readAmount } from "../json/amounts.ts"
import type { JsonValue } from "../json/encodeJson.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, type JsonType, typeOf } from "../json/json.ts"
import { readSteps } from "./inTurns.ts"
import { refusalOf } from "./refusal.ts"
import { type Read, RpcError } from "./RpcError.ts"
import {
  adaptedTo,
  expectedOf,
  type JsonSchema,
  ofArray,
  ofArrayOfJson,
  ofBoolean,
  ofJson,
  ofMembers,
  ofNumber,
  ofObject,
  ofString,
  type Outcome,
  refinedTo,
  type Refusable,
  type ValueLabel
} from "./schema.ts"

/** A parameter: its schema and help text (reference/rpc.md 1.8). Handlers get a record of decoded values. */
export interface Param<out A, out I = unknown> {
  /** For the types of `calling.ts` only. Never set. */
  readonly given?: I
  readonly schema: Schema.Schema.AnyNoContext
  readonly parse: (value: Json) => Outcome<A>
  readonly words: string
  readonly kind: ParamKind
  readonly description: string
  readonly aliases: ReadonlyArray<string>
  /** The only accepted JSON type, if there is one. All types are checked before any value is decoded. */
  readonly expected: JsonType | undefined
  /** The default and its text in the help; `undefined` for a required parameter. */
  readonly fallback: { readonly value: A; readonly text: string } | undefined
  /** Whether `null` means missing. Otherwise it has the wrong type. */
  readonly nullIsMissing: boolean
  readonly hidden: boolean
  /** Members of an options object, or items of an array. */
  readonly members: Params | undefined
  readonly item: Param<unknown> | undefined
  /** Whether members may be named beside other parameters. */
  readonly membersByName: boolean
  /** In the synopsis, instead of the value's form. */
  readonly synopsis: string | undefined
  readonly argument: ArgumentForm
  /** Right needed for this parameter, besides the method's. */
  readonly needs: UserRight | undefined
  /** Maximum of a number. The call is refused above it, before any work. */
  readonly most: number | undefined
  /** Bytes of work if more than the value itself, as for a range of indexes. */
  readonly work: ((value: Json) => number) | undefined
}

export type ParamKind = "string" | "hex" | "integer" | "number" | "amount" | "boolean" | "array" | "object" | "any"

/**
 * "json or text" falls back to text. "free text", such as a label or a password, may have an equals sign, which -named
 * does not take for a misspelled name (upstream `rpc/client.cpp`, `ParamFormat::STRING`).
 */
export type ArgumentForm = "text" | "free text" | "text or null" | "json" | "json or text"

/** In the order of positions. */
export interface Params {
  readonly [name: string]: Param<unknown, unknown>
}

/** Parameters with a default may be missing. */
export type GivenOf<P extends Params> =
  & { readonly [K in RequiredOf<P>]: GivenFor<P[K]> }
  & { readonly [K in Exclude<keyof P, RequiredOf<P>>]?: GivenFor<P[K]> }

type GivenFor<T> = T extends Param<unknown, infer I> ? I : never

type RequiredOf<P extends Params> = { [K in keyof P]: undefined extends GivenFor<P[K]> ? never : K }[keyof P]

export type Decoded<P extends Params> = { readonly [K in keyof P]: P[K] extends Param<infer A, unknown> ? A : never }

interface Definition<A> {
  readonly kind: ParamKind
  readonly words: string
  readonly description: string
  readonly schema: JsonSchema<A>
}

const make = <A, I>({ description, kind, schema, words }: Definition<A>): Param<A, I> => ({
  kind,
  words,
  description,
  schema,
  parse: ParseResult.decodeUnknownEither(schema),
  expected: expectedOf(schema),
  aliases: [],
  fallback: undefined,
  nullIsMissing: true,
  hidden: false,
  members: undefined,
  item: undefined,
  membersByName: false,
  synopsis: undefined,
  argument: kind === "string" || kind === "hex" ? "text" : "json",
  needs: undefined,
  most: undefined,
  work: undefined
})

/** For a value inside a parameter. `label` is its name in messages. */
export const decodedValue = <A>(param: Param<A, unknown>, value: Json, label: string): Read<A> =>
  Either.mapLeft(param.parse(value), (issue) => refusalOf(issue, label))

// Reading one value

const integerOf = (number: JsonNumber, [min, max]: Range): Refusable<number> =>
  integerWithin(number, min, max) ?? RpcError.integerOutOfRange()

type Range = readonly [min: number, max: number]

const INT32: Range = [-(2 ** 31), 2 ** 31 - 1]
const UINT32: Range = [0, 2 ** 32 - 1]
const INT64: Range = [-(2 ** 63), 2 ** 63 - 1]

/** Display order to wire order. Upstream `rpc/util.cpp`, `ParseHashV`. */
export const readHash = (text: string, { label }: ValueLabel): Refusable<Uint8Array> => {
  const hash = parseDisplayHash(text)
  if (hash !== undefined) return hash
  // The reference node counts bytes.
  const length = Buffer.byteLength(text)
  return RpcError.invalidParameter(
    length === 64
      ? `${label} must be hexadecimal string (not '${text}')`
      : `${label} must be of length 64 (not ${length}, for '${text}')`
  )
}

/** Upstream `rpc/util.cpp`, `ParseHexV`. */
export const readHex = (text: string, { label }: ValueLabel): Refusable<Uint8Array> =>
  fromHex(text) ?? RpcError.invalidParameter(`${label} must be hexadecimal string (not '${text}')`)

const TEXT = ofString((text) => text)
const HEX = ofString(readHex)
const HASH = ofString(readHash)

// Each kind is required unless `optional` or `withDefault` wraps it.

export const string = (description: string): Param<string, string> =>
  make({ kind: "string", words: "string", description, schema: TEXT })

/** For methods with their own error for invalid hex. */
export const hexText = (description: string): Param<string, string> =>
  make({ kind: "hex", words: "string", description, schema: TEXT })

/** In wire order. */
export const hex = (description: string): Param<Uint8Array, string> =>
  make({ kind: "hex", words: "string", description, schema: HEX })

/** A block hash or txid. `label` replaces the parameter's name in messages. */
export const hash = (description: string, { label }: { readonly label?: string } = {}): Param<Uint8Array, string> =>
  make({
    kind: "hex",
    words: "string",
    description,
    schema: label === undefined ? HASH : ofString((text) => readHash(text, { label }))
  })

const integerIn = (range: Range) => {
  const schema = ofNumber((number) => integerOf(number, range))
  return (description: string): Param<number, number> =>
    make({ kind: "integer", words: "numeric", description, schema })
}

export const int32 = integerIn(INT32)
export const uint32 = integerIn(UINT32)
/** From 2^53 on, the nearest double. Methods check a narrower range. */
export const int64 = integerIn(INT64)

const DOUBLE = ofNumber(({ value }) => Number.isFinite(value) ? value : RpcError.misc("JSON double out of range"))

export const double = (description: string): Param<number, number> =>
  make({ kind: "number", words: "numeric", description, schema: DOUBLE })

const AMOUNT = ofJson((value) => readAmount(value))

/** Decodes NMC, as number or text, to the smallest unit. */
export const amount = (description: string): Param<number, number | string> =>
  make({ kind: "amount", words: "numeric or string", description, schema: AMOUNT })

export const boolean = (description: string): Param<boolean, boolean> =>
  make({ kind: "boolean", words: "boolean", description, schema: ofBoolean })

const VERBOSITY = ofJson((value) => {
  if (typeof value === "boolean") return Number(value)
  return value instanceof JsonNumber
    ? integerOf(value, INT32)
    : RpcError.wrongType({ actual: typeOf(value), expected: "number" })
})

/** A number, or `false` and `true` for 0 and 1. Upstream `rpc/util.cpp`, `ParseVerbosity`. */
export const verbosity = (description: string): Param<number, boolean | number> =>
  make({ kind: "integer", words: "numeric or boolean", description, schema: VERBOSITY })

const ANY = ofJson((value) => value)

export const json = (
  description: string,
  { words = "any" }: { readonly words?: string } = {}
): Param<Json, JsonValue> => make({ kind: "any", words, description, schema: ANY })

/** Decoded by the handler. */
export const jsonObject = (description: string): Param<JsonObject, { readonly [name: string]: JsonValue }> =>
  make({ kind: "object", words: "json object", description, schema: ofMembers })

/** With its own rule: several types, or a closed set of words. */
export const custom = <A, I = JsonValue>(
  { kind = "any", read, ...text }:
    & { readonly words: string; readonly description: string; readonly kind?: ParamKind }
    & {
      readonly read: (value: Json, label: string) => Refusable<A>
    }
): Param<A, I> => make({ kind, ...text, schema: ofJson(read) })

export const refined = <A, B, I>(
  param: Param<A, I>,
  read: (value: A, label: string) => Refusable<B>
): Param<B, I> => {
  const schema: JsonSchema<B> = refinedTo(param, read)
  return { ...param, fallback: undefined, schema, parse: ParseResult.decodeUnknownEither(schema) }
}

export const array = <A, I>(item: Param<A, I>, description: string): Param<ReadonlyArray<A>, ReadonlyArray<I>> => ({
  ...make({ kind: "array", words: "json array", description, schema: ofArray(item) }),
  item
})

/** The handler decodes the items in steps. */
export const longArray = <A, I>(
  item: Param<A, I>,
  description: string
): Param<() => Steps<Read<ReadonlyArray<A>>>, ReadonlyArray<I>> => {
  const schema = ofArrayOfJson((values) => () => readSteps(values, (each) => decodedValue(item, each, "item")))
  return {
    ...make({ kind: "array", words: "json array", description, schema }),
    item
  }
}

/** Checks all types in the order of names, then refuses unknown members. Upstream `rpc/util.cpp`, `RPCTypeCheckObj`. */
export const object = <const P extends Params>(
  members: P,
  description: string,
  unknown: "ignore" | "refuse" = "ignore"
): Param<Decoded<P>, GivenOf<P>> => ({
  ...make({
    kind: "object",
    words: "json object",
    description,
    schema: ofObject(members, { unknown, decode: recordReader(members) })
  }),
  members
})

/** Has the decoders' only type assertion: each key holds the decoded value or its fallback, as `Decoded` declares. */
export const recordReader = <P extends Params>(params: P) => {
  const entries = Object.entries(params)
  return (
    given: (name: string, position: number) => Json | undefined
  ): Either.Either<Decoded<P>, ParseResult.Pointer> => {
    const values: Record<string, unknown> = {}
    for (let position = 0; position < entries.length; position++) {
      const entry = entries[position]
      if (entry === undefined) continue
      const [name, param] = entry
      const value = given(name, position)
      const missing = value === undefined || (value === null && param.nullIsMissing)
      if (missing && param.fallback !== undefined) {
        values[name] = param.fallback.value
        continue
      }
      const outcome = param.parse(value ?? null)
      if (Either.isLeft(outcome)) return Either.left(new ParseResult.Pointer(name, value, outcome.left))
      values[name] = outcome.right
    }
    return Either.right(values as Decoded<P>)
  }
}

/** Members may be named beside the other parameters. Refuses unknown members. */
export const namedOptions = <const P extends Params>(
  members: P,
  description: string
): Param<Decoded<P>, GivenOf<P>> => ({
  ...object(members, description, "refuse"),
  membersByName: true
})

/** `text` describes the default in the help. */
export const optional = <A, I>(param: Param<A, I>, text = ""): Param<A | undefined, I | null | undefined> => ({
  ...param,
  fallback: { value: undefined, text }
})

export const withDefault = <A, I>(
  param: Param<A, I>,
  value: A,
  text = defaultText(value)
): Param<A, I | null | undefined> => ({
  ...param,
  fallback: { value, text }
})

const defaultText = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value)
  return typeof value === "number" || typeof value === "boolean" ? String(value) : ""
}

export const orEmpty = <A, I>(param: Param<A, I>): Param<A, I | null | undefined> => ({
  ...param,
  fallback: { value: Either.getOrThrowWith(decodedValue(param, new JsonObject(), ""), (refusal) => refusal), text: "" }
})

/** `null` does not count as missing (reference/rpc.md 5.1, `options` of the name methods). */
export const notNull = <A, I>(param: Param<A, I>): Param<A, I> => ({ ...param, nullIsMissing: false })

export const alias = <A, I>(param: Param<A, I>, ...aliases: ReadonlyArray<string>): Param<A, I> => ({
  ...param,
  aliases
})

/** Replaces the value's form in the synopsis, as the reference node does for some long parameters. */
export const shownAs = <A, I>(param: Param<A, I>, synopsis: string): Param<A, I> => ({ ...param, synopsis })

/** Overrides the form on command lines. */
export const asArgument = <A, I>(argument: ArgumentForm, param: Param<A, I>): Param<A, I> => ({ ...param, argument })

export const freeText = <A, I>(param: Param<A, I>): Param<A, I> => asArgument("free text", param)

/** Refused without the right, even if the user may call the method (`-rpcrights`). */
export const needing = <A, I>(needs: UserRight, param: Param<A, I>): Param<A, I> => ({ ...param, needs })

/** For a number that multiplies work. */
export const atMost = <I>(most: number, param: Param<number, I>): Param<number, I> => ({
  ...refined(param, (value, label) => value > most ? RpcError.invalidParameter(`${label} is at most ${most}`) : value),
  most
})

/** `work` gets the undecoded value and returns the bytes of work, or 0 if the value will be refused. */
export const costing = <A, I>(work: (value: Json) => number, param: Param<A, I>): Param<A, I> => ({ ...param, work })

/** Accepted, but hidden from the help with all parameters after it. */
export const hidden = <A, I>(param: Param<A, I>): Param<A, I> => ({ ...param, hidden: true })

/** Changes or refuses the JSON value before it is decoded. */
export const adapted = <A, I>(param: Param<A, I>, adapt: (value: Json) => Refusable<Json>): Param<A, I> => {
  const schema: JsonSchema<A> = adaptedTo(param, adapt)
  return { ...param, schema, parse: ParseResult.decodeUnknownEither(schema) }
}
