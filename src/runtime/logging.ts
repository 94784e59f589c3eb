import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type { LogFormat, LogLevelName, Subsystem } from "../config/options.ts"
import { lineOf, type LogEvent } from "./logText.ts"

/**
 * The daemon's log: one line an entry, on standard output. `svcd` says on standard error only why it will not run,
 * so that a refusal stands alone there.
 *
 * An entry is a fixed message and a record of facts: `Effect.logInfo("peer connected", { inbound: false })`. The
 * annotation `subsystem`, set once around a service, says which part of the node speaks.
 */

export interface LogOptions {
  readonly format: LogFormat
  readonly level: LogLevelName
  /** Parts whose debug entries are logged whatever `level` is. */
  readonly debugSubsystems: ReadonlyArray<Subsystem>
}

/** Where lines go. */
export interface LogOutput {
  /** Takes one line, without its end. Does not throw. */
  readonly writeLine: (line: string) => void
  /** Whether a person reads it on a terminal that can show colours. */
  readonly colours: boolean
}

const THRESHOLD: Readonly<Record<LogLevelName, LogLevel.LogLevel>> = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warn: LogLevel.Warning,
  error: LogLevel.Error
}

/** What a log needs of a stream; `process.stdout` is one. */
export interface LogStream {
  readonly isTTY?: boolean | undefined
  readonly write: (text: string) => unknown
  readonly on: (event: "error", listener: () => void) => unknown
}

const guarded = new WeakSet<LogStream>()

/**
 * Keeps the process alive when the reader of a standard stream goes away: the stream then emits `error` (EPIPE) at
 * every write, and an error event that nobody listens to ends the process.
 */
const guard = (stream: LogStream): void => {
  if (guarded.has(stream)) return
  guarded.add(stream)
  // There is nowhere to report it: the log itself is what cannot be written.
  stream.on("error", () => {})
}

/** A stream of this process as the place where lines go. Colours are for terminals, and not where NO_COLOR is set. */
export const streamOutput = (
  stream: LogStream,
  env: Readonly<Record<string, string | undefined>> = process.env
): LogOutput => {
  const noColour = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== ""
  guard(stream)
  return {
    colours: stream.isTTY === true && !noColour && env["TERM"] !== "dumb",
    writeLine: (line) => void stream.write(`${line}\n`)
  }
}

const isAbout = (event: LogEvent, subsystems: ReadonlySet<unknown>): boolean => {
  const subsystem = HashMap.get(event.annotations, "subsystem")
  return Option.isSome(subsystem) && subsystems.has(subsystem.value)
}

/** A logger that writes the entries of the level and above, and everything of the subsystems that are debugged. */
export const make = (options: LogOptions, output: LogOutput): Logger.Logger<unknown, void> => {
  const toLine = lineOf(options.format, output.colours)
  const debugged: ReadonlySet<unknown> = new Set(options.debugSubsystems)
  const threshold = THRESHOLD[options.level]
  return Logger.make((event) => {
    if (LogLevel.lessThan(event.logLevel, threshold) && !isAbout(event, debugged)) return
    output.writeLine(toLine(event))
  })
}

/**
 * Replaces Effect's own logger. The fibers drop what is below the level before any logger sees it, unless a
 * subsystem is debugged: then the logger decides.
 */
export const layerWith = (options: LogOptions, output: LogOutput): Layer.Layer<never> =>
  Layer.merge(
    Logger.replace(Logger.defaultLogger, make(options, output)),
    Logger.minimumLogLevel(options.debugSubsystems.length > 0 ? LogLevel.Debug : THRESHOLD[options.level])
  )

/** The daemon's log on standard output. Standard error is guarded as well: Node itself writes warnings there. */
export const layer = (options: LogOptions): Layer.Layer<never> =>
  Layer.suspend(() => {
    guard(process.stderr)
    return layerWith(options, streamOutput(process.stdout))
  })
