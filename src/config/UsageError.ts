import * as Data from "effect/Data"

export const USAGE_EXIT_CODE = 2

const MAX_PROBLEMS = 5

/** An error in the flags, the environment or the configuration file. The program exits with `USAGE_EXIT_CODE`. */
export class UsageError extends Data.TaggedError("UsageError")<{
  /** One line each, beginning with the flag, the variable, or the file, line and key. Never empty. */
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return this.problems.join("\n")
  }

  /** At most six lines for standard error, each prefixed with the program's name. */
  report(program: string): ReadonlyArray<string> {
    const shown = this.problems.slice(0, MAX_PROBLEMS)
    const more = this.problems.length - shown.length
    return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].map((line) => `${program}: ${line}`)
  }
}
