import { quoted } from "../../base/safeText.ts"
import { readArgv } from "../../config/argv.ts"
import { CONNECTION_OPTIONS } from "../../config/connection.ts"
import { translatedBy } from "../../config/coreFlags.ts"
import { type Option, type OptionTable } from "../../config/optionRow.ts"
import { OPTIONS } from "../../config/options.ts"
import { SHELLS } from "../tool/arguments.ts"
import { NAME } from "./outcome.ts"

/** The flags of svcd-cli, and those of its own commands. */

const switchOption = (description: string) => ({ ...OPTIONS.version, description })

/** A flag with a value, without an environment variable or an entry in the file. */
const textOption = (
  { description, placeholder }: { readonly placeholder: string; readonly description: string }
): Option => ({
  ...OPTIONS.rpcuser,
  env: undefined,
  key: undefined,
  placeholder,
  description
})

export const CLI_FLAGS = {
  ...CONNECTION_OPTIONS,
  rpccookiefile: textOption({
    placeholder: "PATH",
    description: "cookie file of the daemon, in place of user name and password"
  }),
  rpcwallet: textOption({ placeholder: "NAME", description: "wallet to use, where the daemon has several loaded" }),
  rpcclienttimeout: textOption({ placeholder: "SECONDS", description: "how long an answer may take; 0 for any time" }),
  rpcwait: switchOption("wait until the daemon answers and has started"),
  rpcwaittimeout: textOption({ placeholder: "SECONDS", description: "how long to wait for that; 0 for any time" }),
  named: switchOption("parameters are written name=value"),
  stdin: switchOption("read more parameters from standard input, one a line"),
  stdinrpcpass: switchOption("read the password from the first line of standard input"),
  getinfo: switchOption("the same as the command status"),
  completions: textOption({ placeholder: "SHELL", description: "print what makes a shell complete flags and methods" }),
  version: OPTIONS.version,
  help: OPTIONS.help
} satisfies OptionTable

/** Commands that svcd-cli carries out itself, each with its flags. No method has such a name. */
export const CLI_COMMANDS = {
  status: {
    description: "tell how the node is",
    options: {
      json: switchOption("print JSON"),
      wait: switchOption("wait until all names are known, with a progress bar on a terminal"),
      help: OPTIONS.help
    }
  },
  names: {
    description: "list the names of the wallet, those first that have to be renewed first",
    options: {
      json: switchOption("print JSON"),
      all: switchOption("show names too that have expired or were given away, and old registrations that failed"),
      expiring: textOption({ placeholder: "BLOCKS", description: "show only names that expire within so many blocks" }),
      help: OPTIONS.help
    }
  },
  find: {
    description: "find names of all owners by what they say",
    options: {
      json: switchOption("print JSON"),
      key: textOption({ placeholder: "KEY", description: "an item of the value: ip, ip6, ns, email, nostr or tor" }),
      value: textOption({ placeholder: "VALUE", description: "the value of that item" }),
      owner: textOption({ placeholder: "ADDRESS", description: "the owner of the names" }),
      namespace: textOption({ placeholder: "PREFIX", description: "how the names begin" }),
      expired: switchOption("show expired names too"),
      limit: textOption({ placeholder: "NUMBER", description: "show so many names" }),
      help: OPTIONS.help
    }
  },
  expiring: {
    description: "list names that expire soon: those of the wallets and the watched ones, or others",
    options: {
      json: switchOption("print JSON"),
      all: switchOption("names of all owners"),
      owner: textOption({ placeholder: "ADDRESS", description: "the owner of the names" }),
      blocks: textOption({ placeholder: "NUMBER", description: "show names that expire within so many blocks" }),
      limit: textOption({ placeholder: "NUMBER", description: "show so many names" }),
      help: OPTIONS.help
    }
  },
  watch: {
    description: "print a line for each change of a name, as it happens",
    options: {
      json: switchOption("print JSON"),
      from: textOption({
        placeholder: "CURSOR",
        description: "begin behind this place; 0 for all changes of the past"
      }),
      types: textOption({ placeholder: "KINDS", description: "only these kinds of changes, with commas between them" }),
      help: OPTIONS.help
    }
  },
  webhooks: {
    description: "list the programs that receive events of names, or test one",
    options: { json: switchOption("print JSON"), help: OPTIONS.help }
  },
  lint: {
    description: "check a name and a value before you pay for them",
    options: { json: switchOption("print JSON"), help: OPTIONS.help }
  },
  rpcauth: {
    description: "make a user of RPC: a line for svcd.conf, and a password",
    options: { json: switchOption("print JSON"), help: OPTIONS.help }
  }
} as const satisfies Readonly<Record<string, { readonly description: string; readonly options: OptionTable }>>

