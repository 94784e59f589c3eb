import { fromHex, parseDisplayHash } from "../../protocol/bytes.ts"
import { mapSteps, type Steps } from "../../protocol/steps.ts"
import { decodeAmount } from "../json/amounts.ts"
import { integerWithin, type Json, JsonNumber, JsonObject, type JsonType, typeOf } from "../json/json.ts"
import { RpcError } from "./RpcError.ts"

/**
 * The parameters of methods (reference/rpc.md 1.8): the type, the help text and the decoder of each. A method's
 * parameters are a record of these; its handler receives a record of the decoded values.
 */
export interface Param<out A> {
  readonly words: string
  readonly kind: ParamKind
  readonly description: string
  readonly aliases: ReadonlyArray<string>
  /** The required JSON type, if there is only one. The types of all parameters are checked before any is decoded. */
  readonly expected: JsonType | undefined
  /** `undefined` for a required parameter; else the value of a missing one, and its text in the help. */
  readonly fallback: { readonly value: A; readonly text: string } | undefined
  /** Whether `null` means that the parameter is missing; if not, `null` is a value of the wrong type. */
  readonly nullIsMissing: boolean
  readonly hidden: boolean
  /** The content: the members of an options object, the items of an array. */
  readonly members: { readonly [name: string]: Param<unknown> } | undefined
  readonly item: Param<unknown> | undefined
  /** Whether the members may also be given by name beside the other parameters. */
  readonly membersByName: boolean
  /**
   * Reads a value that has the expected type. `label` is its name in messages.
   *
   * @throws RpcError
   */
  readonly decode: (value: Json, label: string) => A
}

export type ParamKind = "string" | "hex" | "integer" | "number" | "amount" | "boolean" | "array" | "object" | "any"

/** The parameters of a method by name, in the order of their positions. */
export type Params = { readonly [name: string]: Param<unknown> }

export type Decoded<P extends Params> = { readonly [K in keyof P]: P[K] extends Param<infer A> ? A : never }

interface Definition<A> {
  readonly kind: ParamKind
  readonly words: string
  readonly description: string
  readonly expected?: JsonType
  readonly decode: (value: Json, label: string) => A
}

const make = <A>(definition: Definition<A>): Param<A> => ({
  kind: definition.kind,
  words: definition.words,
  description: definition.description,
  expected: definition.expected,
  decode: definition.decode,
  aliases: [],
  fallback: undefined,
  nullIsMissing: true,
  hidden: false,
  members: undefined,
  item: undefined,
  membersByName: false
})

// Reading one value

const wrongType = (value: Json, expected: JsonType): RpcError => RpcError.wrongType(typeOf(value), expected)

const decodeString = (value: Json): string => {
  if (typeof value !== "string") throw wrongType(value, "string")
  return value
}

const decodeNumber = (value: Json): JsonNumber => {
  if (!(value instanceof JsonNumber)) throw wrongType(value, "number")
  return value
}

const decodeInteger = (value: Json, min: number, max: number): number => {
  const integer = integerWithin(decodeNumber(value), min, max)
  if (integer === undefined) throw RpcError.integerOutOfRange()
  return integer
}

const INT32 = [-(2 ** 31), 2 ** 31 - 1] as const
const UINT32 = [0, 2 ** 32 - 1] as const
const INT64 = [-(2 ** 63), 2 ** 63 - 1] as const

/**
 * Reads a hash in display order, 64 digits, into wire order. Upstream `rpc/util.cpp`, `ParseHashV`.
 *
 * @throws RpcError -8
 */
export const decodeHash = (value: Json, label: string): Uint8Array => {
  const text = decodeString(value)
  const hash = parseDisplayHash(text)
  if (hash !== undefined) return hash
  // The reference node counts bytes.
  const length = Buffer.byteLength(text)
  if (length !== 64) {
    throw RpcError.invalidParameter(`${label} must be of length 64 (not ${length}, for '${text}')`)
  }
  throw RpcError.invalidParameter(`${label} must be hexadecimal string (not '${text}')`)
}

/**
 * Reads bytes in hexadecimal digits. Upstream `rpc/util.cpp`, `ParseHexV`.
 *
 * @throws RpcError -8
 */
