import * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { availableParallelism } from "node:os"
import { parseHostPort } from "../base/addresses.ts"
import { contradictions } from "./contradictions.ts"
import { valuesDecoder } from "./decode.ts"
import { settingsOf } from "./decodeSettings.ts"
import { absolutePath } from "./gather.ts"
import { homeDirectory, NO_HOME } from "./homeDirectory.ts"
import { firstMessage } from "./kinds.ts"
import { optionNamesOf } from "./optionRow.ts"
import { isOptionName, type OptionName, OPTIONS } from "./options.ts"
import type { GivenSettings, Settings } from "./settings.ts"
import { type FieldIn, placeOf, settingsFrom, type ValuesIn } from "./settingsIn.ts"
import { nearest } from "./suggest.ts"
import type { UsageError } from "./UsageError.ts"

/**
 * The options of a node as a record, in place of flags, environment and file. Each field has an option's decoded value,
 * under the option's rules and defaults.
 */

/**
 * Values other than plain ones may be text, as after the flag: `"127.0.0.1:8334"` for an address. `undefined` is the
 * default; an empty text unsets an option.
 */
type OrText<A> = A extends string | boolean | undefined ? A : A | string

type Given<A> = [A] extends [ReadonlyArray<infer Item>] ? ReadonlyArray<OrText<Item>> : OrText<A>

type Values = ValuesIn<typeof OPTIONS>

/** Options that programs give, by layer. All others are the daemon's. */
export const LAYER_PARTS = {
  Chain: ["chain"],
  NameDb: ["names"],
  Mempool: ["mempool"],
  Wallet: ["wallet"],
  PeerManager: ["peers"],
  RpcServer: ["answers", "rpc"],
  Metrics: ["metrics"],
  DnsServer: ["dns"],
  ElectrumServer: ["electrum"],
  Node: ["chain", "peers", "mempool", "names", "answers", "wallet"]
} as const satisfies Readonly<Record<string, ReadonlyArray<keyof Settings>>>

export type LayerName = keyof typeof LAYER_PARTS

export type OptionsOf<Layer extends LayerName> = {
  readonly [Name in OptionName as FieldIn<(typeof LAYER_PARTS)[Layer][number], (typeof OPTIONS)[Name]["path"]>]?:
    | Given<Values[Name]>
    | ""
    | undefined
}

export type NodeOptions = OptionsOf<"Node">

type Fields = ReadonlyMap<string, OptionName>

export const fieldsOf = (...layers: ReadonlyArray<LayerName>): Fields => {
  const parts: ReadonlyArray<string> = layers.flatMap((layer) => LAYER_PARTS[layer])
  return new Map(
    optionNamesOf(OPTIONS).flatMap((name) => {
      const [part, field] = placeOf(OPTIONS[name])
      return parts.includes(part) ? [[field, name] as const] : []
    })
  )
}

export type GivenValues = Partial<Values>

/** The reason never repeats a secret. */
export interface OptionProblem {
  readonly field: string
  readonly reason: string
}

const NO_WORD = "\0"

/** Decodes a text as everywhere. Another value, or a word such as "default", has to be a decoded one already. */
const decodeAs = (
  schema: Schema.Schema.AnyNoContext,
  { given, wrap }: { readonly given: unknown; readonly wrap: (given: unknown) => unknown }
): Either.Either<unknown, ParseResult.ParseError> => {
  const asValue = Schema.validateEither(Schema.typeSchema(schema))
  const value = asValue(wrap(given))
  const isWord = Either.isRight(value) && Either.isLeft(asValue(wrap(NO_WORD)))
  return typeof given !== "string" || isWord ? value : Schema.decodeUnknownEither(schema)(wrap(given))
}

/** Programs may listen on any free port, and ask the service for the actual one. */
const LISTENERS: ReadonlySet<OptionName> = new Set([
  "listen",
  "metricsaddr",
  "rpcaddr",
  "dns",
  "dnstls",
  "dnshttps",
  "dnshttp",
  "electrum",
  "electrumtls",
  "electrumws",
  "electrumwss"
])

