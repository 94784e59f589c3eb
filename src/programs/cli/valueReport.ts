import * as Effect from "effect/Effect"
import { MAX_SPENDABLE_VALUE } from "../../consensus/names.ts"
import type { Json } from "../../rpc/json/json.ts"
import { type Finding, findingText, lint, lintRecord, type ProgramView } from "../../values/lint.ts"
import type { CliCommandLine } from "./flags.ts"
import { objectOf } from "./jsonText.ts"
import { CommandFailed, type Screen } from "./outcome.ts"
import { painted } from "./table.ts"
import { shownText } from "./textWidth.ts"

export interface ValueReport {
  readonly bytes: number
  readonly findings: ReadonlyArray<Finding>
  readonly programs: ReadonlyArray<ProgramView>
}

export const valueReport = (name: string, value: Uint8Array | string): ValueReport => lint(name, value)

export const recordReport = (
  record: { readonly name: string; readonly value: Uint8Array },
  state: { readonly expired: boolean }
): ValueReport => lintRecord(record, state)

export const isError = ({ severity }: Finding): boolean => severity === "error"

const findingLine = (finding: Finding, screen: Screen): string =>
  `${painted(finding.severity, isError(finding) ? "red" : "yellow", screen)}: ${shownText(findingText(finding))}`

export const findingLines = ({ findings }: ValueReport, screen: Screen): ReadonlyArray<string> =>
  findings.map((finding) => findingLine(finding, screen))

export const programLines = ({ programs }: ValueReport, screen: Screen): ReadonlyArray<string> =>
  programs.flatMap(({ program, sees }) =>
    sees.length === 0 ? [] : [painted(program, "bold", screen), ...sees.map((each) => `  ${shownText(each)}`)]
  )

/** In full: a part would mislead. */
export const valueLine = (value: string): string => `  ${value === "" ? "(empty)" : shownText(value)}`

export const valueLines = (value: string, report: ValueReport, screen: Screen): ReadonlyArray<string> => [
  valueLine(value),
  ...programLines(report, screen),
  ...findingLines(report, screen)
]

export interface GivenValue {
  readonly value: string
  readonly report: ValueReport
  readonly line: CliCommandLine
}

/** Fails for a possible secret, and for an error that no question would show. `-force` overrides both. */
export const acceptable = ({ line, report, value }: GivenValue): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function*() {
    if (line.wants("force")) return
    // Loads the list of seed words, which the page of a name does not need.
    const { holdsSecret } = yield* Effect.promise(() => import("./valueSecret.ts"))
    if (holdsSecret(value)) {
      return yield* new CommandFailed({
        message: "the value seems to contain a seed phrase or a private key, and values are public. Nothing was done",
        remedy: "remove it; if it is neither, -force sends the value as it is"
      })
    }
    const error = report.findings.find(isError)
    if (error === undefined || !line.wants("yes")) return
    return yield* new CommandFailed({
      message: `the value has an error: ${findingText(error)}. Nothing was done; -force sends it anyway`
    })
  })

export const roomText = ({ bytes }: ValueReport): string => `${bytes} of ${MAX_SPENDABLE_VALUE} bytes`

const findingJson = ({ code, column, line, message, path }: Finding): Json =>
  objectOf({ code, path, line, column, message })

export const reportJson = ({ bytes, findings, programs }: ValueReport) => ({
  bytes,
  errors: findings.filter(isError).map(findingJson),
  warnings: findings.filter((finding) => !isError(finding)).map(findingJson),
  programs: programs.map(({ program, sees }) => objectOf({ program, sees }))
})
