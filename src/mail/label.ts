import * as Either from "effect/Either"
import { quoted } from "../base/safeText.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { classify } from "../protocol/nameText.ts"

/**
 * Mail for `alice@…` belongs to the name `id/alice`. Labels follow the identity namespace (reference/protocol.md 7.2),
 * as far as they fit before the `@`. This excludes all characters that could make an SMTP server deliver elsewhere:
 * `%`, `!`, `:`, `@`, quotes.
 */

export const DEFAULT_NAMESPACE = "id/"

/** The maximum length of a local part (RFC 5321, section 4.5.3.1.1). */
const MAX_LABEL = 64

const LABEL = /^(?:xn--)?[a-z0-9]+(?:-[a-z0-9]+)*$/

const NAMESPACE = /^[a-z0-9]+(?:-[a-z0-9]+)*\/$/

/** Accepts a namespace with or without its slash. Left: what is wrong. */
export const parseNamespace = (text: string): Either.Either<string, string> => {
  const namespace = text.endsWith("/") ? text : `${text}/`
  return NAMESPACE.test(namespace) && namespace.length + MAX_LABEL <= MAX_NAME_LENGTH
    ? Either.right(namespace)
    : Either.left(`${quoted(text)} is not a namespace such as id/: use lower-case letters, digits and single hyphens`)
}

const fits = ({ label, namespace }: { readonly namespace: string; readonly label: string }): boolean => {
  const found = classify(new TextEncoder().encode(namespace + label))
  return found !== "nonstandard" || (namespace !== "id/" && namespace !== "d/")
}

/** Case-insensitive; `undefined` for an invalid label. */
export const nameOf = (
  { namespace, text }: { readonly namespace: string; readonly text: string }
): string | undefined => {
  // `toLowerCase` converts some characters beyond ASCII to ASCII, such as the Kelvin sign.
  if (text.length > MAX_LABEL || !/^[ -~]*$/.test(text)) return undefined
  const label = text.toLowerCase()
  return LABEL.test(label) && fits({ namespace, label }) ? namespace + label : undefined
}

export const labelProblem = ({ namespace, text }: { readonly namespace: string; readonly text: string }): string =>
  text.length > MAX_LABEL
    ? `${quoted(text)} is too long for a label: use at most ${MAX_LABEL} characters`
    : `${quoted(text)} is not a label: use the part of the name after ${namespace}, ` +
      "in lower-case letters and digits with single hyphens between them"
