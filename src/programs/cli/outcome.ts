import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { ProgressTerminal } from "../../base/progressBar.ts"
import type { SettingsInput } from "../../config/settings.ts"
import { USAGE_EXIT_CODE, UsageError } from "../../config/UsageError.ts"
import type { ProgramOutcome } from "../tool/outcome.ts"
import type { Prompt } from "../tool/prompt.ts"

/** The input of svcd-cli, and its outcome. */

export const NAME = "svcd-cli"

export type CliOutcome = ProgramOutcome

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

export const failure = (code: number, text: string): CliOutcome => ({ code, stdout: "", stderr: `${text}\n` })

export const usageOutcome = (problems: ReadonlyArray<string>): CliOutcome =>
  failure(USAGE_EXIT_CODE, new UsageError({ problems }).report(NAME).join("\n"))

/** A command cannot do what it was told: why, and the remedy. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly message: string }> {}

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
