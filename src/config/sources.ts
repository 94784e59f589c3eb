import { quoted } from "../base/safeText.ts"
import { type Option, optionNamesOf, type OptionTable } from "./optionRow.ts"
import { isOptionName, type OptionName, OPTIONS } from "./options.ts"
import { nearest } from "./suggest.ts"

export interface Given {
  /** Several only for a repeatable option. */
  readonly texts: ReadonlyArray<string>
  /** Their location: `-maxpeers`, `SVCD_NETWORK`, `/home/me/.svcd/svcd.conf:4`, `default`. */
  readonly from: string
  /** The prefix of messages: the location and, if it does not contain it, the key. */
  readonly label: string
  /** Whether relative paths are relative to the configuration file. */
  readonly inFile: boolean
}

export type OptionSource = ReadonlyMap<OptionName, Given>

/** The last occurrence of a flag that is not repeatable wins. */
export const fromFlags = (given: ReadonlyMap<OptionName, ReadonlyArray<string>>): OptionSource =>
  new Map(
    Array.from(given, ([name, texts]) => [name, { texts, from: `-${name}`, label: `-${name}`, inFile: false }])
  )

/** An empty variable counts as unset, as in most programs. */
export const fromEnvironment = (env: Readonly<Record<string, string | undefined>>): OptionSource => {
  const source = new Map<OptionName, Given>()
  for (const name of optionNamesOf(OPTIONS)) {
    const variable = OPTIONS[name].env
    const text = variable === undefined ? undefined : env[variable]
    if (variable === undefined || text === undefined || text === "") continue
    source.set(name, { texts: [text], from: variable, label: variable, inFile: false })
  }
  return source
}

/** Other programs' variables, which may share the environment. */
const OF_OTHERS = /^SVCD_(?:MAIL|EXPORT)_/

/** Names unknown variables with the prefix of svcd's, each with its probable correction. */
export const strangeVariables = (env: Readonly<Record<string, string | undefined>>): ReadonlyArray<string> => {
  const known = optionNamesOf(OPTIONS).flatMap((name) => OPTIONS[name].env ?? [])
  const strange = (name: string): boolean =>
    /^SVCD_/i.test(name) && !OF_OTHERS.test(name) && !known.includes(name) && env[name] !== ""
  return Object.keys(env).filter(strange).map((name) => {
    const meant = nearest(name, known.map((each) => each.toLowerCase()))?.toUpperCase()
    return `${quoted(name)} in the environment is not a setting of svcd${
      meant === undefined ? ": use a flag or svcd.conf" : `; did you mean ${meant}?`
    }`
  })
}

export const defaultOf = (option: Option): Given => ({
  texts: option.repeatable ? [] : [option.default],
  from: "default",
  label: "default",
  inFile: false
})

/** Later sources win for each option: defaults, file, environment, flags. */
export const merge = (
  options: OptionTable,
  { env, file, flags }: { readonly env: OptionSource; readonly file: OptionSource; readonly flags: OptionSource }
): OptionSource => {
  const merged = new Map<OptionName, Given>()
  for (const name of optionNamesOf(options).filter(isOptionName)) {
    merged.set(name, flags.get(name) ?? env.get(name) ?? file.get(name) ?? defaultOf(OPTIONS[name]))
  }
  return merged
}
