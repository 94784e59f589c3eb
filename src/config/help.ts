import { GROUPS, type Option, optionNamesOf } from "./optionRow.ts"
import { OPTIONS } from "./options.ts"

const WIDTH = 96
const COLUMN = 24

/** A word longer than `width` has its own line. */
const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ""
    }
    line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line]
}

export const defaultText = (option: Option): string | undefined => {
  if (option.defaultNote !== undefined) return option.defaultNote
  if (option.repeatable || option.default === "") return undefined
  if (option.toml === "boolean") return option.default === "1" ? "on" : undefined
  return option.default
}

interface Described {
  readonly description: string
  readonly shown?: string | undefined
  readonly env?: string | undefined
}

export const describedOption = ({ description, env, shown }: Described): string => {
  const notes = [
    ...(shown === undefined ? [] : [`default: ${shown}`]),
    ...(env === undefined ? [] : [`environment: ${env}`])
  ]
  return `${description}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`
}

/** `head` on the left, the text in a column on the right. */
export const entry = ({ head, text }: { readonly head: string; readonly text: string }): string => {
  const [first = "", ...rest] = wrap(text, WIDTH - COLUMN).map((line) => " ".repeat(COLUMN) + line)
  const start = `  ${head}`
  const lines = start.length < COLUMN - 1 ? [start + first.slice(start.length)] : [start, first]
  return [...lines, ...rest].join("\n")
}

const flagEntry = (name: string, option: Option): string =>
  entry({
    head: `-${name}${option.placeholder === "" ? "" : ` ${option.placeholder}`}`,
    text: describedOption({ ...option, shown: defaultText(option) })
  })

const fileOnly = (): string => {
  const keys = optionNamesOf(OPTIONS).filter((name) => !OPTIONS[name].flag)
  return keys.map((name) =>
    `${OPTIONS[name].key} (${describedOption({ ...OPTIONS[name], shown: defaultText(OPTIONS[name]) })})`
  ).join(", ")
}

export const optionsHelp = (): string => {
  const groups = GROUPS.map((group) => {
    const names = optionNamesOf(OPTIONS).filter((name) => OPTIONS[name].group === group && OPTIONS[name].flag)
    return `${group}\n${names.map((name) => flagEntry(name, OPTIONS[name])).join("\n")}\n`
  })
  return [
    "Usage: svcd [flags]",
    "",
    "Runs a full node of the Namecoin network, with a wallet and an HTTP JSON-RPC interface.",
    "",
    ...groups,
    "Writing flags",
    ...wrap(
      "-flag value, -flag=value, --flag value and --flag=value are equivalent. A switch is turned on by -flag and off " +
        "by -noflag or -flag=0.",
      WIDTH - 2
    ).map((line) => `  ${line}`),
    "",
    "Configuration file",
    ...wrap(
      "svcd.conf in the data directory, in TOML, with the names of the flags as keys: network = \"regtest\". It alone " +
        `has ${fileOnly()}. A flag wins over the environment, the environment over the file.`,
      WIDTH - 2
    ).map((line) => `  ${line}`),
    ""
  ].join("\n")
}
