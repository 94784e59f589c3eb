import { quoted } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { classify, encodeText, namespaceOf, printable } from "../protocol/nameText.ts"

/** Why a name is useless, or less useful than its owner may expect. */
export interface NameFault {
  readonly code: "too-long" | "name-form" | "namespace"
  readonly severity: "error" | "warning"
  readonly message: string
}

/** Text that begins as a domain or an identity, but is not ASCII. */
const BEYOND_ASCII = /^(?:d|id)\/.*[^\0-\x7f]/s

const formFault = (name: Bytes, message: string): NameFault => ({
  severity: "error",
  code: "name-form",
  message: `${printable(name)} ${message}`
})

/** `undefined` for a name that programs read. */
export const nameFaultOf = (name: Bytes): NameFault | undefined => {
  if (name.length > MAX_NAME_LENGTH) {
    return {
      severity: "error",
      code: "too-long",
      message: `the name has ${name.length} bytes, and the network takes ${MAX_NAME_LENGTH}`
    }
  }
  if (classify(name) !== "nonstandard") return undefined
  const text = encodeText(name, "utf8") ?? ""
  if (BEYOND_ASCII.test(text)) {
    const message = `${quoted(text)} has a character beyond ASCII, and no domain or identity has one in its name`
    return { severity: "error", code: "name-form", message }
  }
  const namespace = namespaceOf(name)
  switch (namespace) {
    case undefined:
      return {
        severity: "warning",
        code: "namespace",
        message: `${printable(name)} has no namespace, such as d/ for a domain or id/ for a person`
      }
    case "d/":
      return formFault(
        name,
        "is not a domain: the part after d/ has 1 to 63 lower-case letters and digits, " +
          "not digits alone, with single hyphens between them"
      )
    case "id/":
      return formFault(
        name,
        "is not an identity: the part after id/ has lower-case letters and digits, with single hyphens between them"
      )
    case "dd/":
    case "idd/":
      return formFault(name, "has nothing after its namespace")
    default:
      return {
        severity: "warning",
        code: "namespace",
        message: `${printable(name)} is in a namespace that no application is known to read`
      }
  }
}

/** Why a name cannot be the domain or identity of its namespace; `undefined` if it can, or for other namespaces. */
export const nameFault = (name: Bytes): string | undefined => {
  const fault = nameFaultOf(name)
  return fault?.code === "name-form" ? fault.message : undefined
}
