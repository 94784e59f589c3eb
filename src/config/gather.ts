import * as Either from "effect/Either"
import { availableParallelism } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { CONFIG_FILE, fromFile, readConfigFile, unreadableFile, type UnreadFile } from "./configFile.ts"
import { homeDirectory, NO_HOME } from "./homeDirectory.ts"
import type { OptionTable } from "./optionRow.ts"
import { isOptionName, OPTIONS } from "./options.ts"
import type { GivenPath } from "./settingsIn.ts"
import { fromEnvironment, fromFlags, merge, type OptionSource } from "./sources.ts"
import { UsageError } from "./UsageError.ts"

/** Collects the options of a program from flags, environment and configuration file. */

/** The inputs of the settings; a test needs no process and no files. */
export interface SettingsInput {
  /** Without the program and its script. */
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  /** `undefined` for a missing file, on the left the error. */
  readonly readFile: (path: string) => Either.Either<string | undefined, UnreadFile>
  readonly homedir: string
  readonly cwd: string
  readonly cores: number
}

export const processInput = (): SettingsInput => ({
  argv: process.argv.slice(2),
  env: process.env,
  readFile: readConfigFile,
  homedir: homeDirectory(),
  cwd: process.cwd(),
  cores: availableParallelism()
})

export const absolutePath = (path: string, { cwd, homedir }: Pick<SettingsInput, "cwd" | "homedir">): string => {
  if (path === "~") return homedir
  return path.startsWith("~/") ? join(homedir, path.slice(2)) : isAbsolute(path) ? resolve(path) : resolve(cwd, path)
}

/** In the data directory from flags, environment or default. */
const configFileOf = (
  input: SettingsInput,
  ...sources: ReadonlyArray<OptionSource>
): Either.Either<string, UsageError> => {
  const given = sources.map((source) => source.get("datadir")).find((found) => found !== undefined)
  const directory = given?.texts.at(-1) ?? OPTIONS.datadir.default
  if (input.homedir === NO_HOME && /^~(\/|$)/.test(directory)) {
    const problem = `data directory ${directory}: this user has no home directory, and HOME is not set; ` +
      "name another one with -datadir or SVCD_DATA_DIR"
    return Either.left(new UsageError({ problems: [problem] }))
  }
  return Either.right(join(absolutePath(directory, input), CONFIG_FILE))
}

export interface Gathered {
  readonly source: OptionSource
  readonly configFile: string
}

/** Checks the form of the options, but not their values. */
export const gather = (
  options: OptionTable,
  given: ReadonlyMap<string, ReadonlyArray<string>>,
  input: SettingsInput
): Either.Either<Gathered, UsageError> => {
  const flags = fromFlags(new Map([...given].flatMap(([name, texts]) => isOptionName(name) ? [[name, texts]] : [])))
  const env = fromEnvironment(input.env)
  return Either.flatMap(configFileOf(input, flags, env), (configFile) => {
    const text = Either.mapLeft(input.readFile(configFile), (fault) => [unreadableFile(configFile, fault)])
    return text.pipe(
      Either.flatMap((found) =>
        found === undefined ? Either.right<OptionSource>(new Map()) : fromFile({ text: found, file: configFile })
      ),
      Either.mapBoth({
        onLeft: (problems) => new UsageError({ problems }),
        onRight: (file) => ({ source: merge(options, { flags, env, file }), configFile })
      })
    )
  })
}

/** Absolute paths. One in the data directory is there even on the command line, as upstream. */
export const pathIn = ({ configFile, source }: Gathered, { cwd, homedir }: SettingsInput) => {
  const given = ({ name, path }: Omit<GivenPath, "base">): string =>
    absolutePath(path, {
      cwd: isOptionName(name) && source.get(name)?.inFile === true ? dirname(configFile) : cwd,
      homedir
    })
  return ({ base, ...option }: GivenPath): string => {
    if (base === "caller") return given(option)
    const dataDir = given({ name: "datadir", path: source.get("datadir")?.texts.at(-1) ?? OPTIONS.datadir.default })
    return absolutePath(option.path, { cwd: dataDir, homedir })
  }
}
