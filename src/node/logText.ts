import * as Cause from "effect/Cause"
import * as HashMap from "effect/HashMap"
import * as List from "effect/List"
import type * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import { escapeUnsafe } from "../base/safeText.ts"
import type { LogFormat, LogLevelName } from "../config/options.ts"
import { toHex } from "../protocol/bytes.ts"

/** One line per entry: texts from peers and clients are escaped and cut, so that they cannot end or restyle it. */

export const LEVEL: Readonly<Record<LogLevel.LogLevel["_tag"], LogLevelName>> = {
  All: "debug",
  Trace: "debug",
  Debug: "debug",
  Info: "info",
  Warning: "warn",
  Error: "error",
  Fatal: "error",
  None: "error"
}

export type LogEvent = Pick<
  Logger.Logger.Options<unknown>,
  "annotations" | "cause" | "date" | "logLevel" | "message" | "spans"
>

export interface LogOutput {
  /** Takes one line, without its end. Does not throw. */
  readonly writeLine: (line: string) => void
  readonly colours: boolean
}

const MAX_TEXT = 4_096
const MAX_CAUSE = 16_384
const MAX_BYTES = 1_024
const MAX_LIST = 100
const MAX_DEPTH = 4

const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} more)`

type Plain = string | number | boolean | null | ReadonlyArray<Plain> | { readonly [key: string]: Plain }

const hexText = (bytes: Uint8Array): string =>
  bytes.length <= MAX_BYTES ? toHex(bytes) : `${toHex(bytes.subarray(0, MAX_BYTES))}… (${bytes.length} bytes)`

const objectText = (value: object, depth: number): Plain => {
  if (depth >= MAX_DEPTH) return "…"
  if (Array.isArray(value)) return value.slice(0, MAX_LIST).map((item) => plain(item, depth + 1))
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), depth + 1)
  const entries = Object.entries(value).slice(0, MAX_LIST).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item, depth + 1)]))
}

/** Any value as JSON: bounded in size and depth, secrets hidden, bytes as hex. */
const plain = (value: unknown, depth = 0): Plain => {
  if (typeof value === "string") return cut(value, MAX_TEXT)
  if (typeof value === "boolean" || value === null) return value
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (typeof value === "function") return "a function"
  if (typeof value !== "object") return String(value)
  if (Redacted.isRedacted(value)) return "<redacted>"
  if (value instanceof Uint8Array) return hexText(value)
  if (value instanceof Error) return cut(value.message === "" ? value.name : value.message, MAX_TEXT)
  return objectText(value, depth)
}

interface Entry {
  readonly msg: string
  readonly facts: ReadonlyArray<readonly [string, Plain]>
}

const factsOf = (part: unknown): ReadonlyArray<readonly [string, Plain]> => {
  const value = plain(part)
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value)
  return [[part instanceof Error ? "error" : "detail", value]]
}

const causeText = (cause: Cause.Cause<unknown>): string =>
  Cause.isInterruptedOnly(cause) ? "interrupted" : cut(Cause.pretty(cause), MAX_CAUSE)

/** The message, and the facts from annotations, spans, further arguments and cause. */
const entryOf = ({ annotations, cause, date, message, spans }: LogEvent): Entry => {
  const [first, ...parts] = Array.isArray(message) ? message : [message]
  const msg = first === undefined ? causeText(cause).split("\n", 1)[0] ?? "" : plain(first)
  return {
    msg: typeof msg === "string" ? msg : JSON.stringify(msg),
    facts: [
      ...Array.from(HashMap.entries(annotations), ([key, value]) => [key, plain(value)] as const),
      ...parts.flatMap(factsOf),
      ...Array.from(
        List.toArray(spans),
        ({ label, startTime }) => [`${label}_ms`, date.getTime() - startTime] as const
      ),
      ...(Cause.isEmpty(cause) ? [] : [["cause", causeText(cause)] as const])
    ]
  }
}

/** In every JSON entry. A fact with such a name gets another one. */
const RESERVED: ReadonlySet<string> = new Set(["time", "level", "msg"])

/** One JSON object. Operators filter on `level` and `msg`; everything else is context. */
export const jsonLine = (event: LogEvent): string => {
  const { facts, msg } = entryOf(event)
  return escapeUnsafe(JSON.stringify({
    time: event.date.toISOString(),
    level: LEVEL[event.logLevel._tag],
    msg,
    ...Object.fromEntries(facts.map(([key, value]) => [RESERVED.has(key) ? `${key}_` : key, value]))
  }))
}

const BARE = /^[\w.:/@+[\]-]+$/

const shown = (value: Plain): string =>
  typeof value === "string" && BARE.test(value) ? value : escapeUnsafe(JSON.stringify(value))

const COLOUR: Readonly<Record<LogLevelName, number>> = { debug: 90, info: 32, warn: 33, error: 31 }

export const textLine = (event: LogEvent, colours: boolean): string => {
  const { facts, msg } = entryOf(event)
  const level = LEVEL[event.logLevel._tag]
  const subsystem = facts.find(([key]) => key === "subsystem")?.[1]
  const words = [
    event.date.toISOString(),
    colours ? `\u001b[${COLOUR[level]}m${level.padEnd(5)}\u001b[0m` : level.padEnd(5),
    ...(subsystem === undefined
      ? []
      : [`[${typeof subsystem === "string" ? escapeUnsafe(subsystem) : shown(subsystem)}]`]),
    escapeUnsafe(msg),
    ...facts.filter(([key]) => key !== "subsystem").map(([key, value]) => `${escapeUnsafe(key)}=${shown(value)}`)
  ]
  return words.join(" ")
}

export const lineOf = (format: LogFormat, colours: boolean): (event: LogEvent) => string =>
  format === "json" ? jsonLine : (event) => textLine(event, colours)