export type CommandName = keyof typeof CLI_COMMANDS

export const isCliCommand = (word: string | undefined): word is CommandName =>
  word !== undefined && Object.hasOwn(CLI_COMMANDS, word)

export const CLI_SHELLS = [...SHELLS, "sh"] as const
export type CliShell = (typeof CLI_SHELLS)[number]

export const isShell = (word: string): word is CliShell => CLI_SHELLS.some((shell) => shell === word)

export const CLI_HELP = `Usage: ${NAME} [flags] <method> [parameters]
       ${NAME} [flags] status [-wait] [-json]
       ${NAME} [flags] names [prefix] [-all] [-expiring BLOCKS] [-json]
       ${NAME} [flags] find [TEXT] [-key KEY [-value VALUE]] [-owner ADDRESS] [-namespace PREFIX]
                      [-expired] [-limit NUMBER] [-json]
       ${NAME} [flags] expiring [-blocks NUMBER] [-all] [-owner ADDRESS] [-limit NUMBER] [-json]
       ${NAME} [flags] watch [prefix] [-from CURSOR] [-types KINDS] [-json]
       ${NAME} [flags] webhooks [test ID] [-json]
       ${NAME} lint NAME VALUE [-json]
       ${NAME} rpcauth USER [PASSWORD] [-json]

Calls a method of a running svcd, or of another daemon with the same interface, and prints its result:
a text as it is, anything else as JSON. "${NAME} help" lists the methods, "${NAME} help <method>"
explains one.

Commands that print tables, and JSON with -json
  status                tell how the node is: sync, peers, mempool, wallet (also -getinfo)
    -wait               first wait until all names are known, with a progress bar on a terminal
  names                 list the names of the wallet, those first that have to be renewed first;
                        with a prefix, names that begin so
    -all                also those that have expired or were given away
    -expiring BLOCKS    only those that expire within so many blocks
  find                  find names of all owners: by a text in name or value, by an item of the value
                        (-key ip -value 192.0.2.1), by owner
    -key KEY            ip, ip6, ns, email, nostr or tor; with -value VALUE only that value
    -owner ADDRESS      names of this owner
    -namespace PREFIX   names that begin so, such as d/
    -expired            expired names too
    -limit NUMBER       how many names to show (default: 100)
  expiring              list names that expire soon, the first to expire first: those of the wallets,
                        and those of name_watch
    -blocks NUMBER      within so many blocks (default: 4032, four weeks)
    -all                names of all owners
    -owner ADDRESS      names of this owner
    -limit NUMBER       how many names to show (default: 100)
  webhooks              list the programs that receive events of names: how far they are, and what is
                        wrong; "webhooks test ID" sends one a message and tells what came back

Commands that go on until they are interrupted
  watch                 print a line for each change of a name, as it happens; with a prefix, of names
                        that begin so. JSON lines with -json. When interrupted, it prints where to go on
    -from CURSOR        begin behind this place; 0 for all changes of the past
    -types KINDS        only these, with commas between them: registered, updated, renewed, transferred,
                        cleared, expired, expiring

Commands that need no daemon
  lint                  check a name and a value, "-" for standard input: what is wrong, and what
                        programs will see; the exit status is 1 for an error
  rpcauth               make a user of RPC: the line of svcd.conf, with a hash of the password; without
                        a password it makes one and prints it, and "-" reads it from standard input

The daemon
  -network NAME         network of the daemon (environment: SVCD_NETWORK)
  -datadir PATH         data directory; svcd.conf in it is read (environment: SVCD_DATA_DIR)
  -rpcaddr HOST:PORT    address of the daemon (default: 127.0.0.1:8336)
  -rpcuser NAME         user name (environment: SVCD_RPC_USER)
  -rpcpassword SECRET   password (environment: SVCD_RPC_PASSWORD)
  -stdinrpcpass         read the password from the first line of standard input
  -rpccookiefile PATH   cookie file of the daemon, in place of user name and password
  -rpcwallet NAME       wallet to use, where the daemon has several loaded
  -rpcclienttimeout SECONDS
                        how long an answer may take; 0 for any time (default: 900)
  -rpcwait              wait until the daemon answers and has started
  -rpcwaittimeout SECONDS
                        how long to wait for that; 0 for any time (default: 0)

The call
  -named                parameters are written name=value
  -stdin                read more parameters from standard input, one a line

Others
  -completions SHELL    print what makes a shell complete flags and methods: bash, zsh, fish or sh
  -version              print the version and exit
  -help                 print this text and exit

A flag wins over the environment, the environment over svcd.conf. Without user name and password, a
daemon on this machine that asks for them is given the cookie of the data directory, or of Namecoin
Core in ~/.namecoin, if there is one.
Parameters that are texts are passed on as they are; others are JSON.

Exit status: 0; 1 if no daemon answers; 2 for a mistake in flags or configuration; else the code of the
daemon's error without its sign, modulo 256.
`

