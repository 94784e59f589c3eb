import * as Either from "effect/Either"
import { readFileSync, statSync } from "node:fs"
import { parse, TomlDate, TomlError } from "smol-toml"
import { codeOf, reasonOf } from "../base/errorCode.ts"
import { quoted, shownPath } from "../base/safeText.ts"
import { keyHint } from "./coreFlags.ts"
import { type Option, optionNamesOf } from "./optionRow.ts"
import { isOptionName, type OptionName, OPTIONS } from "./options.ts"
import type { Given, OptionSource } from "./sources.ts"
import { nearest } from "./suggest.ts"
import { tomlLines } from "./tomlLines.ts"

export const CONFIG_FILE = "svcd.conf"

/** Keys that files for another node of the same specification have below a table. */
const SECOND_PLACES: ReadonlyArray<readonly [string, OptionName]> = [
  ["database.maxinbound", "maxinbound"],
  ["database.maxoutbound", "maxoutbound"]
]

const KEYS: ReadonlyMap<string, OptionName> = new Map([
  ...optionNamesOf(OPTIONS).flatMap((name): ReadonlyArray<readonly [string, OptionName]> => {
    const key = OPTIONS[name].key
    return key === undefined ? [] : [[key, name]]
  }),
  ...SECOND_PLACES
])

const TABLES: ReadonlySet<string> = new Set(
  [...KEYS.keys()].filter((key) => key.includes(".")).map((key) => key.split(".", 1)[0] ?? "")
)

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof TomlDate)

const EXPECTED = {
  string: "a text in quotes",
  integer: "a whole number",
  boolean: "true or false",
  list: "texts in quotes between brackets",
  tables: "tables, each with its name in two pairs of brackets"
} as const

/** The texts of a value, or on the left the expected kind of value. */
const textsOf = (option: Option, value: unknown): Either.Either<ReadonlyArray<string>, string> => {
  if (option.toml === "tables") {
    const tables = Array.isArray(value) ? value.filter(isTable) : []
    return Array.isArray(value) && tables.length === value.length
      ? Either.right(tables.map((table) => JSON.stringify(table)))
      : Either.left(EXPECTED.tables)
  }
  const wrong = Either.left(EXPECTED[option.repeatable ? "list" : option.toml])
  if (option.toml === "integer") {
    return typeof value === "number" && Number.isSafeInteger(value) ? Either.right([String(value)]) : wrong
  }
  if (option.toml === "boolean") {
    if (typeof value === "boolean") return Either.right([value ? "1" : "0"])
    return value === 0 || value === 1 ? Either.right([String(value)]) : wrong
  }
  if (typeof value === "string") return Either.right([value])
  const texts = Array.isArray(value) ? value.filter((text) => typeof text === "string") : []
  if (!Array.isArray(value) || texts.length !== value.length) return wrong
  if (option.repeatable) return Either.right(texts)
  return option.toml === "list" ? Either.right([texts.join(",")]) : wrong
}

const shownValue = (value: unknown): string => {
  if (typeof value === "string") return quoted(value)
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (Array.isArray(value)) return "a list"
  return isTable(value) ? "a table" : "a date"
}

const BARE_WORD = /^[A-Za-z0-9_-]+$/

export interface ConfigText {
  readonly text: string
  readonly file: string
}

class FileReader {
  readonly source = new Map<OptionName, Given>()
  readonly problems: Array<string> = []
  private readonly lineOf: (path: ReadonlyArray<string>) => number
  private readonly file: string

  constructor({ file, text }: ConfigText) {
    this.file = shownPath(file)
    this.lineOf = tomlLines(text)
  }

  readTable(table: Readonly<Record<string, unknown>>, path: ReadonlyArray<string> = []): void {
    for (const [word, value] of Object.entries(table)) {
      const here = [...path, word]
      // A dot inside a quoted word does not separate a table from a key.
      const name = word.includes(".") ? undefined : KEYS.get(here.join("."))
      if (name !== undefined) this.readKey(name, value, here)
      else if (path.length === 0 && TABLES.has(word)) {
        if (isTable(value)) this.readTable(value, here)
        else this.complain(here, `${word}: expected a table, as in [${word}]`)
      } else this.unknown(here, value)
    }
  }

  private readKey(name: OptionName, value: unknown, path: ReadonlyArray<string>): void {
    const key = path.join(".")
    const option: Option = OPTIONS[name]
    const before = this.source.get(name)
    if (before !== undefined) return this.complain(path, `${key}: is set at ${before.from} too; keep one of the two`)
    const texts = textsOf(option, value)
    if (Either.isLeft(texts)) {
      const found = option.secret ? "" : `, found ${shownValue(value)}`
      return this.complain(path, `${key}: expected ${texts.left}${found}`)
    }
    const from = `${this.file}:${this.lineOf(path)}`
    this.source.set(name, { texts: texts.right, from, label: `${from} ${key}`, inFile: true })
  }

