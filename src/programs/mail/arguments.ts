import { quoted } from "../../base/safeText.ts"
import { readWords, type Words } from "../../config/argv.ts"
import type { OptionTable } from "../../config/options.ts"
import { nearest } from "../../config/suggest.ts"
import { isOn, MAIL_FLAGS, type MailFlagName } from "./options.ts"

/**
 * The arguments of `svcd-mail` in the one order that @effect/cli 0.77 reads without surprises: the sub-command, flags
 * with two dashes and their values as words of their own, the label. Flags may be written as the daemon's
 * (`-flag value`, `--flag=value`), and stand before, between and behind the words.
 */

export type MailArguments = Words<MailFlagName>

export const readArguments = (argv: ReadonlyArray<string>): MailArguments => {
  const { given, problems, words } = readWords(argv, MAIL_FLAGS)
  // @effect/cli drops an empty value.
  const empty = [...given].flatMap(([name, texts]) => texts.includes("") ? [`--${name}: must not be empty`] : [])
  return { given, words, problems: [...problems, ...empty] }
}

/**
 * What is wrong with words and flags, as far as the sub-commands do not report it. A surplus word is not repeated: it
 * may be the second word of a password.
 */
export const problemsOf = (
  { given, problems, words: [name, ...more] }: MailArguments,
  taken: Readonly<Record<string, OptionTable>>
): ReadonlyArray<string> => {
  if (problems.length > 0) return problems
  const commands = Object.keys(taken)
  if (name === undefined) return [`a sub-command is missing: ${commands.join(", ")}; see svcd-mail --help`]
  const own = Object.hasOwn(taken, name) ? taken[name] : undefined
  if (own === undefined) {
    const meant = nearest(name, commands)
    const hint = meant === undefined ? `there are ${commands.join(", ")}` : `did you mean ${meant}?`
    return [`${quoted(name)} is not a sub-command; ${hint}`]
  }
  const strange = [...given.keys()].filter((flag) => !Object.hasOwn(own, flag))
  if (strange.length > 0) return strange.map((flag) => `--${flag}: is not a flag of ${name}`)
  if (more.length > (name === "serve" ? 0 : 1)) {
    return [`${name}: there are too many arguments; a text with spaces has to be in quotes`]
  }
  return []
}

/** The arguments as @effect/cli reads them. */
export const canonical = (read: MailArguments): ReadonlyArray<string> => {
  const [name, ...labels] = read.words
  const flags = [...read.given].flatMap(([flag, texts]) => {
    if (flag === "json") return isOn(read.given, "json") ? ["--json"] : []
    const used = MAIL_FLAGS[flag].repeatable ? texts : texts.slice(-1)
    return used.flatMap((text) => [`--${flag}`, text])
  })
  return [...name === undefined ? [] : [name], ...flags, ...labels]
}
