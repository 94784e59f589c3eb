import { readArgv } from "../../config/argv.ts"
import { CONNECTION_OPTIONS } from "../../config/connection.ts"
import { translatedBy } from "../../config/coreFlags.ts"
import { type OptionTable } from "../../config/optionRow.ts"
import { OPTIONS, SHELLS } from "../../config/options.ts"
import {
  type CLI_COMMANDS,
  COMMAND_NAMES,
  COMMAND_ROWS,
  type CommandName,
  isCliCommand,
  switchOption,
  textOption
} from "./commandTable.ts"
import { NAME, quotedArgument } from "./outcome.ts"

export const CLI_FLAGS = {
  ...CONNECTION_OPTIONS,
  rpccookiefile: textOption({
    placeholder: "PATH",
    description: "cookie file of the daemon, instead of a user name and password"
  }),
  rpcwallet: textOption({ placeholder: "NAME", description: "wallet to use if the daemon has several loaded" }),
  rpcclienttimeout: textOption({ placeholder: "SECONDS", description: "response timeout; 0 for none" }),
  rpcwait: switchOption("wait until the daemon answers and has started"),
  rpcwaittimeout: textOption({ placeholder: "SECONDS", description: "limit for -rpcwait; 0 for none" }),
  json: switchOption("print results and errors as JSON, including strings"),
  named: switchOption("pass parameters as name=value"),
  stdin: switchOption("read more parameters from standard input, one per line"),
  stdinrpcpass: switchOption("read the password from the first line of standard input"),
  getinfo: switchOption("same as the command status"),
  completions: textOption({ placeholder: "SHELL", description: "print a completion script for flags and methods" }),
  version: OPTIONS.version,
  help: OPTIONS.help
} satisfies OptionTable

export const CLI_SHELLS = [...SHELLS, "sh"] as const
export type CliShell = (typeof CLI_SHELLS)[number]

export const isShell = (word: string): word is CliShell => CLI_SHELLS.some((shell) => shell === word)

/** Flags of the reference client with another equivalent here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["regtest", "write -network regtest"],
  ["testnet", "write -network testnet"],
  ["chain", "write -network NAME"],
  ["rpcconnect", "write -rpcaddr HOST:PORT"],
  ["rpcport", "write -rpcaddr HOST:PORT"],
  ["conf", "write -datadir PATH; svcd.conf in it is read"],
  ["netinfo", `use ${NAME} status, or ${NAME} peers`],
  ["addrinfo", `use ${NAME} getaddrmaninfo`],
  ["generate", `use ${NAME} generatetoaddress`],
  ["stdinwalletpassphrase", `use ${NAME} -stdin unlock`],
  ["color", "set NO_COLOR in the environment to turn colors off"]
])

const SWITCHED: ReadonlySet<string> = new Set(["0", "1", "false", "true"])

/** A name shared by several commands is a flag of one form. */
const ALL: OptionTable = Object.assign({}, ...COMMAND_NAMES.map((name) => COMMAND_ROWS[name].options), CLI_FLAGS)

type CommandFlag = { readonly [C in CommandName]: keyof (typeof CLI_COMMANDS)[C]["options"] }[CommandName]

export type CliFlagName = keyof typeof CLI_FLAGS | CommandFlag

export interface CliCommandLine {
  readonly wants: (name: CliFlagName) => boolean
  readonly text: (name: CliFlagName) => string | undefined
  readonly texts: (name: CliFlagName) => ReadonlyArray<string>
  readonly has: (name: CliFlagName) => boolean
  readonly given: ReadonlyMap<string, ReadonlyArray<string>>
  readonly command: CommandName | undefined
  /** A method and its parameters, or the parameters of the command. */
  readonly words: ReadonlyArray<string>
  readonly problems: ReadonlyArray<string>
}

/** Node.js replaces bytes of an argument that are not UTF-8 with this: the value may be none that was given. */
const REPLACEMENT = "\ufffd"

/** How to pass bytes or a character that no argument can have. */
const otherWay = (text: string, command: CommandName | undefined): string => {
  if (/^--?rpcpassword\b/.test(text)) return "give the password on standard input (-stdinrpcpass)"
  if (command === undefined) return "give the parameters on standard input (-stdin)"
  if (command === "lint") return "give the value on standard input (-)"
  if (command === "rpcauth") return "give the password on standard input (-)"
  return Object.hasOwn(COMMAND_ROWS[command].options, "file")
    ? "give a value in a file (-file PATH) or on standard input (-file -)"
    : `call a method in place of ${command}, with its parameters on standard input (-stdin)`
}

const ownersOf = (name: string): ReadonlyArray<CommandName> | undefined =>
  Object.hasOwn(CLI_FLAGS, name)
    ? undefined
    : COMMAND_NAMES.filter((command) => Object.hasOwn(COMMAND_ROWS[command].options, name))

