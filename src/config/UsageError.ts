import * as Data from "effect/Data"

/** Exit status of a program that was called or configured wrongly. */
export const USAGE_EXIT_CODE = 2

const MAX_PROBLEMS = 5

/** A mistake in the flags, the environment or the configuration file. Ends a program with `USAGE_EXIT_CODE`. */
export class UsageError extends Data.TaggedError("UsageError")<{
  /** One line each, beginning with the flag, variable, or file, line and key it is about. Never empty. */
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return this.problems.join("\n")
  }

  /** Returns the lines to print on standard error: at most six, each behind the program's name. */
  report(program: string): ReadonlyArray<string> {
    const shown = this.problems.slice(0, MAX_PROBLEMS)
    const more = this.problems.length - shown.length
    return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].map((line) => `${program}: ${line}`)
  }
}
