import type * as Schema from "effect/Schema"
import { Array as ArraySchema } from "effect/Schema"
import type * as Kind from "./kinds.ts"

/** The rows of the option table, and the functions that make them. */

export type OptionGroup =
  | "General"
  | "RPC"
  | "Peers"
  | "Mempool"
  | "Mining"
  | "Chain"
  | "Names and wallet"
  | "Logging"
  | "Tests, on regtest alone"

export const GROUPS: ReadonlyArray<OptionGroup> = [
  "General",
  "RPC",
  "Peers",
  "Mempool",
  "Mining",
  "Chain",
  "Names and wallet",
  "Logging",
  "Tests, on regtest alone"
]

export interface Option<S extends Schema.Schema.AnyNoContext = Schema.Schema.AnyNoContext> {
  /** Makes what decodes the text of the option, or the list of its texts if it is repeatable. */
  readonly schema: () => S
  readonly repeatable: boolean
  /** The text of the default, in the schema's terms. Empty: not set. */
  readonly default: string
  /** The description of the default in the help, if its text is not enough. */
  readonly defaultNote: string | undefined
  readonly placeholder: string
  readonly toml: Kind.TomlType
  /** The key in the configuration file, with a dot between table and key; `undefined` for a flag only. */
  readonly key: string | undefined
  readonly flag: boolean
  readonly env: string | undefined
  readonly secret: boolean
  readonly group: OptionGroup
  readonly description: string
}

export type OptionTable = Readonly<Record<string, Option>>

interface Traits {
  readonly default?: string
  readonly defaultNote?: string
  readonly env?: string
  /** The key in the file, if it is not the name of the option. */
  readonly key?: string
  readonly flagOnly?: true
  readonly fileOnly?: true
  readonly secret?: true
}

type Row = readonly [name: string, group: OptionGroup, description: string, traits?: Traits]

const traitsOf = ([name, group, description, traits = {}]: Row) => ({
  default: traits.default ?? "",
  defaultNote: traits.defaultNote,
  key: traits.flagOnly === true ? undefined : traits.key ?? name,
  flag: traits.fileOnly !== true,
  env: traits.env,
  secret: traits.secret === true,
  group,
  description
})

export const singleOption = <A>(
  kind: Kind.OptionKind<A>,
  ...row: Row
): Option<Schema.Schema<A, string>> => ({
  ...traitsOf(row),
  schema: kind.schema,
  placeholder: kind.placeholder,
  toml: kind.toml,
  repeatable: false
})

export const listOption = <A>(
  kind: Kind.OptionKind<A>,
  ...row: Row
): Option<Schema.Schema<ReadonlyArray<A>, ReadonlyArray<string>>> => ({
  ...traitsOf(row),
  schema: () => ArraySchema(kind.schema()),
  placeholder: kind.placeholder,
  toml: kind.toml,
  repeatable: true
})