/** Flags, then a method, after which no word is a flag. Commands of the program accept flags before and after them. */
export const readCliCommandLine = (argv: ReadonlyArray<string>): CliCommandLine => {
  const given = new Map<string, ReadonlyArray<string>>()
  const problems: Array<string> = []
  const [first] = readArgv(argv, ALL, { positional: "end" }).rest
  /** A flag of another command would be the next error. */
  const isMeant = (flag: string): boolean =>
    Object.hasOwn(CLI_FLAGS, flag) || isCliCommand(first) && Object.hasOwn(COMMAND_ROWS[first].options, flag)
  const read = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
    const found = readArgv(words, ALL, { positional: "end", meant: isMeant })
    for (const [name, texts] of found.given) given.set(name, [...given.get(name) ?? [], ...texts])
    problems.push(...found.problems)
    return found.rest
  }
  const wants = (name: CliFlagName): boolean => ["1", "true"].includes(given.get(name)?.at(-1) ?? "0")

  const rest = read(argv)
  const named = isCliCommand(rest[0]) ? rest[0] : undefined
  const command = wants("getinfo") ? "status" : named
  const words: Array<string> = []
  if (command === undefined) words.push(...rest)
  else {
    for (let left = named === undefined ? rest : rest.slice(1); left.length > 0;) {
      left = read(left)
      words.push(...left.slice(0, 1))
      left = left.slice(1)
    }
  }
  const replaced = argv.findIndex((text) => text.includes(REPLACEMENT))
  if (replaced >= 0) {
    problems.push(
      `argument ${replaced + 1}: has bytes that are not UTF-8, or U+FFFD, which replaces such bytes; ` +
        otherWay(argv[replaced] ?? "", command)
    )
  }
  for (const [name, texts] of given) {
    // The text is not repeated: it may be a password, as after -stdinrpcpass=.
    if (ALL[name]?.toml === "boolean" && texts.some((text) => !SWITCHED.has(text))) {
      problems.push(`-${name}: is a switch; its value must be 0, 1, true or false`)
    }
    const owners = ownersOf(name)
    if (owners === undefined || (command !== undefined && owners.includes(command))) continue
    problems.push(`-${name}: is a flag of ${NAME} ${owners.join(", ")}`)
  }
  return {
    wants,
    text: (name) => given.get(name)?.at(-1),
    texts: (name) => given.get(name) ?? [],
    has: (name) => given.has(name),
    given,
    command,
    words,
    problems: problems.map(translatedBy(ELSEWHERE))
  }
}

/** `fallback` without the flag. Adds an invalid number to `problems`. */
export const countOf = (
  { fallback, name, text }: { readonly name: string; readonly text: string | undefined; readonly fallback: number },
  problems: Array<string>
): number => {
  if (text === undefined) return fallback
  if (/^\d{1,7}$/.test(text)) return Number(text)
  problems.push(`-${name}: ${quotedArgument(text)} is not a whole number from 0 to 9999999`)
  return fallback
}

/** Passphrases that a command may need: lines of standard input with -stdin. */
export const passphraseLines = ({ command, wants }: Pick<CliCommandLine, "command" | "wants">): number => {
  switch (command) {
    case "encrypt":
      return wants("change") ? 2 : 1
    case "pay":
    case "register":
    case "renew":
    case "transfer":
    case "unlock":
    case "update":
      return 1
    default:
      return 0
  }
}

const TAKEN: { readonly [command in CommandName]?: string } = {
  names: "one prefix",
  find: "one text",
  watch: "one prefix",
  seed: "check, or check - for standard input; other users could see a word in an argument",
  webhooks: "nothing, or: test ID",
  lint: "a name and a value; put the value in quotes",
  "verify-proof": "one file, or - for standard input",
  rpcauth: "a user name and a password"
}

/** The forms of commands that have words of their own. */
const FORMS: { readonly [command in CommandName]?: RegExp } = {
  autorenew: /^(?:.+ )?(?:on|off)$/s,
  seed: /^check(?: -)?$/,
  webhooks: /^(?:test .+)?$/s
}

/** Shows no word: it may be a value or a password. */
export const wordProblems = ({ command, words }: CliCommandLine): ReadonlyArray<string> => {
  if (command === undefined) return []
  const { takes: [least, most], words: wanted } = COMMAND_ROWS[command]
  const isRight = words.length >= least && words.length <= most && (FORMS[command]?.test(words.join(" ")) ?? true)
  const taken = TAKEN[command] ?? (wanted === "" ? "no parameter" : wanted)
  return isRight ? [] : [`${command}: takes ${taken}; see ${NAME} ${command} -help`]
}
