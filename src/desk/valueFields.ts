import { escapeUnsafe } from "../base/safeText.ts"
import { MAX_SPENDABLE_VALUE } from "../consensus/names.ts"
import { type Bytes } from "../protocol/bytes.ts"
import { encodeText, namespaceOf } from "../protocol/nameText.ts"
import { DOMAIN_FIELDS, type DomainField, readDomainForm, writeDomainForm } from "../values/domainForm.ts"
import { type FormFault, linesOf } from "../values/formFields.ts"
import { IDENTITY_FIELDS, type IdentityField, readIdentityForm, writeIdentityForm } from "../values/identityForm.ts"
import { lint } from "../values/lint.ts"
import { isFault, readLocatedJson } from "../values/locatedJson.ts"

export interface ValueField {
  readonly key: string
  readonly label: string
  readonly hint: string
  /** `undefined`: one line. */
  readonly rows: number | undefined
  /** The part of the page, if not the first. */
  readonly part?: string
}

const DOMAIN: Readonly<Record<DomainField, Omit<ValueField, "key">>> = {
  address: { label: "Addresses", hint: "IPv4 or IPv6 addresses of the server, one per line: 192.0.2.1", rows: 2 },
  subdomain: {
    label: "Sub-domains",
    hint: "A label, then an address, or alias, ns, ds or txt with its content: www 192.0.2.1, shop alias example.org",
    rows: 3
  },
  text: { label: "Text", hint: "TXT records, one per line", rows: 2 },
  tor: { label: "Tor", hint: "An onion service address: 56 characters and .onion", rows: 1 },
  alias: {
    label: "Alias",
    hint: "Another host whose records replace all others here: example.org",
    rows: undefined,
    part: "Name servers and alias"
  },
  ns: {
    label: "Name servers",
    hint: "Authoritative hosts of this domain, one per line: ns1.example.org",
    rows: 2,
    part: "Name servers and alias"
  },
  ds: {
    label: "DS",
    hint: "Keys of those name servers, as DNS tools print them: 12345 8 2 and the digest",
    rows: 2,
    part: "Name servers and alias"
  },
  tls: {
    label: "TLS",
    hint: "Certificates by port, as TLSA records: 443 3 1 1 and the data",
    rows: 2,
    part: "Certificates and mail"
  },
  mail: {
    label: "Mail",
    hint: "Priority and host of a mail server: 10 mail.example.org",
    rows: 2,
    part: "Certificates and mail"
  }
}

const DOMAIN_ORDER: ReadonlyArray<DomainField> = [
  "address",
  "subdomain",
  "text",
  "tor",
  "alias",
  "ns",
  "ds",
  "tls",
  "mail"
]

const IDENTITY: Readonly<Record<IdentityField, Omit<ValueField, "key">>> = {
  name: { label: "Name", hint: "The name that others should call you", rows: undefined },
  email: {
    label: "E-mail",
    hint: "Public. svcd-mail forwards mail for this identity to it",
    rows: undefined
  },
  backup: {
    label: "Other email addresses",
    hint: "Fallbacks for svcd-mail, one per line",
    rows: 2
  },
  website: { label: "Website", hint: "https://example.org", rows: undefined },
  description: { label: "About", hint: "One line", rows: undefined },
  nostr: { label: "Nostr", hint: "Public key: npub1… or 64 hexadecimal digits", rows: undefined },
  photo_url: { label: "Picture", hint: "Its address: https://example.org/me.jpg", rows: undefined, part: "More" },
  xmpp: { label: "XMPP", hint: "alice@example.org", rows: undefined, part: "More" },
  fpr: { label: "OpenPGP", hint: "Fingerprint of 40 or 64 hexadecimal digits", rows: undefined, part: "More" }
}

export type FormKind = "domain" | "identity" | "json"

export const kindFor = (name: Bytes): FormKind => {
  const namespace = namespaceOf(name)
  return namespace === "d/" || namespace === "dd/" ? "domain" : namespace === "id/" ? "identity" : "json"
}

export const valueFieldsOf = (kind: FormKind): ReadonlyArray<ValueField> =>
  kind === "domain"
    ? DOMAIN_ORDER.map((key) => ({ key, ...DOMAIN[key] }))
    : kind === "identity"
    ? IDENTITY_FIELDS.map((key) => ({ key, ...IDENTITY[key] }))
    : []

export interface OpenValue {
  readonly kind: FormKind
  readonly texts: ReadonlyMap<string, string>
  /** Parts of the value that no field shows. */
  readonly kept: ReadonlyArray<string>
}

const JSON_FIELD = "json"

/** Characters that reverse or hide others; JSON keeps its meaning with their escapes. */
const UNSEEN = /[^\P{Cc}\n\r\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** `undefined` if it has characters that a field cannot show and that are not part of JSON. */
const jsonForm = (value: string): OpenValue | undefined => {
  const safe = value.replaceAll(UNSEEN, escapeUnsafe)
  return safe !== value && isFault(readLocatedJson(safe))
    ? undefined
    : { kind: "json", texts: new Map([[JSON_FIELD, safe]]), kept: [] }
}

/** As JSON if it is not a JSON object. `undefined` if no field can show it. */
export const openValue = (value: Bytes, kind: FormKind): OpenValue | undefined => {
  const text = encodeText(value, "utf8")
  if (text === undefined) return undefined
  if (kind === "json") return jsonForm(text)
  const read = kind === "domain" ? readDomainForm(text) : readIdentityForm(text)
  if (read === undefined) return jsonForm(text)
  const texts = Object.entries(read.lines).map(([key, lines]): [string, string] => [key, lines.join("\n")])
  return { kind, texts: new Map(texts), kept: read.kept }
}

export const sentTexts = (kind: FormKind, form: URLSearchParams): ReadonlyMap<string, string> =>
  new Map([...valueFieldsOf(kind).map(({ key }) => key), JSON_FIELD].map((key) => [key, form.get(key) ?? ""]))

export interface MadeValue {
  readonly value: string | undefined
  readonly bytes: number
  readonly faults: ReadonlyArray<FormFault>
}

/** In a value that can still be updated. */
export const MOST_BYTES = MAX_SPENDABLE_VALUE

export const madeValue = (
  { base, kind, texts }: { readonly kind: FormKind; readonly base: string; readonly texts: ReadonlyMap<string, string> }
): MadeValue => {
  const lines = (keys: ReadonlyArray<string>) =>
    Object.fromEntries(keys.map((key) => [key, linesOf(texts.get(key) ?? "")]))
  const written = kind === "domain"
    ? writeDomainForm(base, lines(DOMAIN_FIELDS))
    : kind === "identity"
    ? writeIdentityForm(base, lines(IDENTITY_FIELDS))
    : { value: (texts.get(JSON_FIELD) ?? "").replaceAll("\r\n", "\n") }
  if (written === undefined) {
    return { value: undefined, bytes: 0, faults: [{ field: JSON_FIELD, line: 1, message: "is not a JSON object" }] }
  }
  if ("faults" in written) return { value: undefined, bytes: 0, faults: written.faults }
  const bytes = Buffer.byteLength(written.value)
  const faults = bytes > MOST_BYTES
    ? [{
      field: valueFieldsOf(kind)[0]?.key ?? JSON_FIELD,
      line: 0,
      message: `The value has ${bytes} bytes, more than the limit of ${MOST_BYTES}. Shorten it.`
    }]
    : []
  return { value: written.value, bytes, faults }
}

export const nameFaults = (name: Bytes): ReadonlyArray<string> =>
  lint(name, new Uint8Array(0)).findings.map(({ message }) => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`)
