import { quoted } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Findings } from "./findings.ts"
import type { Located } from "./locatedJson.ts"

/** The items `import` and `delegate`, which name other values. */

export interface DomainImport {
  readonly name: Bytes
  readonly text: string
  /** Labels from the imported object down, as in a host name: `a.www`. Empty for the whole object. */
  readonly selector: string
}

const NAME = /^[^/]+\/./

const UTF8 = new TextEncoder()

const importOf = (
  first: Located,
  selector: Located | undefined,
  findings: Findings
): ReadonlyArray<DomainImport> => {
  const part = findings.text(first, "a name as text")
  if (part === undefined) return []
  const name = UTF8.encode(part.text)
  if (!NAME.test(part.text) || name.length > MAX_NAME_LENGTH) {
    findings.error(first, "invalid", `${quoted(part.text)} is not a name such as d/example or dd/example`)
    return []
  }
  const below = selector === undefined ? undefined : findings.text(selector, "a part of a domain as text")
  return selector === undefined || below !== undefined
    ? [{ name, text: part.text, selector: below?.text.toLowerCase() ?? "" }]
    : []
}

const rowOf = (row: Located, findings: Findings): ReadonlyArray<DomainImport> => {
  if (row.kind !== "array") return importOf(row, undefined, findings)
  const [first, selector, third] = row.items
  if (first === undefined) {
    findings.error(row, "invalid", "is an empty list: the name to import is missing")
    return []
  }
  if (third !== undefined) findings.warn(third, "unusual", "is ignored: a name and its part are two values")
  return importOf(first, selector, findings)
}

const isName = (part: Located): boolean => part.kind === "text" && part.text.includes("/")

/**
 * The imported names; reports the others. A list of a name and of a text without a slash is one name with its part, as
 * programs read it; IFA-0001 has another list around these.
 */
export const importsOf = (part: Located, findings: Findings): ReadonlyArray<DomainImport> => {
  if (part.kind !== "array") return rowOf(part, findings)
  const [first, second, third] = part.items
  const isPair = first !== undefined && isName(first) && second?.kind === "text" && !isName(second)
  if (!isPair) return part.items.flatMap((row) => rowOf(row, findings))
  if (third === undefined) return importOf(first, second, findings)
  findings.error(part, "invalid", "is not a list of lists, as [[\"dd/example\",\"part\"]]")
  return []
}
