import { USAGE_EXIT_CODE, type UsageError } from "../../config/UsageError.ts"
import { hideSecrets } from "./hideSecrets.ts"

export interface ProgramOutcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const lines = (texts: ReadonlyArray<string>): string => texts.map((text) => `${text}\n`).join("")

export const usageOutcomeOf = (program: string, error: UsageError): ProgramOutcome => ({
  code: USAGE_EXIT_CODE,
  stdout: "",
  stderr: lines(error.report(program))
})

/** Not for mistakes in arguments or configuration. */
export const failureOutcomeOf = (program: string, { message }: { readonly message: string }): ProgramOutcome => ({
  code: 1,
  stdout: "",
  stderr: lines(message.split("\n").map((line) => `${program}: ${line}`))
})

export const withoutSecrets = ({ stderr, ...rest }: ProgramOutcome, argv: ReadonlyArray<string>): ProgramOutcome => ({
  ...rest,
  stderr: hideSecrets(stderr, argv)
})
