import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { shownPath } from "../base/safeText.ts"
import { type LogFormat, type LogLevelName, type Subsystem, SUBSYSTEMS } from "../config/options.ts"
import * as LogFile from "./logFile.ts"
import { lineOf, type LogEvent, type LogOutput } from "./logText.ts"

/**
 * The daemon's log: one line per entry, on standard output or in a file. Standard error only has reasons why `svcd`
 * cannot run, and problems of the log file.
 *
 * An entry is a fixed message and a record of facts: `Effect.logInfo("registration step changed", { name, step })`. The
 * annotation `subsystem`, set once around a service, names the part of the node that logs.
 */

export interface LogOptions {
  readonly format: LogFormat
  readonly level: LogLevelName
  /** Their debug entries are logged at any `level`. */
  readonly debugSubsystems: ReadonlyArray<Subsystem>
  /** Replaces `debugSubsystems` if they can change while the node runs. */
  readonly switches?: DebugSwitches
}

export class DebugSwitches {
  private readonly on: Map<Subsystem, boolean>

  constructor({ debugSubsystems, level }: Pick<LogOptions, "debugSubsystems" | "level">) {
    this.on = new Map(SUBSYSTEMS.map((name) => [name, level === "debug" || debugSubsystems.includes(name)]))
  }

  state(subsystem: unknown): boolean | undefined {
    return isSubsystem(subsystem) ? this.on.get(subsystem) : undefined
  }

  get all(): ReadonlyMap<string, boolean> {
    return new Map(this.on)
  }

  set(subsystem: string, on: boolean): void {
    if (isSubsystem(subsystem)) this.on.set(subsystem, on)
  }
}

const isSubsystem = (value: unknown): value is Subsystem => SUBSYSTEMS.some((name) => name === value)

const THRESHOLD: Readonly<Record<LogLevelName, LogLevel.LogLevel>> = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warn: LogLevel.Warning,
  error: LogLevel.Error
}

export interface LogStream {
  readonly isTTY?: boolean | undefined
  readonly write: (text: string) => unknown
  readonly on: (event: "error", listener: () => void) => unknown
}

const guarded = new WeakSet<LogStream>()

/**
 * A reader that leaves causes an `error` event (EPIPE) at each write, which would end the process without a listener.
 */
const guard = (stream: LogStream): void => {
  if (guarded.has(stream)) return
  guarded.add(stream)
  stream.on("error", () => {})
}

/** Colours only for terminals, and not if NO_COLOR is set. */
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

const subsystemOf = ({ annotations }: LogEvent): unknown => Option.getOrUndefined(HashMap.get(annotations, "subsystem"))

/** Writes entries of the level and above, and all entries of the debugged subsystems. */
export const make = (options: LogOptions, output: LogOutput): Logger.Logger<unknown, void> => {
  const toLine = lineOf(options.format, output.colours)
  const switches = options.switches ?? new DebugSwitches(options)
  const threshold = THRESHOLD[options.level]
  return Logger.make((event) => {
    const isHigh = LogLevel.greaterThanEqual(event.logLevel, threshold)
    if (LogLevel.greaterThan(event.logLevel, LogLevel.Debug)) {
      if (!isHigh && switches.state(subsystemOf(event)) !== true) return
    } else if (!(switches.state(subsystemOf(event)) ?? isHigh)) return
    output.writeLine(toLine(event))
  })
}

/**
 * Replaces Effect's own logger. Fibers drop entries below the level before any logger, unless a subsystem is debugged
 * or may be later: then the logger decides.
 */
export const layerWith = (options: LogOptions, output: LogOutput): Layer.Layer<never> =>
  Layer.merge(
    Logger.replace(Logger.defaultLogger, make(options, output)),
    Logger.minimumLogLevel(
      options.switches !== undefined || options.debugSubsystems.length > 0 ? LogLevel.Debug : THRESHOLD[options.level]
    )
  )

/** Without a listener, SIGHUP ends a process. */
const onHangup = (listener: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => void process.on("SIGHUP", listener)),
    () => Effect.sync(() => void process.off("SIGHUP", listener))
  )

const complain = (message: string): void => void process.stderr.write(`svcd: ${message}\n`)

/**
 * The daemon's log in a file. SIGHUP reopens it after a rotation; entries until then go to the renamed file, and none
 * is lost. Standard output stays empty.
 */
const fileLayer = (options: LogOptions, path: string): Layer.Layer<never, LogFile.LogFileUnusable> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const file = yield* LogFile.open({ path, complain })
    const logged = layerWith(options, file)
    yield* onHangup(() => {
      const reason = file.reopen()
      const entry = reason === undefined
        ? Effect.logInfo("log file reopened", { file: path })
        : Effect.logError("log file cannot be reopened: the log stays where it was", { file: path, reason })
      if (reason !== undefined) complain(`log file ${shownPath(path)} cannot be reopened: ${reason}`)
      Effect.runFork(Effect.provide(entry, logged))
    })
    return logged
  }))

/**
 * A program's log on standard output, where SIGHUP has no effect. Standard error is guarded, too: Node itself writes
 * warnings there.
 */
export const layer = (options: LogOptions): Layer.Layer<never> =>
  Layer.unwrapScoped(Effect.map(onHangup(() => {}), () => {
    guard(process.stderr)
    return layerWith(options, streamOutput(process.stdout))
  }))

/** Standard output if `file` is `undefined`. */
export const layerTo = (
  file: string | undefined,
  options: LogOptions
): Layer.Layer<never, LogFile.LogFileUnusable> =>
  Layer.suspend(() => {
    guard(process.stderr)
    return file === undefined ? layer(options) : fileLayer(options, file)
  })
