import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type Address, formatHostPort, parseHostPort } from "../base/addresses.ts"
import { escapeUnsafe, quoted } from "../base/safeText.ts"
import { parseAmount, shortAmount } from "../protocol/amount.ts"

/** Each kind validates a text from any source. Messages are for the operator and never contain a secret. */
export interface OptionKind<A> {
  readonly schema: () => Schema.Schema<A, string>
  readonly placeholder: string
  readonly toml: TomlType
  readonly base?: PathBase
  /** The default text of options without one. */
  readonly unset?: string
}

/** Relative to the caller's directory, or in the configuration file to that of the file; or to the data directory. */
export type PathBase = "caller" | "data"

/** A `list` is a list of strings, or one string with commas. `tables` are tables of one name, whose texts are JSON. */
export type TomlType = "string" | "integer" | "boolean" | "list" | "tables"

/**
 * `parse` returns the value, or on the left the error. The schema is made on use: svcd-cli decodes few of the options.
 */
export const fromText = <A>(
  type: () => Schema.Schema<A>,
  parse: (text: string) => Either.Either<A, string>,
  print: (value: A) => string
): () => Schema.Schema<A, string> => {
  let made: Schema.Schema<A, string> | undefined
  return () =>
    made ??= Schema.transformOrFail(Schema.String, type(), {
      strict: true,
      decode: (text, _options, ast) => Either.mapLeft(parse(text), (why) => new ParseResult.Type(ast, text, why)),
      encode: (value) => Either.right(print(value))
    })
}

export const textKind = (placeholder: string): OptionKind<string> => ({
  placeholder,
  toml: "string",
  schema: fromText(
    () => Schema.String,
    (given) => given === "" ? Either.left("must not be empty") : Either.right(given),
    (value) => value
  )
})

/** The code that knows the source resolves a relative path. */
export const pathKind: OptionKind<string> = {
  ...textKind("PATH"),
  base: "caller",
  schema: fromText(
    () => Schema.String,
    (given) => {
      if (given === "") return Either.left("must not be empty")
      return given.includes("\0") ? Either.left(`${quoted(given)} is not a path`) : Either.right(given)
    },
    (value) => value
  )
}

/** In the data directory, unless absolute. */
export const dataPathKind: OptionKind<string> = { ...pathKind, base: "data" }

/** Without a colon, which ends it in Basic authentication (RFC 7617, section 2). */
export const userNameKind: OptionKind<string> = {
  ...textKind("NAME"),
  schema: fromText(
    () => Schema.String,
    (given) => given.includes(":") ? Either.left(`${quoted(given)} must not contain a colon`) : Either.right(given),
    (value) => value
  )
}

export const secretKind: OptionKind<Redacted.Redacted<string>> = {
  placeholder: "SECRET",
  toml: "string",
  schema: fromText(
    () => Schema.RedactedFromSelf(Schema.String),
    (given) => Either.right(Redacted.make(given)),
    (value) => Redacted.value(value)
  )
}

