import type * as Usage from "@effect/cli/Usage"
import * as Option from "effect/Option"
import { quoted } from "../../base/safeText.ts"
import { type FlagForm, readWords } from "../../config/argv.ts"
import { SHELLS } from "../../config/options.ts"
import { nearest } from "../../config/suggest.ts"

/**
 * Rewrites arguments to the spelling of @effect/cli 0.77, which reads `-network` as the flags n, e, t and takes unknown
 * flags for arguments. Programs also accept `-flag value` and `--flag=value` anywhere.
 */

interface Form extends FlagForm {
  readonly repeatable: boolean
}

export type Forms = Readonly<Record<string, Form>>

const switchForm: Form = { flag: true, toml: "boolean", placeholder: "", repeatable: false }

export const formsOf = (usage: Usage.Usage, repeatable = false): Forms => {
  switch (usage._tag) {
    case "Empty":
    case "Mixed":
      return {}
    case "Named": {
      const [name = ""] = usage.names
      if (!name.startsWith("--")) return {}
      const form: Form = Option.match(usage.acceptedValues, {
        onNone: () => switchForm,
        onSome: (placeholder) => ({ flag: true, toml: "string", placeholder, repeatable })
      })
      return { [name.slice(2)]: form }
    }
    case "Optional":
      return formsOf(usage.usage, repeatable)
    case "Repeated":
      return formsOf(usage.usage, true)
    case "Alternation":
    case "Concat":
      return { ...formsOf(usage.left, repeatable), ...formsOf(usage.right, repeatable) }
  }
}

export const BUILT_IN = {
  help: switchForm,
  version: switchForm,
  completions: { flag: true, toml: "string", placeholder: SHELLS.join("|"), repeatable: false }
} satisfies Forms

export interface Syntax {
  readonly commands: ReadonlyMap<string, Forms>
  /** Whether a message may repeat an unknown sub-command, which may be a misplaced secret. */
  readonly repeatsWords: boolean
  /** Whether an empty text is a value of a flag: it may be an unset variable of a shell. */
  readonly allowsEmpty: boolean
}

export interface Arguments {
  readonly words: ReadonlyArray<string>
  /** Complaints that the library lacks, or makes about another flag. */
  readonly problems: ReadonlyArray<string>
}

type Given = ReadonlyMap<string, ReadonlyArray<string>>

const isOn = (given: Given, name: string): boolean => ["1", "true"].includes(given.get(name)?.at(-1) ?? "0")

const commandProblem = ([name, ...more]: ReadonlyArray<string>, { commands, repeatsWords }: Syntax): string => {
  const names = [...commands.keys()]
  if (name === undefined) return `missing command: ${names.join(", ")}`
  const meant = nearest(name, names)
  const hint = meant === undefined ? `the commands are ${names.join(", ")}` : `did you mean ${meant}?`
  // A single short word of letters is neither a seed phrase nor a key.
  const isHarmless = more.length === 0 && /^[a-z-]{1,16}$/.test(name)
  const shown = repeatsWords || isHarmless ? quoted(name) : "that"
  return `${shown} is not a command; ${hint}`
}

/** The library's texts of a switch. Without one it takes the next word for it. */
const SWITCHED: Readonly<Record<string, string>> = { 0: "false", 1: "true", false: "false", true: "true" }

/** For standard input, as an argument. */
const STDIN = "-"

/** Does not repeat the word, which may be a mistyped private key. No sub-command takes a word that begins so. */
const DASHED = "an argument begins with a hyphen but is not a flag; write flags as -flag or --flag"

interface GivenFlag {
  readonly name: string
  readonly texts: ReadonlyArray<string>
  readonly form: Form
}

const textProblem = ({ form, name, texts }: GivenFlag, { allowsEmpty }: Syntax): ReadonlyArray<string> => {
  // The library drops an empty text of a flag that may be repeated.
  if ((form.repeatable || !allowsEmpty) && texts.includes("")) return [`--${name}: must not be empty`]
  // The text is not repeated: it may be a passphrase or seed words.
  return form.toml === "boolean" && texts.some((text) => !Object.hasOwn(SWITCHED, text))
    ? [`--${name}: is a switch; its value must be 0, 1, true or false`]
    : []
}

/** As the library reads it; a single-use flag takes the last text. */
const spelled = ({ form, name, texts }: GivenFlag): ReadonlyArray<string> =>
  (form.repeatable ? texts : texts.slice(-1)).flatMap((text) => [
    `--${name}`,
    form.toml === "boolean" ? SWITCHED[text] ?? text : text
  ])

const accepted = (...words: ReadonlyArray<string>): Arguments => ({ words, problems: [] })
const refused = (...problems: ReadonlyArray<string>): Arguments => ({ words: [], problems })

const completions = (shell: string): Arguments =>
  SHELLS.some((each) => each === shell)
    ? accepted("--completions", shell)
    : refused(`--completions: ${quoted(shell)} is not one of ${SHELLS.join(", ")}`)

export const readArguments = (argv: ReadonlyArray<string>, syntax: Syntax): Arguments => {
  const { commands } = syntax
  const flags: Forms = Object.assign({}, ...commands.values(), BUILT_IN)
  const { given, problems: misread, words } = readWords(argv, flags)
  // The library or a sub-command might repeat such a word in its message.
  const problems = words.some((word) => word.startsWith("-") && word !== STDIN) ? [...misread, DASHED] : misread
  const [name, ...more] = words
  const own = name === undefined ? undefined : commands.get(name)

  if (isOn(given, "help")) {
    return accepted("--help", ...name === undefined || own === undefined ? [] : [name, "--help"])
  }
  if (isOn(given, "version")) return accepted("--version")
  if (problems.length > 0) return refused(...problems)
  const shell = given.get("completions")?.at(-1)
  if (shell !== undefined) return completions(shell)
  if (name === undefined || own === undefined) return refused(commandProblem(words, syntax))

  const strange = [...given.keys()].filter((flag) => !Object.hasOwn(own, flag))
  if (strange.length > 0) return refused(...strange.map((flag) => `--${flag}: is not a flag of ${name}`))
  const ownGiven = Object.entries(own).flatMap(([flag, form]): ReadonlyArray<GivenFlag> => {
    const texts = given.get(flag)
    return texts === undefined ? [] : [{ name: flag, texts, form }]
  })
  const wrong = ownGiven.flatMap((flag) => textProblem(flag, syntax))
  return wrong.length > 0 ? refused(...wrong) : accepted(name, ...ownGiven.flatMap(spelled), ...more)
}
