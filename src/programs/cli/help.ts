import type { OptionTable } from "../../config/optionRow.ts"
import { COMMAND_GROUPS, COMMAND_NAMES, COMMAND_ROWS, type CommandName } from "./commandTable.ts"
import { NAME } from "./outcome.ts"

/** Texts of -help, from which the manual page is generated (scripts/package/manual.mjs). */

const WIDTH = 100
const COLUMN = 26

const wrapped = (text: string, indent = 0): string => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`)
}

const entry = ({ term, text }: { readonly term: string; readonly text: string }): string => {
  const left = `  ${term}`
  const gap = left.length <= COLUMN - 2 ? " ".repeat(COLUMN - left.length) : `\n${" ".repeat(COLUMN)}`
  return left + gap + wrapped(text, COLUMN)
}

const flagEntries = (options: OptionTable): ReadonlyArray<string> =>
  Object.entries(options).map(([name, { description, placeholder, toml }]) =>
    entry({ term: toml === "boolean" ? `-${name}` : `-${name} ${placeholder}`, text: description })
  )

const termOf = (name: CommandName): string => `${name} ${COMMAND_ROWS[name].words}`.trimEnd()

export const commandHelp = (name: CommandName): string => {
  const { description, details, options } = COMMAND_ROWS[name]
  const sentence = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`
  return [
    `Usage: ${NAME} [flags] ${termOf(name)} [flags]`,
    "",
    wrapped(details === undefined ? sentence : `${sentence} ${details}`),
    "",
    "Flags",
    ...flagEntries(options),
    "",
    `The flags of ${NAME} itself, such as -network and -rpcaddr, are in ${NAME} -help.`,
    ""
  ].join("\n")
}

const commands = COMMAND_GROUPS.map((group) =>
  [
    group,
    ...COMMAND_NAMES.filter((name) => COMMAND_ROWS[name].group === group).map((name) =>
      entry({ term: termOf(name), text: COMMAND_ROWS[name].description })
    ),
    ""
  ].join("\n")
).join("\n")

export const CLI_HELP = `Usage: ${NAME} [flags] <command> [words and flags of the command]
       ${NAME} [flags] <method> [parameters]

Manages names and coins with a running svcd, and calls its methods. "${NAME} help <command>" explains
a command with its flags; all of them print JSON with -json. "${NAME} help" lists the methods,
"${NAME} help <method>" explains one; the result of a method is a text as it is, or JSON.

${commands}
The daemon
  -network NAME           network of the daemon (environment: SVCD_NETWORK)
  -datadir PATH           data directory; svcd.conf in it is read (environment: SVCD_DATA_DIR)
  -rpcaddr HOST:PORT      address of the daemon (default: 127.0.0.1:8336)
  -rpcuser NAME           user name (environment: SVCD_RPC_USER)
  -rpcpassword SECRET     password (environment: SVCD_RPC_PASSWORD)
  -stdinrpcpass           read the password from the first line of standard input
  -rpccookiefile PATH     cookie file of the daemon, instead of a user name and password
  -rpcwallet NAME         wallet to use if the daemon has several loaded
  -rpcclienttimeout SECONDS
                          response timeout; 0 for none (default: 900)
  -rpcwait                wait until the daemon answers and has started
  -rpcwaittimeout SECONDS
                          limit for -rpcwait; 0 for none (default: 0)

The call
  -named                  pass parameters as name=value
  -json                   print results and errors as JSON, including strings
  -stdin                  read more parameters from standard input, one per line

Others
  -getinfo                same as the command status
  -completions SHELL      print a completion script for flags and methods: bash, zsh, fish or sh
  -version                print the version and exit
  -help                   print this text and exit

Flags override the environment, which overrides svcd.conf. Without user name and password, a
daemon on this machine that asks for them is given the cookie of the data directory, or of Namecoin
Core in ~/.namecoin, if there is one.
String parameters of methods are passed as they are; others are JSON.

Exit status: 0; 1 if no daemon answers, or a command fails; 2 for a mistake in flags or configuration;
otherwise the daemon's error code without its sign, modulo 256.
`

export const helpText = (command: CommandName | undefined): string =>
  command === undefined ? CLI_HELP : commandHelp(command)