/** `undefined` unless a `number` represents the decimal integer exactly. */
export const parseInteger = (given: string): number | undefined => {
  const value = /^[+-]?\d{1,16}$/.test(given) ? Number(given) : NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** Both included, with an optional message. */
interface Bounds {
  readonly min: number
  readonly max: number
  readonly outside?: (value: number) => string | undefined
}

export const numberWithout = (faultOf: (value: number) => string | undefined): Schema.Schema<number> =>
  Schema.Number.pipe(Schema.filter((value) => faultOf(value) ?? true))

export const integerKind = ({ max, min, outside }: Bounds): OptionKind<number> => {
  const usual = `is not a whole number from ${min} to ${max}`
  const isInside = (value: number): boolean => Number.isSafeInteger(value) && value >= min && value <= max
  return {
    placeholder: "N",
    toml: "integer",
    schema: fromText(
      () => numberWithout((value) => isInside(value) ? undefined : outside?.(value) ?? `${value} ${usual}`),
      (given) => {
        const value = parseInteger(given)
        if (value === undefined) return Either.left(`${quoted(given)} ${usual}`)
        return isInside(value) ? Either.right(value) : Either.left(outside?.(value) ?? `${quoted(given)} ${usual}`)
      },
      (value) => `${value}`
    )
  }
}

const isPageSize = (value: number): boolean => value >= 512 && value <= 65_536 && (value & (value - 1)) === 0

/** SQLite's: a power of two from 512 to 65536 bytes. */
export const pageSizeKind: OptionKind<number> = {
  ...integerKind({ min: 512, max: 65_536 }),
  schema: fromText(
    () => numberWithout((value) => isPageSize(value) ? undefined : `${value} is not a power of two from 512 to 65536`),
    (given) => {
      const value = parseInteger(given) ?? 0
      return isPageSize(value)
        ? Either.right(value)
        : Either.left(`${quoted(given)} is not a power of two from 512 to 65536`)
    },
    (value) => `${value}`
  )
}

/** As a flag it needs no value: `-txindex`, `-txindex=0`, `-notxindex`. */
export const onOffKind: OptionKind<boolean> = {
  placeholder: "",
  unset: "0",
  toml: "boolean",
  schema: fromText(
    () => Schema.Boolean,
    (given) => {
      if (given === "1" || given === "true") return Either.right(true)
      if (given === "0" || given === "false") return Either.right(false)
      return Either.left(`${quoted(given)} is not one of 0, 1, true, false`)
    },
    (value) => value ? "1" : "0"
  )
}

export const choiceKind = <const W extends readonly [string, ...ReadonlyArray<string>]>(
  words: W
): OptionKind<W[number]> => ({
  placeholder: words.join("|"),
  toml: "string",
  schema: fromText(
    () => Schema.Literal<ReadonlyArray<W[number]>>(...words),
    (given) => {
      const found = words.find((word) => word === given)
      return found === undefined
        ? Either.left(`${quoted(given)} is not one of ${words.join(", ")}`)
        : Either.right(found)
    },
    (value) => value
  )
})

const addressSchema = (): Schema.Schema<Address> => Schema.Struct({ host: Schema.String, port: Schema.Int })

/** `host:port`. With `optional` the host may be missing, which means every interface. */
export const addressKind = (host: "required" | "optional"): OptionKind<Address> => ({
  placeholder: "HOST:PORT",
  toml: "string",
  schema: fromText(addressSchema, (given) => parseHostPort(given, host), formatHostPort)
})

/** Allowed in a user agent (upstream `SanitizeString`, `SAFE_CHARS_UA_COMMENT`). */
export const commentKind: OptionKind<string> = {
  ...textKind("TEXT"),
  schema: fromText(
    () => Schema.String,
    (given) =>
      /^[A-Za-z0-9 .,;\-_?@]*$/.test(given)
        ? Either.right(given)
        : Either.left(`User Agent comment (${escapeUnsafe(given)}) contains unsafe characters.`),
    (value) => value
  )
}

/** Without sign and exponent; zeros in front are allowed. */
const AMOUNT = /^\d{1,8}(?:\.\d{1,8})?$/

/** The most of `AMOUNT`, in the smallest unit. */
const MOST_UNITS = 10 ** 16 - 1

/** In NMC with up to eight decimals, decoded to the smallest unit. */
export const amountKind: OptionKind<number> = {
  placeholder: "NMC",
  toml: "string",
  schema: fromText(
    () =>
      numberWithout((value) =>
        Number.isInteger(value) && value >= 0 && value <= MOST_UNITS
          ? undefined
          : `${value} is not an amount in 10^-8 NMC`
      ),
    (given) => {
      const units = AMOUNT.test(given) ? parseAmount(given.replace(/^0+(?=\d)/, "")) : undefined
      return units === undefined
        ? Either.left(`${quoted(given)} is not an amount with up to eight decimals`)
        : Either.right(units)
    },
    shortAmount
  )
}

/** An empty text means that the option is not set. */
export const optionalKind = <A>(kind: OptionKind<A>): OptionKind<A | undefined> => ({
  ...kind,
  unset: "",
  schema: fromText<A | undefined>(
    () => Schema.UndefinedOr(Schema.typeSchema(kind.schema())),
    (given) =>
      given === "" ? Either.right(undefined) : Either.mapLeft(Schema.decodeEither(kind.schema())(given), firstMessage),
    (value) => value === undefined ? "" : Schema.encodeSync(kind.schema())(value)
  )
})

export const firstMessage = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.message ?? "is not valid"

/** Spaces around commas are ignored. An empty text is an empty list. */
export const commaSeparatedKind = <A>(kind: OptionKind<A>): OptionKind<ReadonlyArray<A>> => ({
  placeholder: "LIST",
  toml: "list",
  schema: fromText<ReadonlyArray<A>>(
    () => Schema.Array(Schema.typeSchema(kind.schema())),
    (given) => {
      const decode = Schema.decodeEither(kind.schema())
      const words = given.split(",").map((word) => word.trim()).filter((word) => word !== "")
      return Either.mapLeft(Either.all(words.map((word) => decode(word))), firstMessage)
    },
    (values) => values.map((value) => Schema.encodeSync(kind.schema())(value)).join(",")
  )
})
