import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import { CLI } from "../../base/ownerCommands.ts"
import type { ProgressTerminal } from "../../base/progressBar.ts"
import { escapeUnsafe, quoted } from "../../base/safeText.ts"
import type { SettingsInput } from "../../config/gather.ts"
import { USAGE_EXIT_CODE, UsageError } from "../../config/UsageError.ts"
import type { ProgramOutcome } from "../tool/outcome.ts"
import type { Prompt } from "../tool/prompt.ts"
import { looksSecret } from "../tool/secrets.ts"

export const NAME = CLI

/** For texts that svcd-cli shares with the daemon and the pages. */
export const ofWallet = (text: string, { cli }: { readonly cli: string }): string =>
  text.replaceAll(`"${NAME} `, `"${cli} `)

export interface Problem {
  /** The daemon's error code, which is negative, or the exit status. */
  readonly code: number
  readonly message: string
  readonly remedy?: string | undefined
}

export interface CliOutcome extends ProgramOutcome {
  readonly problem?: Problem
}

export interface Screen {
  readonly terminal: boolean
  /** Width of the terminal; `undefined` for a file or a pipe, where nothing is cut. */
  readonly columns: number | undefined
  readonly colours: boolean
}

export interface LiveOutput {
  /** Waits for a slow reader. */
  readonly write: (text: string) => Effect.Effect<void>
  /** On SIGINT, SIGTERM, or a closed pipe. */
  readonly stopped: Effect.Effect<void>
}

export interface CliInput extends SettingsInput {
  readonly version: string
  readonly screen: Screen
  /** `undefined` for a file or a pipe. */
  readonly progress: ProgressTerminal | undefined
  readonly note: (line: string) => void
  /** All of standard input, for `-stdin`, `-stdinrpcpass` and values; fails if it is not UTF-8. */
  readonly readStdin: Effect.Effect<string, CommandFailed>
  readonly prompt: Prompt
  /** Passphrases from `-stdin`, for a command that signs. */
  readonly passphrases?: ReadonlyArray<string> | undefined
  readonly output: LiveOutput
}

export const success = (stdout: string): CliOutcome => ({ code: 0, stdout, stderr: "" })

export const toldFailure = (
  { exit, problem, text }: { readonly exit: number; readonly problem: Problem; readonly text: string }
): CliOutcome => ({ code: exit, stdout: "", stderr: `${text}\n`, problem })

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

/** With `-json`, a failure goes to standard error, with control and bidirectional characters escaped. */
export const printed = ({ code, problem, stderr, stdout }: CliOutcome, json: boolean): ProgramOutcome => ({
  code,
  stdout,
  stderr: json && problem !== undefined ? `${escapeUnsafe(JSON.stringify({ error: problem }))}\n` : stderr
})

/** A txid looks the same, so this applies only where no txid can be meant. */
const HEX_KEY = /(?<![\da-f])[\da-f]{64}(?![\da-f])/i

/** Quoted, but hides possible private keys, descriptors and seed words. Not for arguments that may be a txid. */
export const quotedArgument = (text: string): string =>
  looksSecret(text) || HEX_KEY.test(text) ? "(not shown: it may be a private key)" : quoted(text)

export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly message: string
  readonly remedy?: string | undefined
}> {}

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
