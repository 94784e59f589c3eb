import { decodeText, type NameEncoding } from "../../protocol/nameText.ts"
import { type Json, JsonObject } from "../../rpc/json/json.ts"
import { type Finding, findingText, lint, lintWarnings } from "../../values/lint.ts"
import { at, indented, objectOf, textAt } from "./jsonText.ts"
import { type CliOutcome, NAME, type Screen } from "./outcome.ts"
import { quantityOf } from "./quantities.ts"
import { painted } from "./table.ts"
import { shownText } from "./textWidth.ts"

/** `svcd-cli lint`: checks a name and a value without a daemon; and the warnings behind an update by hand. */

export interface LintInput {
  readonly name: string
  readonly value: string
  readonly json: boolean
}

const UTF8 = new TextEncoder()

const findingLine = (finding: Finding, screen: Screen): string =>
  `${painted(finding.severity, finding.severity === "error" ? "red" : "yellow", screen)}: ${
    shownText(findingText(finding))
  }`

const findingJson = ({ code, column, line, message, path }: Finding): Json =>
  objectOf({ code, path, line, column, message })

/** The exit status is 1 if there is an error. */
export const lintCommand = ({ json, name, value }: LintInput, screen: Screen): CliOutcome => {
  const { bytes, findings, programs } = lint(UTF8.encode(name), UTF8.encode(value))
  const errors = findings.filter(({ severity }) => severity === "error")
  const warnings = findings.filter(({ severity }) => severity === "warning")
  const code = errors.length > 0 ? 1 : 0
  if (json) {
    const answer = objectOf({
      bytes,
      errors: errors.map(findingJson),
      warnings: warnings.map(findingJson),
      programs: programs.map(({ program, sees }) => objectOf({ program, sees }))
    })
    return { code, stdout: `${indented(answer)}\n`, stderr: "" }
  }
  const lines = [
    ...findings.map((finding) => findingLine(finding, screen)),
    ...programs.flatMap(({ program, sees }) =>
      sees.length === 0 ? [] : [painted(program, "bold", screen), ...sees.map((each) => `  ${shownText(each)}`)]
    ),
    `${quantityOf(bytes, "byte")}, ${quantityOf(errors.length, "error")}, ${quantityOf(warnings.length, "warning")}`
  ]
  return { code, stdout: `${lines.join("\n")}\n`, stderr: "" }
}

/** Positions of name, value and options of the methods that set a value and cannot answer with warnings. */
const POSITIONS: Readonly<Record<string, Readonly<Record<"name" | "value" | "options", number>>>> = {
  name_update: { name: 0, value: 1, options: 2 },
  name_firstupdate: { name: 0, value: 3, options: 4 }
}

const encodingIn = (options: Json | undefined, member: string): NameEncoding =>
  options !== undefined && textAt(options, member) === "hex" ? "hex" : "utf8"

/** Lines for standard error: what is wrong with the value that a call has set. */
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
