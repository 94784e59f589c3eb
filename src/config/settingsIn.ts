import * as Schema from "effect/Schema"
import type { PathBase } from "./kinds.ts"
import type { Option, OptionTable } from "./optionRow.ts"

/** The types that a table of options decodes to. */

type ValueOf<O extends Option> = Schema.Schema.Type<ReturnType<O["schema"]>>

export type ValuesIn<O extends OptionTable> = { readonly [Name in keyof O]: ValueOf<O[Name]> }

type PartOf<Path extends string> = Path extends `${infer Part}.${string}` ? Part : never

export type FieldIn<Part extends string, Path extends string> = Path extends `${Part}.${infer Field}` ? Field : never

/** By part of the node and field. `Decided` options have a value even if they are not set. */
export type SettingsIn<O extends OptionTable, Decided extends keyof O = never> = {
  readonly [Part in PartOf<O[keyof O]["path"]>]: {
    readonly [Name in keyof O as FieldIn<Part, O[Name]["path"]>]: Name extends Decided ? NonNullable<ValueOf<O[Name]>>
      : ValueOf<O[Name]>
  }
}

export const valuesSchema = <O extends OptionTable>(options: O): Schema.Schema<ValuesIn<O>, unknown> =>
  // Built name by name from the same table, which the type of Object.fromEntries cannot express.
  Schema.Struct(
    Object.fromEntries(Object.entries(options).map(([name, { schema }]) => [name, schema()]))
  ) as unknown as Schema.Schema<ValuesIn<O>, unknown>

export const placeOf = ({ path }: Pick<Option, "path">): readonly [part: string, field: string] => {
  const dot = path.indexOf(".")
  return [path.slice(0, dot), path.slice(dot + 1)]
}

export interface GivenPath {
  readonly name: string
  readonly path: string
  readonly base: PathBase
}

const resolved = (value: unknown, resolve: (path: string) => string): unknown => {
  if (typeof value === "string") return resolve(value)
  return Array.isArray(value) ? value.map((each) => resolved(each, resolve)) : value
}

export const settingsFrom = <O extends OptionTable>(
  options: O,
  values: ValuesIn<O>,
  absolute: (path: GivenPath) => string
): SettingsIn<O> => {
  const settings: Record<string, Record<string, unknown>> = {}
  for (const [name, option] of Object.entries(options)) {
    const { base } = option
    const [part, field] = placeOf(option)
    const value = values[name]
    const fields = settings[part] ??= {}
    fields[field] = base === undefined ? value : resolved(value, (path) => absolute({ name, path, base }))
  }
  // Built path by path from the same table.
  return settings as SettingsIn<O>
}
