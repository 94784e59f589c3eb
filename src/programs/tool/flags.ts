import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { defaultText, type DescribedOption, describedOption } from "../../config/help.ts"
import type { OptionKind } from "../../config/kinds.ts"
import type { Option as Row, OptionTable } from "../../config/optionRow.ts"
import type { ValuesIn } from "../../config/settingsIn.ts"

/** Options of @effect/cli for svcd-mail and svcd-wallet, decoded by `config/kinds.ts`. */

/** The message begins with the flag. It cannot show a secret, because secrets accept any text. */
const decoded = <A, I>(name: string, { schema }: { readonly schema: () => Schema.Schema<A, I> }) => {
  const decode = Schema.decodeEither(schema())
  return (given: I): Either.Either<A, ValidationError.ValidationError> =>
    Either.mapLeft(decode(given), (error) => {
      const [first] = ParseResult.ArrayFormatter.formatErrorSync(error)
      return ValidationError.invalidValue(HelpDoc.p(`--${name}: ${first?.message ?? "is not valid"}`))
    })
}

const textOf = (name: string, { placeholder }: { readonly placeholder: string }, traits: DescribedOption) =>
  Options.text(name).pipe(Options.withPseudoName(placeholder), Options.withDescription(describedOption(traits)))

export const optionalFlag = <A>(
  name: string,
  kind: OptionKind<A>,
  traits: DescribedOption
): Options.Options<A | undefined> => {
  const decode = decoded(name, kind)
  return textOf(name, kind, traits).pipe(
    Options.optional,
    Options.mapEffect((text) => Option.isNone(text) ? Either.right(undefined) : decode(text.value))
  )
}

export const defaultedFlag = <A>(
  name: string,
  kind: OptionKind<A>,
  { fallback, ...traits }: DescribedOption & { readonly fallback: string }
): Options.Options<A> =>
  textOf(name, kind, { ...fallback === "" ? {} : { shown: fallback }, ...traits }).pipe(
    Options.withDefault(fallback),
    Options.mapEffect(decoded(name, kind))
  )

export const switchFlag = (name: string, { description }: DescribedOption): Options.Options<boolean> =>
  Options.withDescription(Options.boolean(name), description)

export const flagsOf = <O extends OptionTable>(
  table: O,
  { needed = [] }: { readonly needed?: ReadonlyArray<keyof O> } = {}
): { readonly [Name in keyof O]: Options.Options<ValuesIn<O>[Name]> } => {
  const flagOf = (name: string, option: Row): Options.Options<unknown> => {
    const text = textOf(name, option, { ...option, shown: defaultText(option) })
    const decode = decoded(name, option)
    if (option.repeatable) return Options.mapEffect(Options.repeated(text), decode)
    return Options.mapEffect(needed.includes(name) ? text : Options.withDefault(text, option.default), decode)
  }
  // Built name by name from the same table, which the type of Object.fromEntries cannot express.
  return Object.fromEntries(Object.entries(table).map(([name, option]) => [name, flagOf(name, option)])) as {
    readonly [Name in keyof O]: Options.Options<ValuesIn<O>[Name]>
  }
}

export type Texts = ReadonlyMap<string, ReadonlyArray<string>>

/** Validated later, with the daemon's environment and configuration file. */
export const daemonFlags = (table: OptionTable): Options.Options<Texts> =>
  Options.all(
    Object.entries(table).map(([name, option]) =>
      textOf(name, option, { description: option.description, shown: defaultText(option), env: option.env }).pipe(
        Options.optional,
        Options.map((text): ReadonlyArray<readonly [string, ReadonlyArray<string>]> =>
          Option.isNone(text) ? [] : [[name, [text.value]]]
        )
      )
    )
  ).pipe(Options.map((entries) => new Map(entries.flat())))

export const argvOf = (texts: Texts): ReadonlyArray<string> =>
  [...texts].flatMap(([name, [text]]) => text === undefined ? [] : [`-${name}=${text}`])
