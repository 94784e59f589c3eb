import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { quoted } from "../base/safeText.ts"
import { readArgv, readWords } from "./argv.ts"
import { translatedFlag } from "./coreFlags.ts"
import { decodeGathered } from "./decodeSettings.ts"
import { gather, type SettingsInput } from "./gather.ts"
import { groupsHelp, HELP_WORDS, isHelpWord } from "./help.ts"
import { OPTIONS, type Shell, SHELLS } from "./options.ts"
import { printConfig } from "./printConfig.ts"
import type { Settings } from "./settings.ts"
import { UsageError } from "./UsageError.ts"

export type DaemonCommand = Data.TaggedEnum<{
  Help: { readonly text: string }
  Version: {}
  Completions: { readonly shell: Shell }
  PrintConfig: { readonly text: string }
  Run: { readonly settings: Settings }
}>
export const DaemonCommand = Data.taggedEnum<DaemonCommand>()

const OFF: ReadonlySet<string> = new Set(["0", "false"])
const ON: ReadonlySet<string> = new Set(["1", "true"])

/** `-help GROUP` or `-help=GROUP`; `undefined` without the flag. */
const readHelp = (argv: ReadonlyArray<string>): Either.Either<DaemonCommand, UsageError> | undefined => {
  const { given, words } = readWords(argv, OPTIONS)
  const text = given.get("help")?.at(-1) ?? "0"
  if (OFF.has(text)) return undefined
  const word = ON.has(text) ? words[0] : text
  return word === undefined || isHelpWord(word)
    ? Either.right(DaemonCommand.Help({ text: groupsHelp(word) }))
    : Either.left(
      new UsageError({
        problems: [`-help: ${quoted(word)} is not a group of flags; the groups are ${HELP_WORDS.join(", ")}`]
      })
    )
}

/** Help and version have precedence over errors in flags, environment or file. */
export const readCommandLine = (input: SettingsInput): Either.Either<DaemonCommand, UsageError> => {
  const { given, problems } = readArgv(input.argv, OPTIONS)
  const wants = (name: "version" | "printconfig"): boolean => ON.has(given.get(name)?.at(-1) ?? "0")

  const help = readHelp(input.argv)
  if (help !== undefined) return help
  if (wants("version")) return Either.right(DaemonCommand.Version())
  if (problems.length > 0) return Either.left(new UsageError({ problems: problems.map(translatedFlag) }))
  const named = given.get("completions")?.at(-1)
  const shell = SHELLS.find((each) => each === named)
  if (shell !== undefined) return Either.right(DaemonCommand.Completions({ shell }))
  return Either.gen(function*() {
    const gathered = yield* gather(OPTIONS, given, input)
    const settings = yield* decodeGathered(gathered, input)
    return wants("printconfig")
      ? DaemonCommand.PrintConfig({ text: printConfig(gathered, input) })
      : DaemonCommand.Run({ settings })
  })
}
