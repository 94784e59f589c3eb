import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import { type Option, optionNamesOf, type OptionTable } from "../../config/options.ts"
import { CLI_COMMANDS, CLI_FLAGS, type Shell, SHELLS } from "./flags.ts"
import { METHODS } from "./methodNames.ts"
import { NAME } from "./outcome.ts"

/**
 * Scripts with which a shell completes the flags, commands and methods of svcd-cli. @effect/cli makes them from the
 * table of flags that the program parses. Only this module needs that library, and is loaded only for a script.
 */

/** The library misreads hyphens in names of programs in parts of its scripts. */
const STAND_IN = NAME.replaceAll("-", "_")

const isSwitch = (option: Option): boolean => option.toml === "boolean"

/** The values of a flag, if they are known. */
const CHOICES: Readonly<Record<string, ReadonlyArray<string>>> = {
  network: ["mainnet", "testnet", "regtest"],
  completions: SHELLS
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
const program = Command.make(STAND_IN, optionsOf(CLI_FLAGS)).pipe(
  Command.withSubcommands([
    commandOf("status", CLI_COMMANDS.status.options, CLI_COMMANDS.status.description),
    commandOf("names", CLI_COMMANDS.names.options, CLI_COMMANDS.names.description),
    ...METHODS.map((method) => Command.make(method))
  ])
)

const SWITCHES: ReadonlyArray<string> = [CLI_FLAGS, ...Object.values(CLI_COMMANDS).map(({ options }) => options)]
  .flatMap(
    (options: OptionTable) =>
      optionNamesOf(options).filter((name) => options[name] !== undefined && isSwitch(options[name]))
  )

/** Flags of the library that svcd-cli does not have; behind a method no word is a flag. */
const STRANGERS = ["--log-level", "--wizard"]
const COMMAND_STRANGERS = [...STRANGERS, "--completions", "--version"]

const without = (words: string, strangers: ReadonlyArray<string>): string =>
  words.split(" ").filter((word) => !strangers.includes(word)).join(" ")

/**
 * Corrects a script for bash: a choice has a word for each value, no value follows a switch, and no flag follows a
 * method.
 */
const mendBash = (script: string): string => {
  const behindSwitch = new RegExp(
    ` +--(?:${SWITCHES.join("|")}|help|wizard|version)\\)\\n +COMPREPLY=\\( "\\$\\{cur\\}" \\)\\n +return 0\\n +;;\\n`,
    "g"
  )
  let block = ""
  return script
    .replace(behindSwitch, "")
    .replace(
      /compgen -W "([a-z]+(?:,[a-z]+)+)"/g,
      (_, choices: string) => `compgen -W "${choices.replaceAll(",", " ")}"`
    )
    .split("\n")
    .map((line) => {
      block = /^ {8}([a-z_.]+)\)$/.exec(line)?.[1] ?? block
      return line.replace(/^( +opts=")(.*)"$/, (whole, start: string, words: string) => {
        if (words === "") return whole
        if (block === STAND_IN) return `${start}${without(words, STRANGERS)}"`
        const command = Object.keys(CLI_COMMANDS).some((name) => block === `${STAND_IN}__${name}`)
        return command ? `${start}${without(words, COMMAND_STRANGERS)}"` : `${start}"`
      })
    })
    .join("\n")
    .replace(/ -o nosort /, " ")
}

/** Corrects a script for zsh or fish: removes the flags that svcd-cli does not have. */
const mendLines = (script: string): string =>
  script.split("\n").filter((line) => !/^ *'--(?:log-level|wizard)\[| -l (?:log-level|wizard)(?: |$)/.test(line)).join(
    "\n"
  )

export const completionScript = (shell: Shell): Effect.Effect<string> => {
  const named = (script: ReadonlyArray<string>): string =>
    `${script.join("\n")}\n`.replaceAll(
      new RegExp(`(compdef |complete -c |complete .* )${STAND_IN}\\b`, "g"),
      `$1${NAME}`
    )
  switch (shell) {
    case "zsh":
      return Effect.map(Command.getZshCompletions(program, STAND_IN), (script) => mendLines(named(script)))
    case "fish":
      return Effect.map(Command.getFishCompletions(program, STAND_IN), (script) => mendLines(named(script)))
    case "bash":
    case "sh":
      return Effect.map(Command.getBashCompletions(program, STAND_IN), (script) => mendBash(named(script)))
  }
}
