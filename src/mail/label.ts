import * as Either from "effect/Either"
import { quoted } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { classify } from "../protocol/nameText.ts"

/**
 * Labels and names: mail for `alice@…` belongs to the name `id/alice`. A label is what the identity namespace allows
 * (reference/protocol.md 7.2), as far as it fits before the `@` of an address. This excludes every character that could
 * make an SMTP server deliver elsewhere: `%`, `!`, `:`, `@`, quotes.
 */

/** Where the names of people and organisations are. */
export const DEFAULT_NAMESPACE = "id/"

/** Characters of a local part (RFC 5321, section 4.5.3.1.1). */
const MAX_LABEL = 64

const LABEL = /^(?:xn--)?[a-z0-9]+(?:-[a-z0-9]+)*$/

const NAMESPACE = /^[a-z0-9]+(?:-[a-z0-9]+)*\/$/

/** Parses a namespace, written with its slash or without: `id/`, `id`. Left: what is wrong. */
export const parseNamespace = (text: string): Either.Either<string, string> => {
  const namespace = text.endsWith("/") ? text : `${text}/`
  return NAMESPACE.test(namespace) && namespace.length + MAX_LABEL <= MAX_NAME_LENGTH
    ? Either.right(namespace)
    : Either.left(`${quoted(text)} is not a namespace, as id/ is one: lower-case letters, digits, single hyphens`)
}

/** Whether the namespace's own rules, if it has any, allow such a label. */
const fits = ({ label, namespace }: { readonly namespace: string; readonly label: string }): boolean => {
  const found = classify(new TextEncoder().encode(namespace + label))
  return found !== "nonstandard" || (namespace !== "id/" && namespace !== "d/")
}

/** Returns the name of a label, whose case does not count; `undefined` for a text that is not a label. */
export const nameOf = (
  { namespace, text }: { readonly namespace: string; readonly text: string }
): string | undefined => {
  // `toLowerCase` converts some characters beyond ASCII to ASCII, such as the Kelvin sign.
  if (text.length > MAX_LABEL || !/^[ -~]*$/.test(text)) return undefined
  const label = text.toLowerCase()
  return LABEL.test(label) && fits({ namespace, label }) ? namespace + label : undefined
}

/** Returns why a text is not a label of the namespace. */
export const labelProblem = ({ namespace, text }: { readonly namespace: string; readonly text: string }): string =>
  text.length > MAX_LABEL
    ? `${quoted(text)} is too long for a label: ${MAX_LABEL} characters fit before the @ of an address`
    : `${quoted(text)} is not a label: it has to be the part after ${namespace} in the name, ` +
      "lower-case letters and digits with single hyphens between them"
