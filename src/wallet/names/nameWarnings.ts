import type { Bytes } from "../../protocol/bytes.ts"
import { classify, encodeText, namespaceOf, printable } from "../../protocol/nameText.ts"

/** Namespaces whose values are JSON objects by convention (IFA-0001). An empty value gets no warning. */
const JSON_NAMESPACES: ReadonlySet<string> = new Set(["d/", "id/"])

/** Maximum length of a value whose coin can be spent: a script cannot push more. */
const MAX_USABLE_VALUE = 520

const nameWarning = (name: Bytes): string | undefined => {
  if (classify(name) !== "nonstandard") return undefined
  const namespace = namespaceOf(name)
  if (namespace === undefined) return `${printable(name)} has no namespace, such as d/ for a domain or id/ for a person`
  switch (namespace) {
    case "d/":
      return `${printable(name)} is no domain: the part after d/ has 1 to 63 lower-case letters and digits, ` +
        "not digits alone, with single hyphens between them"
    case "id/":
      return `${printable(name)} is no identity: the part after id/ has lower-case letters and digits, ` +
        "with single hyphens between them"
    case "dd/":
    case "idd/":
      return `${printable(name)} has nothing after its namespace`
    default:
      return `${printable(name)} is in a namespace that no application is known to read`
  }
}

const jsonWarning = (namespace: string, value: Bytes): string | undefined => {
  const text = encodeText(value, "utf8")
  if (text === undefined) return `the value is not UTF-8; values of ${namespace} names are JSON`
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return `the value is not valid JSON; values of ${namespace} names are JSON objects`
  }
  return typeof json === "object" && json !== null && !Array.isArray(json)
    ? undefined
    : `the value is JSON, but no object; values of ${namespace} names are objects`
}

/**
 * Warns about unusual names and values, for the owner to check. No warning is a consensus rule: any bytes can be
 * registered. reference/protocol.md 7.1, 7.2.
 */
export const nameWarnings = (name: Bytes, value: Bytes): ReadonlyArray<string> => {
  const warnings: Array<string> = []
  const unusual = nameWarning(name)
  if (unusual !== undefined) warnings.push(unusual)
  const namespace = namespaceOf(name)
  if (namespace !== undefined && JSON_NAMESPACES.has(namespace) && value.length > 0) {
    const flaw = jsonWarning(namespace, value)
    if (flaw !== undefined) warnings.push(flaw)
  }
  if (value.length > MAX_USABLE_VALUE) {
    warnings.push(`with a value of more than ${MAX_USABLE_VALUE} bytes the name can never be updated again`)
  }
  return warnings
}
