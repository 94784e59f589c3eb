import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { availableParallelism } from "node:os"
import { absolutePath } from "./gather.ts"
import { homeDirectory, NO_HOME } from "./homeDirectory.ts"
import { NODE_FIELDS } from "./nodeFields.ts"
import { type OptionName, OPTIONS } from "./options.ts"
import { type Settings, settingsOf } from "./settings.ts"
import { nearest } from "./suggest.ts"
import { contradictions, decodeValues, type Values } from "./values.ts"

/**
 * The options of a node as a record: what a program gives in place of flags, environment and file. Each field is an option, its value is
 * what the option decodes to, and all rules and defaults are those of the option.
 */

/**
 * A value, or for one that is no plain value its text, as after the flag: `"127.0.0.1:8334"` for an address. `undefined` is the default; an empty
 * text unsets an option whose default is not empty.
 */
type OrText<A> = A extends string | number | boolean | undefined ? A : A | string

type Field<A> = [A] extends [ReadonlyArray<infer Item>] ? ReadonlyArray<OrText<Item>> : OrText<A>

export type NodeOptions = {
  readonly [F in keyof typeof NODE_FIELDS]?: Field<Values[(typeof NODE_FIELDS)[F]]> | "" | undefined
}

/** An option that is wrong, and why. The reason never repeats a secret. */
export interface OptionProblem {
  readonly field: string
  readonly reason: string
}

const FIELDS: ReadonlyMap<string, OptionName> = new Map(Object.entries(NODE_FIELDS))

const FIELD_OF: ReadonlyMap<string, string> = new Map(Array.from(FIELDS, ([field, name]) => [name, field]))

/** An option as programs name it. */
const fieldOf = (name: string): string => FIELD_OF.get(name) ?? name

const messageOf = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.message ?? "is not valid"

/** No word of an option. */
const NO_WORD = "\0"

/**
 * A text is decoded as everywhere, and any other value has to be what a text decodes to; so has a word that is such a value, as "default". `wrap` makes
 * what the schema is for.
 */
const decodeAs = (
  schema: Schema.Schema.AnyNoContext,
  { given, wrap }: { readonly given: unknown; readonly wrap: (given: unknown) => unknown }
): Either.Either<unknown, ParseResult.ParseError> => {
  const asValue = Schema.validateEither(Schema.typeSchema(schema))
  const value = asValue(wrap(given))
  const isWord = Either.isRight(value) && Either.isLeft(asValue(wrap(NO_WORD)))
  return typeof given !== "string" || isWord ? value : Schema.decodeUnknownEither(schema)(wrap(given))
}

const decodeField = (
  name: OptionName,
  { field, given }: { readonly field: string; readonly given: unknown }
): Either.Either<unknown, OptionProblem> => {
  const { repeatable, schema, secret } = OPTIONS[name]
  const problemAt = (place: string) => (error: ParseResult.ParseError): OptionProblem => ({
    field,
    reason: place + (secret ? "is not a secret text" : messageOf(error))
  })
  if (!repeatable) {
    return Either.mapLeft(decodeAs(schema(), { given, wrap: (value) => value }), problemAt(""))
  }
  if (!Array.isArray(given)) return Either.left({ field, reason: "has to be a list" })
  const items = given.map((item: unknown, at) =>
    Either.mapLeft(decodeAs(schema(), { given: item, wrap: (value) => [value] }), problemAt(`number ${at + 1}: `))
  )
  return Either.map(Either.all(items), (lists) => lists.flat(1))
}

/** A misspelled field would be one that the node does without. */
const unknownField = (field: string): OptionProblem => {
  const meant = nearest(field, FIELDS.keys())
  return { field, reason: `is no option of a node${meant === undefined ? "" : `; did you mean ${meant}?`}` }
}

/** The values of the fields that are given, by the names of their options. */
const valuesOf = (options: NodeOptions): Either.Either<Partial<Values>, OptionProblem> => {
  const decoded = Object.entries(options).filter(([, given]) => given !== undefined).map(([field, given]) => {
    const name = FIELDS.get(field)
    return name === undefined
      ? Either.left(unknownField(field))
      : Either.map(decodeField(name, { field, given }), (value) => [name, value] as const)
  })
  return Either.map(Either.all(decoded), (entries): Partial<Values> => Object.fromEntries(entries))
}

const firstIssue = (values: Values): OptionProblem | undefined => {
  const [issue] = contradictions(values)
  return issue === undefined ? undefined : { field: fieldOf(String(issue.path[0])), reason: String(issue.message) }
}

/** What the settings of a program depend on beside its options. */
export interface NodeSurroundings {
  readonly cwd: string
  readonly homedir: string
  readonly cores: number
}

const ofProcess = (): NodeSurroundings => ({
  cwd: process.cwd(),
  homedir: homeDirectory(),
  cores: availableParallelism()
})

/** The settings of a node with these options, and the defaults of all others. Neither environment nor svcd.conf is read. */
export const decodeNodeOptions = (
  options: NodeOptions,
  { cores, cwd, homedir }: NodeSurroundings = ofProcess()
): Either.Either<Settings, OptionProblem> =>
  Either.gen(function*() {
    const given = yield* valuesOf(options)
    const values: Values = { ...yield* defaults(), ...given }
    const issue = firstIssue(values)
    if (issue !== undefined) return yield* Either.left(issue)
    if (homedir === NO_HOME && /^~(\/|$)/.test(values.datadir)) {
      return yield* Either.left({ field: "dataDir", reason: "is missing: this user has no home directory" })
    }
    const dataDir = absolutePath(values.datadir, { cwd, homedir })
    return yield* Either.mapLeft(
      settingsOf(values, {
        isDefault: (name) => given[name] === undefined,
        path: ({ path }) => absolutePath(path, { cwd, homedir }),
        pathInData: (file) => absolutePath(file, { cwd: dataDir, homedir }),
        cores
      }),
      ({ problems }): OptionProblem => ({ field: "options", reason: problems.join("; ") })
    )
  })

const defaults = (): Either.Either<Values, OptionProblem> =>
  Either.mapLeft(decodeValues(new Map()), ({ problems }) => ({ field: "options", reason: problems.join("; ") }))