export const decodeHex = (value: Json, label: string): Uint8Array => {
  const text = decodeString(value)
  const bytes = fromHex(text)
  if (bytes === undefined) throw RpcError.invalidParameter(`${label} must be hexadecimal string (not '${text}')`)
  return bytes
}

// The kinds of parameters. Each is required unless `optional` or `withDefault` wraps it.

export const string = (description: string): Param<string> =>
  make({ kind: "string", words: "string", description, expected: "string", decode: decodeString })

/** Hexadecimal text that the handler reads itself: its method has its own error for invalid hex. */
export const hexText = (description: string): Param<string> =>
  make({ kind: "hex", words: "string", description, expected: "string", decode: decodeString })

/** Bytes in hexadecimal digits, in wire order. */
export const hex = (description: string): Param<Uint8Array> =>
  make({ kind: "hex", words: "string", description, expected: "string", decode: decodeHex })

/** A block hash or txid. `label` is its name in messages if it differs from the parameter's. */
export const hash = (description: string, label?: string): Param<Uint8Array> =>
  make({
    kind: "hex",
    words: "string",
    description,
    expected: "string",
    decode: label === undefined ? decodeHash : (value) => decodeHash(value, label)
  })

const integerIn = ([min, max]: readonly [number, number]) => (description: string): Param<number> =>
  make({
    kind: "integer",
    words: "numeric",
    description,
    expected: "number",
    decode: (value) => decodeInteger(value, min, max)
  })

export const int32 = integerIn(INT32)
export const uint32 = integerIn(UINT32)
/** From 2^53 on, the nearest double: the method then checks a narrower range. */
export const int64 = integerIn(INT64)

/** A number with any fraction or exponent. */
export const double = (description: string): Param<number> =>
  make({
    kind: "number",
    words: "numeric",
    description,
    expected: "number",
    decode: (value) => {
      const double = decodeNumber(value).value
      if (!Number.isFinite(double)) throw RpcError.misc("JSON double out of range")
      return double
    }
  })

/** An amount in NMC, a number or text; decodes to the smallest unit. */
export const amount = (description: string): Param<number> =>
  make({ kind: "amount", words: "numeric or string", description, decode: decodeAmount })

export const boolean = (description: string): Param<boolean> =>
  make({
    kind: "boolean",
    words: "boolean",
    description,
    expected: "bool",
    decode: (value) => {
      if (typeof value !== "boolean") throw wrongType(value, "bool")
      return value
    }
  })

/** The level of detail: a number, or `false` and `true` for 0 and 1. Upstream `rpc/util.cpp`, `ParseVerbosity`. */
export const verbosity = (description: string): Param<number> =>
  make({
    kind: "integer",
    words: "numeric or boolean",
    description,
    decode: (value) => typeof value === "boolean" ? Number(value) : decodeInteger(value, ...INT32)
  })

/** Any JSON value, undecoded. */
export const json = (description: string, words = "any"): Param<Json> =>
  make({ kind: "any", words, description, decode: (value) => value })

/**
 * A parameter with a rule of its own: several types, or a closed set of words. `decode` throws an RpcError for an
 * invalid value.
 */
export const custom = <A>(
  definition: { readonly words: string; readonly description: string; readonly kind?: ParamKind } & {
    readonly decode: (value: Json, label: string) => A
  }
): Param<A> => make({ kind: "any", ...definition })

/** A parameter with one more rule. `decode` throws an RpcError for an invalid value. */
export const refined = <A, B>(param: Param<A>, decode: (value: A, label: string) => B): Param<B> => ({
  ...param,
  fallback: undefined,
  decode: (value, label) => decode(param.decode(value, label), label)
})

export const array = <A>(item: Param<A>, description: string): Param<ReadonlyArray<A>> => ({
  ...make({
    kind: "array",
    words: "json array",
    description,
    expected: "array",
    decode: (value, label): ReadonlyArray<A> => {
      if (!Array.isArray(value)) throw wrongType(value, "array")
      return value.map((each: Json) => decodeItem(item, each, label))
    }
  }),
  item
})

/** The same for very long arrays: the items are decoded in steps, when the handler reads them. */
export const longArray = <A>(item: Param<A>, description: string): Param<() => Steps<ReadonlyArray<A>>> => ({
  ...array(item, description),
  fallback: undefined,
  decode: (value, label) => {
    if (!Array.isArray(value)) throw wrongType(value, "array")
    const values: ReadonlyArray<Json> = value
    return () => mapSteps(values, (each) => decodeItem(item, each, label))
  }
})