/** Port 0, which no option has as text. */
const withFreePort = (name: OptionName, given: unknown): unknown => {
  if (Array.isArray(given)) return given.map((each: unknown) => withFreePort(name, each))
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
    reason: place + (secret ? "is not a secret text" : firstMessage(error))
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

/** The layers whose options a program may give to another one by mistake. */
const ELSEWHERE = ["RpcServer", "Metrics", "DnsServer", "ElectrumServer", "Node"] as const

/** A misspelled field would be ignored silently. */
const unknownField = (field: string, fields: Fields): OptionProblem => {
  const owner = ELSEWHERE.find((layer) => fieldsOf(layer).has(field))
  if (owner !== undefined) return { field, reason: `is an option of ${owner}.layer` }
  const meant = nearest(field, fields.keys())
  return { field, reason: `is not an option here${meant === undefined ? "" : `; did you mean ${meant}?`}` }
}

export const decodeOptions = (layer: LayerName, options: object): Either.Either<GivenValues, OptionProblem> => {
  const fields = fieldsOf(layer)
  const decoded = Object.entries(options).filter(([, given]) => given !== undefined).map(([field, given]) => {
    const name = fields.get(field)
    return name === undefined
      ? Either.left(unknownField(field, fields))
      : Either.map(decodeField(name, { field, given: withFreePort(name, given) }), (value) => [name, value] as const)
  })
  return Either.map(Either.all(decoded), (entries): GivenValues => Object.fromEntries(entries))
}

/** The option's field in the records of these layers; `undefined` if none has it. */
const fieldOf = (layers: ReadonlyArray<LayerName>, name: string): string | undefined => {
  if (!isOptionName(name)) return undefined
  const [part, field] = placeOf(OPTIONS[name])
  return layers.some((layer) => LAYER_PARTS[layer].some((each) => each === part)) ? field : undefined
}

const inFields = (message: string): string =>
  message.replaceAll(/-?\b[a-z]{4,}\b/g, (word) => fieldOf(ELSEWHERE, word.replace(/^-/, "")) ?? word)

/**
 * Contradictions among the options of the layers. Defaults of other layers do not count, since these parts are absent.
 */
const firstIssue = (given: GivenSettings, layers: ReadonlyArray<LayerName>): OptionProblem | undefined => {
  for (const [name, message] of contradictions(given)) {
    const field = fieldOf(layers, name)
    if (field !== undefined) return { field, reason: inFields(message) }
  }
  return undefined
}

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

/** Assumes that no other part of the program listens there. */
const NOWHERE = { host: "127.0.0.1", port: 0 }

/** Neither environment nor svcd.conf is read. `layers`, the origin of the values, is for error messages. */
export const settingsWith = (
  given: GivenValues,
  layers: ReadonlyArray<LayerName>,
  { cores, cwd, homedir }: NodeSurroundings = ofProcess()
): Either.Either<Settings, OptionProblem> =>
  Either.gen(function*() {
    const values: Values = { ...yield* defaults(), rpcaddr: NOWHERE, ...given }
    const dataDir = absolutePath(values.datadir, { cwd, homedir })
    const settings = settingsFrom(OPTIONS, values, ({ base, path }) =>
      absolutePath(path, { cwd: base === "data" ? dataDir : cwd, homedir }))
    const issue = firstIssue(settings, layers)
    if (issue !== undefined) {
      return yield* Either.left(issue)
    }
    if (homedir === NO_HOME && /^~(\/|$)/.test(values.datadir)) {
      return yield* Either.left({ field: "dataDir", reason: "is missing: this user has no home directory" })
    }
    return yield* Either.mapLeft(
      settingsOf(settings, {
        isDefault: (name) =>
          given[name] === undefined,
        cores
      }),
      optionsProblem
    )
  })

export const decodeNodeOptions = (
  options: NodeOptions,
  surroundings?: NodeSurroundings
): Either.Either<Settings, OptionProblem> =>
  Either.flatMap(decodeOptions("Node", options), (given) => settingsWith(given, ["Node"], surroundings))

const decodeValues = valuesDecoder(OPTIONS)

const defaults = (): Either.Either<Values, OptionProblem> => Either.mapLeft(decodeValues(new Map()), optionsProblem)

const optionsProblem = ({ problems }: UsageError): OptionProblem => ({ field: "options", reason: problems.join("; ") })
