import { bech32 } from "@scure/base"
import { quoted } from "../base/safeText.ts"
import { toHex } from "../protocol/bytes.ts"
import {
  type FormField,
  type FormLines,
  itemAt,
  partAt,
  type ReadForm,
  readForm,
  type Shape,
  writeForm,
  type WrittenForm
} from "./formFields.ts"
import { lineOfText, type LineWritten, writeText } from "./formRows.ts"
import { isMailAddress, isNostrKey } from "./hosts.ts"
import { jsonText } from "./jsonTree.ts"

/** The value of an `id/` name as a form. Parts that the form does not show stay. */

/** Each field is the text of the item of the same name, but `backup` is a list of addresses. */
export const IDENTITY_FIELDS = [
  "name",
  "email",
  "backup",
  "website",
  "description",
  "photo_url",
  "xmpp",
  "nostr",
  "fpr"
] as const

export type IdentityField = (typeof IDENTITY_FIELDS)[number]

const writeAddress = (line: string): LineWritten =>
  isMailAddress(line)
    ? writeText(line)
    : { wrong: `${quoted(line)} is not an address that mail can be forwarded to` }

/** A public key: hexadecimal digits, or the npub that clients show (NIP-19). */
const writeNostr = (line: string): LineWritten => {
  const decoded = bech32.decodeUnsafe(line, 100)
  const bytes = decoded?.prefix === "npub" ? bech32.fromWordsUnsafe(decoded.words) : undefined
  const key = bytes === undefined ? line.toLowerCase() : toHex(bytes)
  if (isNostrKey(key)) return { json: jsonText(key) }
  return line.startsWith("nsec1")
    ? { wrong: "is a secret key, and the value of a name is public" }
    : { wrong: "is not a public key: npub1…, or 64 hexadecimal digits" }
}

const writeFingerprint = (line: string): LineWritten => {
  const print = line.replaceAll(/\s/g, "")
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(print)
    ? { json: jsonText(print) }
    : { wrong: "is not a fingerprint of 40 or 64 hexadecimal digits" }
}

const WRITERS: Readonly<Partial<Record<IdentityField, (line: string) => LineWritten>>> = {
  email: writeAddress,
  backup: writeAddress,
  nostr: writeNostr,
  fpr: writeFingerprint
}

const fieldOf = (key: IdentityField): FormField<IdentityField> => {
  const shape: Shape = key === "backup" ? "list" : "text"
  return {
    key,
    read: (object) => {
      const isList = partAt(object, [key])?.kind === "array"
      const item = isList === (shape === "list") ? itemAt(object, [key], lineOfText) : undefined
      return item === undefined ? [] : [item]
    },
    show: ({ line }) => line,
    want: (line) => ({ path: [key], line, written: (WRITERS[key] ?? writeText)(line) }),
    shape: () => shape
  }
}

const FIELDS = IDENTITY_FIELDS.map(fieldOf)

/** The lines, and the parts that they do not show; `undefined` if the value is not a JSON object. */
export const readIdentityForm = (value: string): ReadForm<IdentityField> | undefined => readForm(FIELDS, value)

/**
 * Puts these lines into the value, in the shortest JSON. Missing fields and parts that no field shows stay. `undefined`
 * if the value before is not a JSON object; an empty one counts as `{}`.
 */
export const writeIdentityForm = (
  value: string,
  lines: FormLines<IdentityField>
): WrittenForm<IdentityField> | undefined => writeForm(FIELDS, value, lines)
