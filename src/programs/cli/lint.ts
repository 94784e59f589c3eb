import { quantityOf } from "../../base/quantities.ts"
import { decodeText, type NameEncoding } from "../../protocol/nameText.ts"
import { type Json, JsonObject } from "../../rpc/json/json.ts"
import { lintWarnings } from "../../values/lint.ts"
import { at, indented, objectOf, textAt } from "./jsonText.ts"
import { type CliOutcome, NAME, type Screen } from "./outcome.ts"
import { shownText } from "./textWidth.ts"
import { findingLines, isError, programLines, reportJson, valueReport } from "./valueReport.ts"

export interface LintInput {
  readonly name: string
  readonly value: string
  readonly json: boolean
}

export const lintCommand = ({ json, name, value }: LintInput, screen: Screen): CliOutcome => {
  const report = valueReport(name, value)
  const errors = report.findings.filter(isError).length
  const code = errors > 0 ? 1 : 0
  if (json) return { code, stdout: `${indented(objectOf(reportJson(report)))}\n`, stderr: "" }
  const lines = [
    ...findingLines(report, screen),
    ...programLines(report, screen),
    `${quantityOf(report.bytes, "byte")}, ${quantityOf(errors, "error")}, ` +
    quantityOf(report.findings.length - errors, "warning")
  ]
  return { code, stdout: `${lines.join("\n")}\n`, stderr: "" }
}

/** Positions of parameters, for methods that set a value and cannot answer with warnings. */
const POSITIONS: Readonly<Record<string, Readonly<Record<"name" | "value" | "options", number>>>> = {
  name_update: { name: 0, value: 1, options: 2 },
  name_firstupdate: { name: 0, value: 3, options: 4 }
}

const encodingIn = (options: Json | undefined, member: string): NameEncoding =>
  options !== undefined && textAt(options, member) === "hex" ? "hex" : "utf8"

export const warningsOfCall = (method: string, params: ReadonlyArray<Json> | JsonObject): string => {
  const positions = POSITIONS[method]
  if (positions === undefined) return ""
  const given = (key: "name" | "value" | "options"): Json | undefined =>
    params instanceof JsonObject ? at(params, key) : params[positions[key]]
  const [name, value, options] = [given("name"), given("value"), given("options")]
  if (typeof name !== "string" || typeof value !== "string") return ""
  const [nameBytes, valueBytes] = [
    decodeText(name, encodingIn(options, "nameEncoding")),
    decodeText(value, encodingIn(options, "valueEncoding"))
  ]
  if (nameBytes === undefined || valueBytes === undefined) return ""
  return lintWarnings(nameBytes, valueBytes).map((line) => `${NAME}: warning: ${shownText(line)}\n`).join("")
}
