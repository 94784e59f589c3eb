import type * as Usage from "@effect/cli/Usage"
import * as Option from "effect/Option"
import { quoted } from "../../base/safeText.ts"
import { type FlagForm, readWords } from "../../config/argv.ts"
import { nearest } from "../../config/suggest.ts"

/**
 * The arguments of a tool in the one spelling that @effect/cli 0.77 reads: the sub-command, flags with two dashes and
 * their values as words of their own, other words. All programs of the project also take `-flag value` and
 * `--flag=value`, before, between and behind the words. That library reads `-network` as the flags n, e, t and so on,
 * and takes a flag that it does not know for an argument.
 */

interface Form extends FlagForm {
  readonly repeatable: boolean
}

export type Forms = Readonly<Record<string, Form>>

const switchForm: Form = { flag: true, toml: "boolean", placeholder: "", repeatable: false }

/** The flags in the library's own description of a command. */
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

export const SHELLS = ["bash", "zsh", "fish"] as const
export type Shell = (typeof SHELLS)[number]

/** The library's own flags, as far as the tools have them. */
export const BUILT_IN = {
  help: switchForm,
  version: switchForm,
  completions: { flag: true, toml: "string", placeholder: SHELLS.join("|"), repeatable: false }
} satisfies Forms

export interface Syntax {
  /** The flags of each sub-command. */
  readonly commands: ReadonlyMap<string, Forms>
  /** Whether a message may repeat the first word if it is no sub-command. It may be a secret in the wrong place. */
  readonly repeatsWords: boolean
}

export interface Arguments {
  /** For the library, behind the name of the program. */
  readonly words: ReadonlyArray<string>
  /** Complaints that the library does not have, or not with the flag that was meant. */
  readonly problems: ReadonlyArray<string>
}

type Given = ReadonlyMap<string, ReadonlyArray<string>>

const isOn = (given: Given, name: string): boolean => ["1", "true"].includes(given.get(name)?.at(-1) ?? "0")

const builtIn = (given: Given, name: string | undefined): ReadonlyArray<string> | undefined => {
  if (isOn(given, "help")) return ["--help", ...name === undefined ? [] : [name, "--help"]]
  if (isOn(given, "version")) return ["--version"]
  return undefined
}

const commandProblem = (name: string | undefined, { commands, repeatsWords }: Syntax): string => {
  const names = [...commands.keys()]
  if (name === undefined) return `a sub-command is missing: ${names.join(", ")}`
  const meant = nearest(name, names)
  const hint = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${meant}?`
  return `${repeatsWords ? quoted(name) : "that"} is not a sub-command; ${hint}`
}

/** The texts of a flag as the library reads them: a switch with its value, of other flags the last one. */
const spelled = (name: string, texts: ReadonlyArray<string>, form: Form): ReadonlyArray<string> => {
  const used = form.repeatable ? texts : texts.slice(-1)
  return used.flatMap((text) => [`--${name}`, form.toml === "boolean" ? `${["1", "true"].includes(text)}` : text])
}

export const readArguments = (argv: ReadonlyArray<string>, syntax: Syntax): Arguments => {
  const { commands } = syntax
  const flags: Forms = Object.assign({}, ...commands.values(), BUILT_IN)
  const { given, problems, words: [name, ...more] } = readWords(argv, flags)
  const refuse = (...found: ReadonlyArray<string>): Arguments => ({ words: [], problems: found })

  const known = name !== undefined && commands.has(name) ? name : undefined
  const alone = builtIn(given, known)
  if (alone !== undefined) return { words: alone, problems: [] }
  if (problems.length > 0) return refuse(...problems)
  const shell = given.get("completions")?.at(-1)
  if (shell !== undefined) {
    return SHELLS.some((each) => each === shell)
      ? { words: ["--completions", shell], problems: [] }
      : refuse(`--completions: ${quoted(shell)} is not one of ${SHELLS.join(", ")}`)
  }
  const own = name === undefined ? undefined : commands.get(name)
  if (name === undefined || own === undefined) return refuse(commandProblem(name, syntax))
  const strange = [...given.keys()].filter((flag) => !Object.hasOwn(own, flag))
  if (strange.length > 0) return refuse(...strange.map((flag) => `--${flag}: is not a flag of ${name}`))
  // The library drops an empty text of a flag that may be repeated.
  const empty = [...given].filter(([flag, texts]) => own[flag]?.repeatable === true && texts.includes(""))
  if (empty.length > 0) return refuse(...empty.map(([flag]) => `--${flag}: must not be empty`))
  const behind = [...given].flatMap(([flag, texts]) => own[flag] === undefined ? [] : spelled(flag, texts, own[flag]))
  return { words: [name, ...behind, ...more], problems: [] }
}
