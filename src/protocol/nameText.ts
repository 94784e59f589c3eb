import { binaryString, type Bytes, fromHex, toHex } from "./bytes.ts"
import { type NameKey, nameKey, nameKeyOfAscii } from "./keys.ts"

// Names and values as text, and what a name means to applications. The chain only knows byte strings.
// reference/protocol.md 7.1 to 7.3; upstream `names/encoding.cpp`, `names/applications.cpp`.

/** The encodings of names and values, the default first. */
export const NAME_ENCODINGS = ["ascii", "utf8", "hex"] as const

export type NameEncoding = (typeof NAME_ENCODINGS)[number]

/** Bytes 0x20 to 0x7f. The reference node includes 0x7f. */
const isAscii = (bytes: Bytes): boolean => {
  for (const byte of bytes) if (byte < 0x20 || byte > 0x7f) return false
  return true
}

/** Half a surrogate pair, which UTF-8 cannot encode. */
const LONE_SURROGATE = /\p{Surrogate}/u

// A byte order mark at the start is part of the name.
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const utf8 = new TextEncoder()

const decodeUtf8 = (bytes: Bytes): string | undefined => {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * In `utf8`, control characters and NUL are text; overlong forms and surrogates are not. Unlike in the reference node,
 * nor are sequences above U+10FFFF (`f4 90 80 80` to `f7 bf bf bf`): no JavaScript string can hold them. Clients can
 * ask for `hex`.
 */
export const encodeText = (bytes: Bytes, encoding: NameEncoding): string | undefined => {
  switch (encoding) {
    case "ascii":
      return isAscii(bytes) ? binaryString(bytes) : undefined
    case "utf8":
      return decodeUtf8(bytes)
    case "hex":
      return toHex(bytes)
  }
}

/** `undefined` if not valid in the encoding. */
export const decodeText = (text: string, encoding: NameEncoding): Uint8Array | undefined => {
  switch (encoding) {
    case "ascii":
      return nameKeyOfAscii(text) === undefined ? undefined : utf8.encode(text)
    case "utf8":
      return LONE_SURROGATE.test(text) ? undefined : utf8.encode(text)
    case "hex":
      return fromHex(text)
  }
}

export const keyOfText = (text: string, encoding: NameEncoding): NameKey | undefined => {
  const key = encoding === "hex" ? undefined : nameKeyOfAscii(text)
  if (key !== undefined) return key
  const bytes = decodeText(text, encoding)
  return bytes === undefined ? undefined : nameKey(bytes)
}

const lossyUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** Bytes as text. If they are not UTF-8, wrong bytes become U+FFFD, and `hex` has all of them. */
export const textOrHex = (bytes: Bytes): { readonly text: string; readonly hex: string | undefined } => {
  const text = decodeUtf8(bytes)
  return text === undefined ? { text: lossyUtf8.decode(bytes), hex: toHex(bytes) } : { text, hex: undefined }
}

/** A name as a log field, which the log quotes itself: ASCII as is, anything else as `0x` and hex. */
export const nameField = (bytes: Bytes): string => encodeText(bytes, "ascii") ?? `0x${toHex(bytes)}`

/** A name or value for messages and logs: ASCII in single quotes, anything else as `0x` and hex. */
export const printable = (bytes: Bytes): string => {
  const text = encodeText(bytes, "ascii")
  return text === undefined ? `0x${toHex(bytes)}` : `'${text}'`
}

export type NameClass = "domain" | "domain-data" | "identity" | "identity-data" | "nonstandard"

/** Longest domain label in bytes (DNS). */
const MAX_DOMAIN_LABEL = 63

const DOMAIN_LABEL = /^(?:xn--)?[a-z0-9]+(?:-[a-z0-9]+)*$/
const IDENTITY_LABEL = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const ALL_DIGITS = /^[0-9]+$/

const isDomainLabel = (label: string): boolean =>
  label.length <= MAX_DOMAIN_LABEL && DOMAIN_LABEL.test(label) && !ALL_DIGITS.test(label)

const split = (text: string): { readonly namespace: string; readonly label: string } | undefined => {
  const slash = text.indexOf("/")
  return slash === -1 ? undefined : { namespace: text.slice(0, slash + 1), label: text.slice(slash + 1) }
}

/** Everything up to the first slash (`d/`), known or not. Names with bytes outside ASCII have no namespace. */
export const namespaceOf = (name: Bytes): string | undefined => {
  const text = encodeText(name, "ascii")
  return text === undefined ? undefined : split(text)?.namespace
}

/** Source: `names/applications.cpp`, `NamespaceFromName`; IFA-0001. */
export const classify = (name: Bytes): NameClass => {
  const parts = split(encodeText(name, "ascii") ?? "")
  if (parts === undefined || parts.label === "") return "nonstandard"
  switch (parts.namespace) {
    case "d/":
      return isDomainLabel(parts.label) ? "domain" : "nonstandard"
    case "dd/":
      return "domain-data"
    case "id/":
      return IDENTITY_LABEL.test(parts.label) ? "identity" : "nonstandard"
    case "idd/":
      return "identity-data"
    default:
      return "nonstandard"
  }
}

/** `wikileaks.bit` for `d/wikileaks`. */
export const bitDomainOf = (name: Bytes): string | undefined => {
  const text = encodeText(name, "ascii")
  return text !== undefined && classify(name) === "domain" ? `${text.slice("d/".length)}.bit` : undefined
}
