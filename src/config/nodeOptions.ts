import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { availableParallelism } from "node:os"
import { parseHostPort } from "../base/addresses.ts"
import { absolutePath } from "./gather.ts"
import { homeDirectory, NO_HOME } from "./homeDirectory.ts"
import { type Fields, METRICS_FIELDS, NODE_FIELDS, RPC_FIELDS } from "./nodeFields.ts"
import { type OptionName, OPTIONS } from "./options.ts"
import { type Settings, settingsOf } from "./settings.ts"
import { nearest } from "./suggest.ts"
import { contradictions, decodeValues, type Values } from "./values.ts"

/**
 * The options of a node as a record: what a program gives in place of flags, environment and file. Each field is an option, its value is
 * what the option decodes to, and all rules and defaults are those of the option.
 */

/**
 * A value, or for one that is not a plain value its text, as after the flag: `"127.0.0.1:8334"` for an address. `undefined` is the default; an empty
 * text unsets an option whose default is not empty.
 */
type OrText<A> = A extends string | boolean | undefined ? A : A | string

type Field<A> = [A] extends [ReadonlyArray<infer Item>] ? ReadonlyArray<OrText<Item>> : OrText<A>

export type OptionsOf<F extends Fields> = {
  readonly [Name in keyof F]?: Field<Values[F[Name]]> | "" | undefined
}

export type NodeOptions = OptionsOf<typeof NODE_FIELDS>

/** Values that are given, by the names of their options: what a record decodes to. */
export type GivenValues = Partial<Values>

/** An option that is wrong, and why. The reason never repeats a secret. */
export interface OptionProblem {
  readonly field: string
  readonly reason: string
}

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

/** Options of listeners, which a program may have on any free port: it asks the service for the actual one. */
const LISTENERS: ReadonlySet<OptionName> = new Set(["listen", "metricsaddr", "rpcaddr"])

/** An address with port 0, which no option has as text. */
const withFreePort = (name: OptionName, given: unknown): unknown => {
  const [, host] = LISTENERS.has(name) && typeof given === "string" ? /^(.+):0$/.exec(given) ?? [] : []
  const address = host === undefined ? undefined : parseHostPort(`${host}:1`, "required")
  return address !== undefined && Either.isRight(address) ? { ...address.right, port: 0 } : given
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

/** The layers above a node, whose options a program may give to the node by mistake. */
const ELSEWHERE = [["RpcServer", RPC_FIELDS], ["Metrics", METRICS_FIELDS], ["Node", NODE_FIELDS]] as const

/** A misspelled field would be one that the node does without. */
const unknownField = (field: string, fields: Fields): OptionProblem => {
  const owner = ELSEWHERE.find(([, others]) => Object.hasOwn(others, field))
  if (owner !== undefined) return { field, reason: `is an option of ${owner[0]}.layer` }
  const meant = nearest(field, Object.keys(fields))
  return { field, reason: `is not an option here${meant === undefined ? "" : `; did you mean ${meant}?`}` }
}

/** The values of a record, by the names of their options. */
export const decodeOptions = (fields: Fields, options: object): Either.Either<GivenValues, OptionProblem> => {
  const decoded = Object.entries(options).filter(([, given]) => given !== undefined).map(([field, given]) => {
    const name = Object.hasOwn(fields, field) ? fields[field] : undefined
    return name === undefined
      ? Either.left(unknownField(field, fields))
      : Either.map(decodeField(name, { field, given: withFreePort(name, given) }), (value) => [name, value] as const)
  })
  return Either.map(Either.all(decoded), (entries): GivenValues => Object.fromEntries(entries))
}

/** An option as a record names it; `undefined` for one that no record has. */
const fieldOf = (fields: Fields, name: string): string | undefined =>
  Object.keys(fields).find((field) => fields[field] === name)

const EVERY_FIELD: Fields = { ...METRICS_FIELDS, ...RPC_FIELDS, ...NODE_FIELDS }

/** A message about options with the names of the fields in place of those of the flags. */
const inFields = (message: string): string =>
  message.replaceAll(/-?\b[a-z]{4,}\b/g, (word) => fieldOf(EVERY_FIELD, word.replace(/^-/, "")) ?? word)

/** What contradicts itself among the options of the fields: a default of another one contradicts nothing, since that part is not there. */
const firstIssue = (values: Values, fields: Fields): OptionProblem | undefined => {
  for (const { message, path } of contradictions(values)) {
    const field = fieldOf(fields, String(path[0]))
    if (field !== undefined) return { field, reason: inFields(String(message)) }
  }
  return undefined
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

/** No other part of the program listens there, as far as the options say. */
const NOWHERE = { host: "127.0.0.1", port: 0 }

/**
 * The settings with these values, and the defaults of all other options. `fields` are those of the record that the values are from, for the name
 * of one that is wrong. Neither environment nor svcd.conf is read.
 */
export const settingsWith = (
  given: GivenValues,
  fields: Fields,
  { cores, cwd, homedir }: NodeSurroundings = ofProcess()
): Either.Either<Settings, OptionProblem> =>
  Either.gen(function*() {
    const values: Values = { ...yield* defaults(), rpcaddr: NOWHERE, ...given }
    const issue = firstIssue(values, fields)
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

/** The settings of a node with these options, and the defaults of all others. */
export const decodeNodeOptions = (
  options: NodeOptions,
  surroundings?: NodeSurroundings
): Either.Either<Settings, OptionProblem> =>
  Either.flatMap(decodeOptions(NODE_FIELDS, options), (given) => settingsWith(given, NODE_FIELDS, surroundings))

const defaults = (): Either.Either<Values, OptionProblem> =>
  Either.mapLeft(decodeValues(new Map()), ({ problems }) => ({ field: "options", reason: problems.join("; ") }))
