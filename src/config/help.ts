import { quantityOf } from "../base/quantities.ts"
import { GROUPS, type Option, type OptionGroup, optionNamesOf } from "./optionRow.ts"
import { type OptionName, OPTIONS } from "./options.ts"

const WIDTH = 96
const COLUMN = 24

/** A word longer than `width` has its own line. */
const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ""
    }
    line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line]
}

export const defaultText = (option: Option): string | undefined => {
  if (option.defaultNote !== undefined) return option.defaultNote
  if (option.repeatable || option.default === "") return undefined
  if (option.toml === "boolean") return option.default === "1" ? "on" : undefined
  return option.default
}

export interface DescribedOption {
  readonly description: string
  readonly shown?: string | undefined
  readonly env?: string | undefined
}

export const describedOption = ({ description, env, shown }: DescribedOption): string => {
  const notes = [
    ...(shown === undefined ? [] : [`default: ${shown}`]),
    ...(env === undefined ? [] : [`environment: ${env}`])
  ]
  return `${description}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`
}

/** `head` on the left, the text in a column on the right. */
export const entry = ({ head, text }: { readonly head: string; readonly text: string }): string => {
  const [first = "", ...rest] = wrap(text, WIDTH - COLUMN).map((line) => " ".repeat(COLUMN) + line)
  const start = `  ${head}`
  const lines = start.length < COLUMN - 1 ? [start + first.slice(start.length)] : [start, first]
  return [...lines, ...rest].join("\n")
}

const flagEntry = (name: string, option: Option): string =>
  entry({
    head: `-${name}${option.placeholder === "" ? "" : ` ${option.placeholder}`}`,
    text: describedOption({ ...option, shown: defaultText(option) })
  })

const fileOnly = (): string => {
  const keys = optionNamesOf(OPTIONS).filter((name) => !OPTIONS[name].flag)
  return keys.map((name) =>
    `${OPTIONS[name].key} (${describedOption({ ...OPTIONS[name], shown: defaultText(OPTIONS[name]) })})`
  ).join(", ")
}

const GROUP_WORDS: Readonly<Record<OptionGroup, { readonly word: string; readonly about: string }>> = {
  General: { word: "general", about: "network, data directory, this help" },
  RPC: { word: "rpc", about: "JSON-RPC, users and their rights, pages, metrics" },
  Peers: { word: "peers", about: "connections, proxies, bandwidth" },
  Mempool: { word: "mempool", about: "which transactions to keep and relay" },
  Mining: { word: "mining", about: "block templates" },
  Chain: { word: "chain", about: "import, snapshots, indexes, pruning, checks" },
  "Names and wallet": { word: "names", about: "name answers, wallet, fees, renewal, expiry warnings" },
  DNS: { word: "dns", about: "answer DNS for names below .bit" },
  Electrum: { word: "electrum", about: "serve Electrum clients and light wallets" },
  Logging: { word: "logging", about: "level, format, file" },
  "Tests, on regtest alone": { word: "tests", about: "for tests on regtest" },
  Notifications: { word: "notify", about: "commands to run on events, webhooks" },
  ZeroMQ: { word: "zmq", about: "publish blocks and transactions by ZeroMQ" }
}

/** What most people need, in this order. */
const EVERYDAY: ReadonlyArray<OptionName> = [
  "network",
  "datadir",
  "listen",
  "maxpeers",
  "addpeer",
  "proxy",
  "rpcaddr",
  "rpcuser",
  "rpcpassword",
  "webwallet",
  "metricsaddr",
  "ratelimit",
  "maxrequestsize",
  "loadblock",
  "prune",
  "txindex",
  "namehistory",
  "disablewallet",
  "autorenew",
  "loglevel",
  "debugsubsystem",
  "logfile",
  "printconfig",
  "version",
  "help"
]

const ALL = "all"

/** What `-help` takes. */
export const HELP_WORDS: ReadonlyArray<string> = [...GROUPS.map((group) => GROUP_WORDS[group].word), ALL]

export const isHelpWord = (word: string): boolean => HELP_WORDS.includes(word)

const flagsOf = (group: OptionGroup): ReadonlyArray<OptionName> =>
  optionNamesOf(OPTIONS).filter((name) => OPTIONS[name].group === group && OPTIONS[name].flag)

const flagEntries = (names: ReadonlyArray<OptionName>): string =>
  names.map((name) => flagEntry(name, OPTIONS[name])).join("\n")

const groupText = (group: OptionGroup): string => `${group}\n${flagEntries(flagsOf(group))}\n`

const paragraph = (text: string): ReadonlyArray<string> => wrap(text, WIDTH - 2).map((line) => `  ${line}`)

const moreFlags = (): string => {
  const rows = GROUPS.map((group) => ({
    head: `-help ${GROUP_WORDS[group].word}`,
    text: `${GROUP_WORDS[group].about} (${quantityOf(flagsOf(group).length, "flag")})`
  }))
  return ["More flags", ...[...rows, { head: `-help ${ALL}`, text: "all flags" }].map(entry), ""].join("\n")
}

const endText = (): ReadonlyArray<string> => [
  "Writing flags",
  ...paragraph(
    "-flag value, -flag=value, --flag value and --flag=value are equivalent. A switch is turned on by -flag and off " +
      "by -noflag or -flag=0."
  ),
  "",
  "Configuration file",
  ...paragraph(
    "svcd.conf in the data directory, in TOML, with the names of the flags as keys: network = \"regtest\". It alone " +
      `has ${fileOnly()}. A flag wins over the environment, the environment over the file.`
  ),
  ""
]

const HEAD = [
  "Usage: svcd [flags]",
  "",
  "Runs a full node of the Namecoin network, with a wallet and an HTTP JSON-RPC interface.",
  ""
]

/** The everyday flags, one group by its word, or all. */
export const groupsHelp = (word: string | undefined): string => {
  if (word === undefined) {
    return [...HEAD, `Everyday flags\n${flagEntries(EVERYDAY)}\n`, moreFlags(), ...endText()].join("\n")
  }
  const group = GROUPS.find((each) => GROUP_WORDS[each].word === word)
  return group === undefined ? [...HEAD, ...GROUPS.map(groupText), ...endText()].join("\n") : groupText(group)
}