  private unknown(path: ReadonlyArray<string>, value: unknown): void {
    const key = path.map((word) => BARE_WORD.test(word) ? word : quoted(word)).join(".")
    const [word = ""] = path
    if (path.length === 1 && isTable(value)) {
      const meant = nearest(word, TABLES)
      return this.complain(path, `unknown table [${key}]${meant === undefined ? "" : `; did you mean [${meant}]?`}`)
    }
    const option: Option | undefined = path.length === 1 && isOptionName(word) ? OPTIONS[word] : undefined
    if (option !== undefined) {
      return this.complain(
        path,
        option.key === undefined
          ? `${key}: is a flag, not a key of this file`
          : `${key}: unknown key; it belongs into the table, as ${option.key}`
      )
    }
    const core = keyHint(key)
    if (core !== undefined) return this.complain(path, `${key}: unknown key; as a flag: ${core}`)
    const meant = nearest(key, KEYS.keys())
    this.complain(path, `${key}: unknown key${meant === undefined ? "" : `; did you mean ${meant}?`}`)
  }

  private complain(path: ReadonlyArray<string>, what: string): void {
    this.problems.push(`${this.file}:${this.lineOf(path)} ${what}`)
  }
}

/** Only the first line of the parser's message: the others show the file, which may contain a password. */
const tomlReason = (error: TomlError): string =>
  (error.message.split("\n", 1)[0] ?? "").replace(/^Invalid TOML document: /, "")

/** Texts that end, and comments. */
const WHOLE_TEXTS = /"""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#.*/g

/** The value of a line without quotes, or the first item of its list. */
const BARE_VALUE = /^[^=]*=\s*(?:\[\s*(?=[^\s\],]))?(?<bare>[^\s"'[{][^,\]]*|$)/

const WHOLE_NUMBER = /^[+-]?[\d_]+\s*$/

const isToml = (text: string): boolean => Either.isRight(Either.try(() => parse(text)))

const lineOf = (text: string, line: number): string => text.split(/\r?\n/)[line - 1] ?? ""

/** Whether the line begins a text that does not end. The parser may complain about the line break instead. */
const lacksQuote = (text: string, line: number): boolean =>
  /["']/.test(lineOf(text.replace(WHOLE_TEXTS, (whole) => "\n".repeat(whole.split("\n").length - 1)), line))

/** Whether the value of the line has no quotes and needs them, as in the reference node's file: `rpcuser=bob`. */
const needsQuotes = (line: string): boolean => {
  const bare = BARE_VALUE.exec(line)?.groups?.["bare"]
  return bare !== undefined && !WHOLE_NUMBER.test(bare) && !isToml(`value = ${bare}`)
}

const reasonFor = (error: TomlError, text: string): string => {
  if (needsQuotes(lineOf(text, error.line))) {
    return `${tomlReason(error)}; put strings in quotes, as in rpcuser = "NAME"`
  }
  return lacksQuote(text, error.line) ? "the quote at the end of a string is missing" : tomlReason(error)
}

export const fromFile = ({ file, text }: ConfigText): Either.Either<OptionSource, ReadonlyArray<string>> => {
  const document = Either.try({
    try: () => parse(text),
    catch: (error) =>
      error instanceof TomlError
        ? `${shownPath(file)}:${error.line} is not TOML: ${reasonFor(error, text)}`
        : `${shownPath(file)} is not TOML`
  })
  if (Either.isLeft(document)) return Either.left([document.left])
  const reader = new FileReader({ text, file })
  reader.readTable(document.right)
  return reader.problems.length > 0 ? Either.left(reader.problems) : Either.right(reader.source)
}

const MAX_FILE_BYTES = 1024 * 1024

/** Why a file is not read. */
export interface UnreadFile {
  /** Follows the path of the file. */
  readonly why: string
  /** It belongs to another user. */
  readonly isForbidden: boolean
}

const unread = (why: string, isForbidden = false): Either.Either<never, UnreadFile> => Either.left({ why, isForbidden })

/** `undefined` for a missing file, or for a path through a file, which is reported later. */
export const readConfigFile = (file: string): Either.Either<string | undefined, UnreadFile> => {
  try {
    if (statSync(file).size > MAX_FILE_BYTES) return unread(`is larger than ${MAX_FILE_BYTES} bytes`)
    return Either.right(new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)))
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return Either.right(undefined)
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") return unread("is not UTF-8")
    return unread(`cannot be read: ${reasonOf(code)}`, code === "EACCES" || code === "EPERM")
  }
}

export const AS_NODE_USER = "run it as the user of the node (sudo -u USER …), or name another directory with -datadir"

/** With the remedy for a file of another user. */
export const unreadableFile = (file: string, { isForbidden, why }: UnreadFile): string =>
  `${shownPath(file)} ${why}${isForbidden ? `; ${AS_NODE_USER}` : ""}`
