import type * as Schema from "effect/Schema"
import { Array as ArraySchema } from "effect/Schema"
import type * as Kind from "./kinds.ts"

export const GROUPS = [
  "General",
  "RPC",
  "Peers",
  "Mempool",
  "Mining",
  "Chain",
  "Names and wallet",
  "DNS",
  "Electrum",
  "Logging",
  "Tests, on regtest alone",
  "Notifications",
  "ZeroMQ"
] as const

export type OptionGroup = (typeof GROUPS)[number]

/** The part of the node that has the option, and the name of the field there. */
export type SettingPath = `${string}.${string}`

export interface Option<
  S extends Schema.Schema.AnyNoContext = Schema.Schema.AnyNoContext,
  P extends SettingPath = SettingPath
> {
  readonly path: P
  /** For the option's text, or the list of its texts if it is repeatable. */
  readonly schema: () => S
  readonly repeatable: boolean
  /** In the schema's terms. Empty: not set. */
  readonly default: string
  /** For the help, if the text of the default is not enough. */
  readonly defaultNote: string | undefined
  readonly placeholder: string
  readonly toml: Kind.TomlType
  readonly base: Kind.PathBase | undefined
  /** With a dot between table and key; `undefined` for a flag only. */
  readonly key: string | undefined
  readonly flag: boolean
  readonly env: string | undefined
  readonly secret: boolean
  readonly group: OptionGroup
  readonly description: string
}

export type OptionTable = Readonly<Record<string, Option>>

export const optionNamesOf = <O extends OptionTable>(options: O): ReadonlyArray<keyof O & string> =>
  Object.keys(options)

interface Traits {
  readonly description: string
  readonly default?: string
  readonly defaultNote?: string
  readonly env?: string
  /** If it is not the name of the option. */
  readonly key?: string
  readonly flagOnly?: true
  readonly fileOnly?: true
  readonly secret?: true
}

interface Place {
  readonly name: string
  readonly group: OptionGroup
}

type Row<O extends Option = Option> = (place: Place) => O

const placed = <A>(
  { base, placeholder, toml, unset = "" }: Kind.OptionKind<A>,
  traits: Traits,
  { group, name }: Place
) => ({
  description: traits.description,
  default: traits.default ?? unset,
  defaultNote: traits.defaultNote,
  key: traits.flagOnly === true ? undefined : traits.key ?? name,
  flag: traits.fileOnly !== true,
  env: traits.env,
  secret: traits.secret === true,
  group,
  placeholder,
  toml,
  base
})

export const oneOption = <A, P extends SettingPath>(
  kind: Kind.OptionKind<A>,
  path: P,
  traits: Traits
): Row<Option<Schema.Schema<A, string>, P>> =>
(place) => ({ ...placed(kind, traits, place), path, schema: kind.schema, repeatable: false })

export const listOption = <A, P extends SettingPath>(
  kind: Kind.OptionKind<A>,
  path: P,
  traits: Traits
): Row<Option<Schema.Schema<ReadonlyArray<A>, ReadonlyArray<string>>, P>> =>
(place) => ({ ...placed(kind, traits, place), path, schema: () => ArraySchema(kind.schema()), repeatable: true })

type Rows = Readonly<Record<string, Row>>

type TableOf<R extends Rows> = { readonly [Name in keyof R]: ReturnType<R[Name]> }

export const inGroup = <R extends Rows>(group: OptionGroup, rows: R): TableOf<R> =>
  // Built name by name from the same rows, which the type of Object.fromEntries cannot express.
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row({ name, group })])) as TableOf<R>
