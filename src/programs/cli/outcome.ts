import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { ProgressTerminal } from "../../base/progressBar.ts"
import { escapeUnsafe, quoted } from "../../base/safeText.ts"
import type { SettingsInput } from "../../config/gather.ts"
import { USAGE_EXIT_CODE, UsageError } from "../../config/UsageError.ts"
import type { ProgramOutcome } from "../tool/outcome.ts"
import type { Prompt } from "../tool/prompt.ts"
import { looksSecret } from "../tool/secrets.ts"

/** The input of svcd-cli, and its outcome. */

export const NAME = "svcd-cli"

/** What went wrong, for a program. */
export interface Problem {
  /** The code of the daemon's error, which is negative, or else the exit status. */
  readonly code: number
  readonly message: string
  readonly remedy?: string | undefined
}

export interface CliOutcome extends ProgramOutcome {
  /** What `stderr` says of a failure. */
  readonly problem?: Problem
}

export interface Screen {
  readonly terminal: boolean
  /** Columns of the terminal; `undefined` for a file or a pipe: then nothing is cut. */
  readonly columns: number | undefined
  readonly colours: boolean
}

/** Standard output of a command that goes on until the user ends it. */
export interface LiveOutput {
  /** Waits for a reader that is slow. */
  readonly write: (text: string) => Effect.Effect<void>
  /** Ends when the user wants no more: SIGINT, SIGTERM, or a pipe that is closed. */
  readonly stopped: Effect.Effect<void>
}

export interface CliInput extends SettingsInput {
  readonly version: string
  readonly screen: Screen
  /** The terminal behind standard error, for a progress bar; `undefined` for a file or a pipe. */
  readonly progress: ProgressTerminal | undefined
  /** Writes a line to standard error at once, while a command goes on. */
  readonly note: (line: string) => void
  /** The whole text of standard input, for `-stdin` and `-stdinrpcpass`, and for values; fails if it is not UTF-8. */
  readonly readStdin: Effect.Effect<string, CommandFailed>
  readonly prompt: Prompt
  readonly output: LiveOutput
}

export const success = (stdout: string): CliOutcome => ({ code: 0, stdout, stderr: "" })

/** A failure with what is printed for it. */
export const toldFailure = (
  { exit, problem, text }: { readonly exit: number; readonly problem: Problem; readonly text: string }
): CliOutcome => ({ code: exit, stdout: "", stderr: `${text}\n`, problem })

/** A failure: what went wrong, and what to do about it. */
export const failure = (exit: number, { message, remedy }: Omit<Problem, "code">): CliOutcome =>
  toldFailure({
    exit,
    text: `error: ${message}${remedy === undefined ? "" : `\n${remedy}`}`,
    problem: { code: exit, message, remedy }
  })

export const usageOutcome = (problems: ReadonlyArray<string>): CliOutcome =>
  toldFailure({
    exit: USAGE_EXIT_CODE,
    text: new UsageError({ problems }).report(NAME).join("\n"),
    problem: { code: USAGE_EXIT_CODE, message: problems.join("\n") }
  })

/** The same with each text of an error as `hide` returns it. */
export const hiddenIn = ({ problem, stderr, ...rest }: CliOutcome, hide: (text: string) => string): CliOutcome => ({
  ...rest,
  stderr: hide(stderr),
  ...problem === undefined ? {} : {
    problem: {
      ...problem,
      message: hide(problem.message),
      remedy: problem.remedy === undefined ? undefined : hide(problem.remedy)
    }
  }
})

/**
 * What is printed. With `-json`, a failure is an object on standard error: what comes from standard output is always an
 * answer. Characters that could move the cursor or turn the direction are escapes in it: standard error is most often a terminal.
 */
export const printed = ({ code, problem, stderr, stdout }: CliOutcome, json: boolean): ProgramOutcome => ({
  code,
  stdout,
  stderr: json && problem !== undefined ? `${escapeUnsafe(JSON.stringify({ error: problem }))}\n` : stderr
})

/** A private key in hexadecimal digits. A txid looks the same, so that it counts only where no txid can be meant. */
const HEX_KEY = /(?<![\da-f])[\da-f]{64}(?![\da-f])/i

/**
 * An argument as errors repeat it: in quotes, but nothing of what may be a private key, a descriptor or recovery words. Not for
 * arguments that may be a txid.
 */
export const quotedArgument = (text: string): string =>
  looksSecret(text) || HEX_KEY.test(text) ? "(not shown: it may be a private key)" : quoted(text)

/** A command cannot do what it was told: why, and the remedy. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly message: string
  readonly remedy?: string | undefined
}> {}

/** The properties of a process's standard output. */
export const screenOf = (
  stream: { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined },
  env: Readonly<Record<string, string | undefined>>
): Screen => {
  if (stream.isTTY !== true) return { terminal: false, columns: undefined, colours: false }
  const noColour = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== ""
  const { columns } = stream
  return {
    terminal: true,
    columns: columns === 0 ? undefined : columns,
    colours: !noColour && env["TERM"] !== "dumb"
  }
}