/** Flags of the reference client with another equivalent here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["regtest", "write -network regtest"],
  ["testnet", "write -network testnet"],
  ["chain", "write -network NAME"],
  ["rpcconnect", "write -rpcaddr HOST:PORT"],
  ["rpcport", "write -rpcaddr HOST:PORT"],
  ["conf", "write -datadir PATH; svcd.conf in it is read"],
  ["netinfo", `use ${NAME} status, or ${NAME} getpeerinfo`],
  ["addrinfo", `use ${NAME} getaddrmaninfo`],
  ["generate", `use ${NAME} generatetoaddress`],
  ["stdinwalletpassphrase", `use ${NAME} -stdin walletpassphrase`],
  ["color", "set NO_COLOR in the environment to have none"]
])

/** What a switch may be set to. */
const SWITCHED: ReadonlySet<string> = new Set(["0", "1", "false", "true"])

/** All flags, of the program and of its commands. */
const ALL = {
  ...CLI_FLAGS,
  ...CLI_COMMANDS.status.options,
  ...CLI_COMMANDS.names.options,
  ...CLI_COMMANDS.find.options,
  ...CLI_COMMANDS.expiring.options,
  ...CLI_COMMANDS.watch.options
}

export type CliFlagName = keyof typeof ALL

export interface CliCommandLine {
  readonly wants: (name: CliFlagName) => boolean
  readonly text: (name: CliFlagName) => string | undefined
  readonly given: ReadonlyMap<CliFlagName, ReadonlyArray<string>>
  /** The command; `undefined` for a call of a method. */
  readonly command: CommandName | undefined
  /** A method and its parameters, or the parameters of the command. */
  readonly words: ReadonlyArray<string>
  readonly problems: ReadonlyArray<string>
}

/** The commands that have a flag; `undefined` for a flag of the program itself. */
const ownersOf = (name: CliFlagName): ReadonlyArray<CommandName> | undefined =>
  Object.hasOwn(CLI_FLAGS, name)
    ? undefined
    : (["status", "names", "find", "expiring", "watch", "webhooks", "lint", "rpcauth"] as const).filter((command) =>
      Object.hasOwn(CLI_COMMANDS[command].options, name)
    )

/**
 * Parses the arguments of the program: flags, then a method, behind which no word is a flag any more. A command of the
 * program may have flags before and behind it.
 */
export const readCliCommandLine = (argv: ReadonlyArray<string>): CliCommandLine => {
  const given = new Map<CliFlagName, ReadonlyArray<string>>()
  const problems: Array<string> = []
  const read = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
    const found = readArgv(words, ALL, "end")
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
  for (const [name, texts] of given) {
    const option: Option = ALL[name]
    const strange = option.toml === "boolean" ? texts.find((text) => !SWITCHED.has(text)) : undefined
    if (strange !== undefined) problems.push(`-${name}: ${quoted(strange)} is not one of 0, 1, true, false`)
    const owners = ownersOf(name)
    if (owners === undefined || (command !== undefined && owners.includes(command))) continue
    problems.push(`-${name}: is a flag of ${NAME} ${owners.join(", ")}`)
  }
  return {
    wants,
    text: (name) => given.get(name)?.at(-1),
    given,
    command,
    words,
    problems: problems.map(translatedBy(ELSEWHERE))
  }
}

/** The whole number of a flag; `fallback` without the flag. Adds an invalid one to `problems`. */
export const countOf = (
  { fallback, name, text }: { readonly name: string; readonly text: string | undefined; readonly fallback: number },
  problems: Array<string>
): number => {
  if (text === undefined) return fallback
  if (/^\d{1,7}$/.test(text)) return Number(text)
  problems.push(`-${name}: ${JSON.stringify(text)} is not a whole number from 0 to 9999999`)
  return fallback
}
