import { Either } from "effect"
import { decodeSettings } from "../../src/config/decodeSettings.ts"
import { type SettingsInput } from "../../src/config/gather.ts"
import type { Settings } from "../../src/config/settings.ts"

/** Input of a process with only these arguments; files are texts by path. */
export const inputOf = (
  argv: ReadonlyArray<string>,
  { env = {}, files = {} }: {
    readonly env?: Readonly<Record<string, string>>
    readonly files?: Readonly<Record<string, string>>
  } = {}
): SettingsInput => ({
  argv,
  env,
  readFile: (path) => Either.right(files[path]),
  homedir: "/home/me",
  cwd: "/place",
  cores: 4
})

/** The path of the configuration file of `inputOf`, unless arguments set another. */
export const DEFAULT_FILE = "/home/me/.svcd/svcd.conf"

/** The settings of a valid input. */
export const settingsOf = (...[argv, sources]: Parameters<typeof inputOf>): Settings =>
  Either.getOrThrowWith(decodeSettings(inputOf(argv, sources)), (error) => new Error(error.message))

/** The problems of an invalid input; empty if it is valid. */
export const problemsOf = (...[argv, sources]: Parameters<typeof inputOf>): ReadonlyArray<string> =>
  Either.match(decodeSettings(inputOf(argv, sources)), { onLeft: ({ problems }) => problems, onRight: () => [] })
