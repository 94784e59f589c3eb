import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { escapeLines, shellWord } from "../../base/safeText.ts"
import type { OptionTable } from "../../config/optionRow.ts"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { encodeText } from "../../protocol/nameText.ts"
import { DEEDS, deedText } from "../../protocol/operationWord.ts"
import type { DocumentRefused } from "../../rpc/DocumentLines.ts"
import { eventFeed, type FeedLine } from "../../rpc/eventFeed.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { COMMAND_ROWS } from "./commandTable.ts"
import { type Daemon, isAway } from "./daemon.ts"
import { CLI_FLAGS, type CliCommandLine } from "./flags.ts"
import { type CliOutcome, failure, type LiveOutput, NAME, type Screen } from "./outcome.ts"
import { shownBytes } from "./ownNames.ts"
import { type Colour, painted } from "./table.ts"
import { cutTo, shownText } from "./textWidth.ts"

export interface WatchOptions {
  readonly prefix: string | undefined
  /** Begins after this cursor; by default with the next block. */
  readonly from: string | undefined
  readonly types: string | undefined
  readonly json: boolean
  /** The last message repeats it as the command to continue with. */
  readonly line: Pick<CliCommandLine, "given" | "words">
}

export interface WatchSurroundings {
  readonly daemon: Daemon
  readonly screen: Screen
  readonly output: LiveOutput
}

type WatchFailure = DocumentRefused | RpcClientError

/** HTTP statuses of a daemon that is starting, stopping or too busy. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

const mayPass = (failed: WatchFailure): boolean =>
  failed._tag === "DocumentRefused" ? PASSING.has(failed.status) : isAway(failed)

/** From hex; empty for anything else. */
const shown = (hex: unknown): string => {
  const bytes = typeof hex === "string" ? fromHex(hex) : undefined
  return bytes === undefined ? "" : shownBytes({ text: encodeText(bytes, "utf8"), hex: toHex(bytes) })
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined

const COLOURS: Readonly<Record<string, Colour>> = {
  pending_dropped: "dim",
  registered: "green",
  expired: "dim",
  expiring: "yellow",
  undone: "red"
}

/** Nesting depth of an event: names, each with a record. */
const EVENT_DEPTH = 4

const readable = (value: unknown, depth = EVENT_DEPTH): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return value.map((each: unknown) => readable(each, depth - 1))
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]: [string, unknown]): ReadonlyArray<[string, unknown]> => {
      if (name === "name_encoding" || name === "value_encoding") return []
      const isBytes = (name === "name" || name === "value") && typeof member === "string"
      const bytes = isBytes ? fromHex(member) : undefined
      if (bytes === undefined) return [[name, readable(member, depth - 1)]]
      return [[name, encodeText(bytes, "utf8") ?? null], [`${name}_hex`, toHex(bytes)]]
    })
  )
}

/** Omitted from the command to continue with: it starts elsewhere, and a password must not appear on a screen. */
const LEFT_OUT: ReadonlySet<string> = new Set(["from", "rpcuser", "rpcpassword"])

export const goOnLine = ({ given, words }: WatchOptions["line"], cursor: string): string => {
  const options: OptionTable = { ...CLI_FLAGS, ...COMMAND_ROWS.watch.options }
  const flags = [...given].filter(([name]) => !LEFT_OUT.has(name)).flatMap(([name, texts]) =>
    texts.slice(-1).map((text) => options[name]?.toml === "boolean" && text === "1" ? `-${name}` : `-${name}=${text}`)
  )
  return shownText([NAME, "watch", ...words, ...flags, "-from", cursor].map(shellWord).join(" "))
}

/** What an operation did, in the words that all commands and pages use. */
const wordFor = (kind: unknown): string => {
  if (typeof kind !== "string") return ""
  const deed = DEEDS.find((each) => each === kind)
  return deed === undefined ? shownText(kind) : deedText(deed)
}

/** The new owner of a transferred name. */
const ownerNote = (kind: unknown, record: unknown): string => {
  const address = memberOf(record, "address")
  return kind === "transferred" && typeof address === "string" ? `(to ${shownText(address)}) ` : ""
}

