import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type * as Effect from "effect/Effect"
import { type Option, type OptionTable } from "../../config/optionRow.ts"
import { optionNamesOf } from "../../config/options.ts"
import { shellScript } from "../tool/completions.ts"
import { COMMAND_NAMES, COMMAND_ROWS } from "./commandTable.ts"
import { CLI_FLAGS, CLI_SHELLS, type CliShell } from "./flags.ts"
import { METHODS } from "./methodNames.ts"
import { NAME } from "./outcome.ts"

/**
 * Scripts with which a shell completes the flags, commands and methods of svcd-cli. @effect/cli makes them from the
 * table of flags that the program parses. Only this module needs that library, and is loaded only for a script.
 */

const isSwitch = (option: Option): boolean => option.toml === "boolean"

/** The values of a flag, if they are known. */
const CHOICES: Readonly<Record<string, ReadonlyArray<string>>> = {
  network: ["mainnet", "testnet", "regtest"],
  completions: CLI_SHELLS
}

const FILES: ReadonlySet<string> = new Set(["rpccookiefile"])
const DIRECTORIES: ReadonlySet<string> = new Set(["datadir"])

const optionOf = (name: string, option: Option): Options.Options<unknown> => {
  const choices = CHOICES[name]
  const plain: Options.Options<unknown> = isSwitch(option)
    ? Options.boolean(name)
    : choices !== undefined
    ? Options.choice(name, choices)
    : DIRECTORIES.has(name)
    ? Options.directory(name)
    : FILES.has(name)
    ? Options.file(name)
    : Options.text(name)
  return Options.withDescription(plain, option.description)
}

/** Flags of the library with names of our flags. */
const BUILT_IN: ReadonlySet<string> = new Set(["help", "version", "completions"])

const optionsOf = (options: OptionTable): Record<string, Options.Options<unknown>> =>
  Object.fromEntries(
    optionNamesOf(options).filter((name) => !BUILT_IN.has(name)).flatMap((name) => {
      const option = options[name]
      return option === undefined ? [] : [[name, optionOf(name, option)]]
    })
  )

const commandOf = (name: string, options: OptionTable, description: string) =>
  Command.make(name, optionsOf(options)).pipe(Command.withDescription(description))

/** The program as the library sees it: never run, only described. */
const program = (name: string) =>
  Command.make(name, optionsOf(CLI_FLAGS)).pipe(
    Command.withSubcommands([
      Command.make("help"),
      ...COMMAND_NAMES.map((command) =>
        commandOf(command, COMMAND_ROWS[command].options, COMMAND_ROWS[command].description)
      ),
      ...METHODS.filter((method) => method !== "help").map((method) => Command.make(method))
    ])
  )

export const completionScript = (shell: CliShell): Effect.Effect<string> =>
  shellScript({
    name: NAME,
    shell: shell === "sh" ? "bash" : shell,
    command: program,
    bare: new Set(METHODS),
    explains: "help"
  })