const decodeItem = <A>(item: Param<A>, value: Json, label: string): A => {
  if (item.expected !== undefined && typeOf(value) !== item.expected) throw wrongType(value, item.expected)
  return item.decode(value, label)
}

interface ObjectOptions {
  readonly unknown: "ignore" | "refuse"
}

/**
 * An object with known members, each a parameter of its own. Upstream `rpc/util.cpp`, `RPCTypeCheckObj`: all types are
 * checked first, in the order of the names, then unknown members.
 */
export const object = <const P extends Params>(
  members: P,
  description: string,
  options: ObjectOptions = { unknown: "ignore" }
): Param<Decoded<P>> => ({
  ...make({
    kind: "object",
    words: "json object",
    description,
    expected: "object",
    decode: memberReader(members, options)
  }),
  members
})

const memberReader = <P extends Params>(members: P, { unknown }: ObjectOptions) => {
  const names = Object.keys(members)
  const sorted = [...names].sort()
  return (value: Json): Decoded<P> => {
    if (!(value instanceof JsonObject)) throw wrongType(value, "object")
    for (const name of sorted) checkMember(members[name], name, value.get(name) ?? null)
    if (unknown === "refuse") {
      const stranger = value.keys.find((key) => !Object.hasOwn(members, key))
      if (stranger !== undefined) throw RpcError.type(`Unexpected key ${stranger}`)
    }
    return decodeRecord(members, names, (name) => value.get(name))
  }
}

const checkMember = (member: Param<unknown> | undefined, name: string, value: Json): void => {
  if (member === undefined) return
  if (value === null) {
    if (member.fallback === undefined) throw RpcError.type(`Missing ${name}`)
    return
  }
  if (member.expected !== undefined && typeOf(value) !== member.expected) {
    throw RpcError.wrongFieldType(name, typeOf(value), member.expected)
  }
}

/**
 * Reads a record of parameters. The only type assertion of the decoders: each key of the result holds the decoded value
 * of that parameter, or its fallback, as `Decoded` declares.
 */
export const decodeRecord = <P extends Params>(
  params: P,
  names: ReadonlyArray<string>,
  given: (name: string, position: number) => Json | undefined
): Decoded<P> => {
  const decoded: Record<string, unknown> = {}
  for (let position = 0; position < names.length; position++) {
    const name = names[position]
    const param = name === undefined ? undefined : params[name]
    if (name === undefined || param === undefined) continue
    const value = given(name, position)
    const missing = value === undefined || (value === null && param.nullIsMissing)
    decoded[name] = missing && param.fallback !== undefined ? param.fallback.value : param.decode(value ?? null, name)
  }
  return decoded as Decoded<P>
}

/** An options object whose members may also be given by name beside the other parameters. Refuses unknown members. */
export const namedOptions = <const P extends Params>(members: P, description: string): Param<Decoded<P>> => ({
  ...object(members, description, { unknown: "refuse" }),
  membersByName: true
})

// Properties of a parameter beyond its kind

/** Optional. `text` is the help's description of the default. */
export const optional = <A>(param: Param<A>, text = ""): Param<A | undefined> => ({
  ...param,
  fallback: { value: undefined, text }
})

export const withDefault = <A>(param: Param<A>, value: A, text = defaultText(value)): Param<A> => ({
  ...param,
  fallback: { value, text }
})

const defaultText = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value)
  return typeof value === "number" || typeof value === "boolean" ? String(value) : ""
}

export const orEmpty = <A>(param: Param<A>): Param<A> => ({
  ...param,
  fallback: { value: param.decode(new JsonObject(), ""), text: "" }
})

/** Refuses `null`, which does not count as missing (reference/rpc.md 5.1, `options` of the name methods). */
export const notNull = <A>(param: Param<A>): Param<A> => ({ ...param, nullIsMissing: false })

export const alias = <A>(param: Param<A>, ...aliases: ReadonlyArray<string>): Param<A> => ({ ...param, aliases })

/** Accepted, but the help shows neither it nor any parameter after it. */
export const hidden = <A>(param: Param<A>): Param<A> => ({ ...param, hidden: true })
