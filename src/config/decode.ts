import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { type Gathered, pathIn, type SettingsInput } from "./gather.ts"
import { optionNamesOf, type OptionTable } from "./optionRow.ts"
import { isOptionName, type OptionName, OPTIONS } from "./options.ts"
import { settingsFrom, type SettingsIn, type ValuesIn, valuesSchema } from "./settingsIn.ts"
import { defaultOf, type OptionSource } from "./sources.ts"
import { UsageError } from "./UsageError.ts"

/** Each problem names the location of its value. */

export type Issue = readonly [name: OptionName, message: string]

/** A message that names its flag, or is a sentence of the reference node, gets no flag in front. */
const located = ([name, message]: readonly [name: string, message: string], source: OptionSource): string => {
  const label = isOptionName(name) ? source.get(name)?.label ?? name : name
  const isWhole = label === `-${name}` && (message.includes(label) || message.endsWith("."))
  return isWhole ? message : `${label}: ${message}`
}

export const refusing = (issues: ReadonlyArray<Issue>, source: OptionSource): Either.Either<void, UsageError> =>
  issues.length === 0
    ? Either.void
    : Either.left(new UsageError({ problems: issues.map((issue) => located(issue, source)) }))

const textsOf = (options: OptionTable, source: OptionSource): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    optionNamesOf(options).filter(isOptionName).map((name) => {
      const { texts } = source.get(name) ?? defaultOf(OPTIONS[name])
      return [name, OPTIONS[name].repeatable ? texts : texts[texts.length - 1]]
    })
  )

/** Reports every value that is wrong by itself. */
export const valuesDecoder = <O extends OptionTable>(options: O) => {
  let decode: ((texts: unknown) => Either.Either<ValuesIn<O>, ParseResult.ParseError>) | undefined
  return (source: OptionSource): Either.Either<ValuesIn<O>, UsageError> => {
    // Made on use: programs that only connect to a daemon do not need all options.
    decode ??= Schema.decodeUnknownEither(valuesSchema(options), { errors: "all" })
    return Either.mapLeft(decode(textsOf(options, source)), (error) =>
      new UsageError({
        problems: ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) =>
          located([String(path[0]), message], source)
        )
      }))
  }
}

export const settingsDecoder = <O extends OptionTable>(options: O) => {
  const decode = valuesDecoder(options)
  return (gathered: Gathered, input: SettingsInput): Either.Either<SettingsIn<O>, UsageError> =>
    Either.map(decode(gathered.source), (values) => settingsFrom(options, values, pathIn(gathered, input)))
}
