import { stringify } from "smol-toml"
import { shownPath } from "../base/safeText.ts"
import { type Gathered, pathIn, type SettingsInput } from "./gather.ts"
import { GROUPS, type Option, optionNamesOf } from "./optionRow.ts"
import { type OptionName, OPTIONS } from "./options.ts"
import { placeOf } from "./settingsIn.ts"
import { defaultOf, type Given } from "./sources.ts"

type TomlValue = string | number | boolean | ReadonlyArray<string>

const tomlValue = (option: Option, texts: ReadonlyArray<string>): TomlValue => {
  if (option.repeatable) return texts
  const text = texts.at(-1) ?? ""
  if (option.toml === "integer") return Number(text)
  if (option.toml === "boolean") return text === "1" || text === "true"
  return text
}

const isSet = (option: Option, { texts }: Given): boolean =>
  option.repeatable ? texts.length > 0 : texts.at(-1) !== "" || option.default !== ""

const line = (name: OptionName, given: Given): string => {
  const option: Option = OPTIONS[name]
  const key = option.key?.split(".").at(-1) ?? name
  const from = `# ${given.from}`
  if (!isSet(option, given)) {
    return `# ${key} is not set${option.defaultNote === undefined ? "" : `: ${option.defaultNote}`}`
  }
  // Commented out: in a file, a mask would be read as the password.
  if (option.secret) return `# ${key} is set, and not shown  ${from}`
  const setting = stringify({ [key]: tomlValue(option, given.texts) }).trim()
  return option.key === undefined ? `# ${setting}  ${from}, a flag only` : `${setting}  ${from}`
}

/** Options that select a command are not configuration. */
const isCommand = (name: OptionName): boolean => placeOf(OPTIONS[name])[0] === "command"

/** With absolute paths: relative ones would change their meaning in another file. */
const settled = (name: OptionName, gathered: Gathered, input: SettingsInput): Given => {
  const given = gathered.source.get(name) ?? defaultOf(OPTIONS[name])
  const { base } = OPTIONS[name]
  if (base !== "caller") return given
  const absolute = pathIn(gathered, input)
  return { ...given, texts: given.texts.map((path) => path === "" ? path : absolute({ name, path, base })) }
}

/**
 * The settings in force as a configuration file with the same effect at any location, each with its source and without
 * secrets. They must have been validated.
 */
export const printConfig = (gathered: Gathered, input: SettingsInput): string => {
  const { configFile } = gathered
  const names = optionNamesOf(OPTIONS).filter((name) => !isCommand(name))
  const linesOf = (chosen: ReadonlyArray<OptionName>): ReadonlyArray<string> =>
    chosen.map((name) => line(name, settled(name, gathered, input)))
  const inTable = (name: OptionName): boolean => OPTIONS[name].key?.includes(".") === true
  const groups = GROUPS.map((group) => {
    const chosen = names.filter((name) => OPTIONS[name].group === group && !inTable(name))
    return [`# ${group}`, ...linesOf(chosen), ""]
  })
  return [
    `# The settings in force. Configuration file: ${shownPath(configFile)}`,
    "",
    ...groups.flat(),
    "[database]",
    ...linesOf(names.filter(inTable)),
    ""
  ].join("\n")
}