const IN_MEMPOOL = "mempool"

export const changeLines = ({ event }: Pick<FeedLine, "event">, screen: Screen): ReadonlyArray<string> => {
  const { blocks, height, names, operation, reason, type } = event
  const kind = wordFor(type)
  const line = (name: unknown, record: unknown): string => {
    const value = record === null ? "(not registered)" : shown(memberOf(record, "value"))
    const place = typeof height === "number" ? String(height) : IN_MEMPOOL
    const said = [place, kind.padEnd(13), shownText(shown(name))].join("  ")
    const left = typeof blocks === "number" ? `(${blocks} blocks left) ` : ""
    const will = typeof operation === "string" ? `(${wordFor(operation)}) ` : ""
    const why = typeof reason === "string" ? `(${shownText(reason)}) ` : ""
    const text = `${said}  ${left}${why || will}${ownerNote(operation ?? type, record)}${shownText(value)}`.trimEnd()
    return `${
      painted(
        screen.columns === undefined ? text : cutTo(text, screen.columns),
        COLOURS[typeof type === "string" ? type : ""],
        screen
      )
    }\n`
  }
  if (type === "position" || type === "pending_reset") return []
  if (type === "block") {
    return [`${shownText(String(height))}  ${type.padEnd(13)}  ${shownText(String(event["hash"]))}\n`]
  }
  if (type === "synced") return [`${shownText(String(height))}  ${type}\n`]
  // A pending operation has its members beside the type.
  if (typeof operation === "string") return [line(event["name"], event)]
  return Array.isArray(names)
    ? names.map((each: unknown) => line(memberOf(each, "name"), memberOf(each, "record")))
    : [line(event["name"], event["record"])]
}

const refusal = (body: string): string => {
  try {
    const said: unknown = memberOf(JSON.parse(body), "error")
    return typeof said === "string" ? shownText(said) : ""
  } catch {
    return ""
  }
}

const meaningOf = (failed: WatchFailure): CliOutcome | undefined => {
  if (failed._tag !== "DocumentRefused") return undefined
  if (failed.status === 404) {
    return failure(1, { message: "the daemon has no events: it is not svcd, or it is an older version" })
  }
  return failure(1, { message: refusal(failed.body) || failed.message })
}

export const watchCommand = (
  { daemon, output, screen }: WatchSurroundings,
  { from, json, line: given, prefix, types }: WatchOptions
): Effect.Effect<CliOutcome, WatchFailure> => {
  const query = new URLSearchParams({ nameEncoding: "hex", valueEncoding: "hex" })
  const bytes = prefix === undefined ? undefined : new TextEncoder().encode(prefix)
  if (bytes !== undefined && bytes.length > 0) query.set("prefix", toHex(bytes))
  if (types !== undefined) query.set("types", types)
  let last = from
  const feed = eventFeed({
    from,
    mayPass,
    open: (cursor) => {
      const asked = new URLSearchParams(query)
      if (cursor !== undefined) asked.set("from", cursor)
      return daemon.lines(`/events?${asked}`)
    }
  })
  const text = (line: FeedLine): string => {
    if (json) {
      const said = line.event["type"] === "position" ? "" : `${JSON.stringify(readable(line.event))}\n`
      return escapeLines(said)
    }
    return changeLines(line, screen).join("")
  }
  const printing = Stream.runForEachChunk(
    feed,
    (lines) =>
      Effect.map(output.write([...lines].map(text).join("")), () => {
        last = [...lines].findLast(({ cursor }) => cursor !== undefined)?.cursor ?? last
      })
  )
  return Effect.raceFirst(printing, output.stopped).pipe(
    Effect.map((): CliOutcome => ({
      code: 0,
      stdout: "",
      stderr: last === undefined ? "" : `${NAME}: continue with: ${goOnLine(given, last)}\n`
    })),
    Effect.catchAll((failed) => {
      const meaning = meaningOf(failed)
      return meaning === undefined ? Effect.fail(failed) : Effect.succeed(meaning)
    })
  )
}
