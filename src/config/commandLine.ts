import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { readArgv } from "./argv.ts"
import { translatedFlag } from "./coreFlags.ts"
import { decodeGathered } from "./decodeSettings.ts"
import { gather, type SettingsInput } from "./gather.ts"
import { OPTIONS, type Shell, SHELLS } from "./options.ts"
import { printConfig } from "./printConfig.ts"
import type { Settings } from "./settings.ts"
import { UsageError } from "./UsageError.ts"

export type DaemonCommand = Data.TaggedEnum<{
  Help: {}
  Version: {}
  Completions: { readonly shell: Shell }
  PrintConfig: { readonly text: string }
  Run: { readonly settings: Settings }
}>
export const DaemonCommand = Data.taggedEnum<DaemonCommand>()

/** Help and version have precedence over errors in flags, environment or file. */
export const readCommandLine = (input: SettingsInput): Either.Either<DaemonCommand, UsageError> => {
  const { given, problems } = readArgv(input.argv, OPTIONS)
  const wants = (name: "help" | "version" | "printconfig"): boolean =>
    ["1", "true"].includes(given.get(name)?.at(-1) ?? "0")

  if (wants("help")) return Either.right(DaemonCommand.Help())
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
