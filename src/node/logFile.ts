import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { closeSync, constants, openSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { codeOf, type ErrorWords, reasonOf } from "../base/errorCode.ts"
import { makeDirectory } from "../base/makeDirectory.ts"
import { shownPath } from "../base/safeText.ts"
import type { LogOutput } from "./logText.ts"

/**
 * The log file. Each line is written immediately, so a crash loses no entry. If the file cannot be written, the node
 * continues and counts the lost lines.
 */

export class LogFileUnusable extends Schema.TaggedError<LogFileUnusable>()("LogFileUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `log file ${shownPath(this.path)}: ${this.reason}; check -logfile`
  }
}

const WORDS: ErrorWords = new Map([
  ["EEXIST", "a part of the path is not a directory"],
  ["ENOENT", "its directory cannot be created"],
  ["ENXIO", "no process reads from the pipe"]
])

const wordsFor = (error: unknown): string => reasonOf(codeOf(error), WORDS)

const FILE_MODE = 0o600

/** Without waiting for the reader of a pipe, and without acquiring a controlling terminal. */
const FLAGS = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** Creates missing directories. Throws as `node:fs` does. */
const openToAppend = (path: string): number => {
  makeDirectory(dirname(path))
  return openSync(path, FLAGS, FILE_MODE)
}

const END_OF_LINE = 0x0a

export interface LogFileOptions {
  readonly path: string
  /** Tells the operator by other means that the file cannot be written. Must not throw. */
  readonly complain: (message: string) => void
  readonly write?: (file: number, bytes: Uint8Array) => number
}

export class LogFile implements LogOutput {
  readonly colours = false
  readonly path: string
  private file: number
  private readonly complain: (message: string) => void
  private readonly write: (file: number, bytes: Uint8Array) => number
  private lost = 0
  /** Whether the last line is incomplete, because the disk was full. */
  private torn = false
  private closed = false

  /** Throws as `node:fs` does. */
  constructor({ complain, path, write = writeSync }: LogFileOptions) {
    this.path = path
    this.complain = complain
    this.write = write
    this.file = openToAppend(path)
  }

  readonly writeLine = (line: string): void => {
    if (this.closed) return
    try {
      this.append(Buffer.from(`${this.torn ? "\n" : ""}${line}\n`))
    } catch (error) {
      this.lost += 1
      if (this.lost === 1) {
        this.complain(`log file ${shownPath(this.path)} cannot be written: ${wordsFor(error)}; the node continues`)
      }
      return
    }
    if (this.lost > 0) this.tellLoss()
  }

  private append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const taken = this.write(this.file, bytes.subarray(at))
      if (taken === 0) throw new Error("no bytes were written")
      at += taken
      this.torn = bytes[at - 1] !== END_OF_LINE
    }
  }

  private tellLoss(): void {
    const lost = this.lost
    this.lost = 0
    this.complain(`log file ${shownPath(this.path)} can be written again; lines lost: ${lost}`)
  }

  /**
   * Reopens the path, for log rotation. If that fails, returns the error and keeps writing to the old file.
   */
  reopen(): string | undefined {
    try {
      const next = openToAppend(this.path)
      closeSync(this.file)
      this.file = next
      this.torn = false
      return undefined
    } catch (error) {
      return wordsFor(error)
    }
  }

  /** Drops later lines: the file descriptor may belong to another file by then. */
  close(): void {
    this.closed = true
    closeSync(this.file)
  }
}

export const open = (options: LogFileOptions): Effect.Effect<LogFile, LogFileUnusable, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => new LogFile(options),
      catch: (error) => new LogFileUnusable({ path: options.path, reason: wordsFor(error) })
    }),
    (file) => Effect.sync(() => file.close())
  )
