import { MAX_SPENDABLE_VALUE, MAX_VALUE_LENGTH } from "../consensus/names.ts"
import { type Bytes } from "../protocol/bytes.ts"
import { bitDomainOf, classify, encodeText, namespaceOf } from "../protocol/nameText.ts"
import { viewDomain } from "./domain.ts"
import { MOST_READ } from "./domainLevel.ts"
import { type Finding, Findings, findingText, type ProgramView } from "./findings.ts"
import { viewIdentity, viewMail } from "./identity.ts"
import { isFault, type Located, type LocatedObject, readLocatedJson } from "./locatedJson.ts"
import { nameFaultOf } from "./nameFault.ts"

export { type Finding, findingText, type ProgramView }

/** Problems of a name and its next value, and what programs see in it. */
export interface Lint {
  /** In the order of the text, errors and warnings mixed. */
  readonly findings: ReadonlyArray<Finding>
  readonly programs: ReadonlyArray<ProgramView>
  readonly bytes: number
}

/** IFA-0001. */
const JSON_NAMESPACES: ReadonlySet<string> = new Set(["d/", "id/"])

const checkLength = ({ length }: Bytes, findings: Findings): void => {
  if (length <= MAX_SPENDABLE_VALUE) return
  findings.add({
    severity: "error",
    code: "too-long",
    message: length > MAX_VALUE_LENGTH
      ? `the value has ${length} bytes, and the network takes ${MAX_VALUE_LENGTH}`
      : `the value has ${length} bytes: with more than ${MAX_SPENDABLE_VALUE} the name can never be updated again`
  })
}

const checkKeys = (part: Located, findings: Findings): void => {
  if (part.kind === "array") { for (const item of part.items) checkKeys(item, findings) }
  if (part.kind !== "object") return
  const seen = new Set<string>()
  for (const { at, key, value } of part.members) {
    if (seen.has(key)) {
      findings.add({
        severity: "error",
        code: "duplicate-key",
        part: { at, path: value.path },
        message: "is there twice, and programs do not agree which of the two counts"
      })
    }
    seen.add(key)
    checkKeys(value, findings)
  }
}

/** Reports why the value is not an object. `wanted`: the namespace requires one. */
const objectOf = (
  text: string,
  { findings, namespace }: { readonly findings: Findings; readonly namespace: string | undefined }
): LocatedObject | undefined => {
  const wanted = namespace !== undefined && JSON_NAMESPACES.has(namespace)
  const read = readLocatedJson(text)
  if (isFault(read)) {
    if (wanted) {
      const message = `the value is not valid JSON: ${read.message}`
      findings.add({ severity: "error", code: "json", part: { at: read.at, path: "" }, message })
    }
    return undefined
  }
  checkKeys(read, findings)
  if (read.kind === "object") return read
  if (wanted) {
    findings.add({
      severity: "error",
      code: "not-object",
      message: `the value is JSON, but no object; values of ${namespace} names are objects`
    })
  }
  return undefined
}

const viewsOf = (name: Bytes, text: string, findings: Findings): ReadonlyArray<ProgramView> => {
  const namespace = namespaceOf(name)
  const object = objectOf(text, { findings, namespace })
  const label = (encodeText(name, "ascii") ?? "").slice(namespace?.length ?? 0)
  if (object === undefined) return []
  switch (classify(name)) {
    case "domain":
      return viewDomain(object, { findings, host: bitDomainOf(name) ?? "" })
    case "domain-data":
      // Read as a part of each domain that imports it.
      return viewDomain(object, { findings, host: "example.bit" })
    case "identity":
      return viewIdentity(object, { findings, label })
    default:
      return viewMail(object, { findings, label })
  }
}

const byPlace = (a: Finding, b: Finding): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)

const UTF8 = new TextEncoder()

const bytesOf = (given: Bytes | string): Bytes => typeof given === "string" ? UTF8.encode(given) : given

/** Checks a name and its value, bytes or text. Except for the two lengths, nothing here is a rule of the network. */
export const lint = (givenName: Bytes | string, givenValue: Bytes | string): Lint => {
  const name = bytesOf(givenName)
  const value = bytesOf(givenValue)
  const text = value.length > MOST_READ ? undefined : encodeText(value, "utf8")
  const findings = new Findings(text ?? "")
  const fault = nameFaultOf(name)
  if (fault !== undefined) findings.add(fault)
  checkLength(value, findings)
  const namespace = namespaceOf(name)
  let programs: ReadonlyArray<ProgramView> = []
  if (text !== undefined) {
    if (text !== "") programs = viewsOf(name, text, findings)
    if (encodeText(value, "ascii") === undefined) {
      findings.add({
        severity: "warning",
        code: "not-ascii",
        message:
          "the value has characters beyond ASCII, or line breaks: nodes show it only with the encoding utf8 or hex; " +
          "\\u escapes would keep it ASCII"
      })
    }
  } else if (value.length <= MOST_READ && namespace !== undefined && JSON_NAMESPACES.has(namespace)) {
    findings.add({
      severity: "error",
      code: "not-text",
      message: `the value is not UTF-8; values of ${namespace} names are JSON`
    })
  }
  return { findings: findings.all.toSorted(byPlace), programs, bytes: value.length }
}

/** What programs see in an expired name. */
export const EXPIRED_SEES = "see nothing: the name has expired, and they treat it as not registered"

/** Lints a record on the chain. Programs see nothing of an expired name, whatever its last value is. */
export const lintRecord = (
  { name, value }: { readonly name: Bytes | string; readonly value: Bytes | string },
  { expired }: { readonly expired: boolean }
): Lint => {
  const found = lint(name, value)
  return expired ? { ...found, programs: [] } : found
}

export const lintWarnings = (name: Bytes | string, value: Bytes | string): ReadonlyArray<string> =>
  lint(name, value).findings.map(findingText)
