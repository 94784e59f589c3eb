import { quoted } from "../base/safeText.ts"
import { isSubdomainKey } from "./domainLevel.ts"
import {
  type FormField,
  type FormItem,
  type FormLines,
  type FormRow,
  itemAt,
  partAt,
  type ReadForm,
  readForm,
  type Shape,
  writeForm,
  type WrittenForm
} from "./formFields.ts"
import {
  addressItem,
  lineOfText,
  type LineWritten,
  mailLine,
  recordLine,
  tlsLine,
  type TlsPlace,
  writeDs,
  writeHost,
  writeMail,
  writeOnion,
  writeText,
  writeTls
} from "./formRows.ts"
import type { KeyPath } from "./jsonTree.ts"
import { type Located, type LocatedObject } from "./locatedJson.ts"

/**
 * The value of a `d/` name as a form (Domain Name Specification, IFA-0001), for the domain itself and one level of
 * sub-domains. The rest of the value stays.
 */

/**
 * The fields, and the content of their lines:
 *
 * - `address`: an IPv4 or IPv6 address
 * - `alias`: the host for which the domain is another name
 * - `ns`: the name of a name server
 * - `ds`: key tag, algorithm, digest type, digest in hexadecimal digits
 * - `tls`: port, usage, selector, matching type, data in hexadecimal digits
 * - `mail`: priority, and the mail server
 * - `tor`: the address of an onion service
 * - `text`: a text (TXT)
 * - `subdomain`: a label, and then an address, or `alias HOST`, `ns HOST`, `ds RECORD` or `txt TEXT`
 */
export const DOMAIN_FIELDS = ["address", "alias", "ns", "ds", "tls", "mail", "tor", "text", "subdomain"] as const

export type DomainField = (typeof DOMAIN_FIELDS)[number]

/** Only in the item of the address's kind; others are left to JSON. */
const addressLine = (item: "ip" | "ip6") => (row: Located): string | undefined => {
  const line = lineOfText(row)
  return line !== undefined && addressItem(line) === item ? line : undefined
}

const ITEMS: Readonly<
  Record<string, {
    readonly lineOf: (row: Located) => string | undefined
    readonly write: (line: string) => LineWritten
    readonly shape: Shape
  }>
> = {
  ip: { lineOf: addressLine("ip"), write: writeText, shape: "texts" },
  ip6: { lineOf: addressLine("ip6"), write: writeText, shape: "texts" },
  alias: { lineOf: lineOfText, write: writeHost, shape: "text" },
  ns: { lineOf: lineOfText, write: writeHost, shape: "texts" },
  ds: { lineOf: recordLine, write: writeDs, shape: "rows" },
  txt: { lineOf: lineOfText, write: writeText, shape: "texts" }
}

const itemOf = (key: string | undefined) => ITEMS[key ?? ""]

const readItem = (object: LocatedObject, path: KeyPath): FormItem | undefined => {
  const item = itemOf(path.at(-1))
  if (item === undefined) return undefined
  const found = itemAt(object, path, item.lineOf)
  // Does not show a list of lists without its outer brackets, or a list in place of one text.
  const isList = partAt(object, path)?.kind === "array"
  return (item.shape === "rows" && !isList) || (item.shape === "text" && isList) ? undefined : found
}

const listed = (items: ReadonlyArray<FormItem | undefined>): ReadonlyArray<FormItem> =>
  items.filter((item) => item !== undefined)

const plainLine = ({ line }: FormRow): string => line

const ownItem = (key: DomainField, item: string): FormField<DomainField> => ({
  key,
  read: (object) => listed([readItem(object, [item])]),
  show: plainLine,
  want: (line) => ({ path: [item], line, written: itemOf(item)?.write(line) ?? { wrong: "is unknown" } }),
  shape: () => itemOf(item)?.shape ?? "texts"
})

const NO_ADDRESS: LineWritten = { wrong: "is not an address such as 192.0.2.1 or 2001:db8::1" }

const address: FormField<DomainField> = {
  key: "address",
  read: (object) => listed([readItem(object, ["ip"]), readItem(object, ["ip6"])]),
  show: plainLine,
  want: (line) => {
    const item = addressItem(line)
    return item === undefined
      ? { path: ["ip"], line, written: NO_ADDRESS }
      : { path: [item], line, written: writeText(line) }
  },
  shape: () => "texts"
}

const PROTOCOLS = ["_tcp", "_udp"] as const

const tlsPath = ({ port, protocol }: TlsPlace): KeyPath => ["map", protocol, "map", port, "tls"]

const tls: FormField<DomainField> = {
  key: "tls",
  read: (object) =>
    PROTOCOLS.flatMap((protocol) => {
      const ports = partAt(object, ["map", protocol, "map"])
      return listed(
        (ports?.kind === "object" ? ports.members : []).map(({ key: port }) => {
          const path = tlsPath({ protocol, port })
          if (!/^_[1-9]\d{0,4}$/.test(port) || partAt(object, path)?.kind !== "array") return undefined
          return itemAt(object, path, (row) => tlsLine(row, { protocol, port }))
        })
      )
    }),
  show: plainLine,
  want: (line) => {
    const { port, protocol, written } = writeTls(line)
    const rest = line.replace(/^(\d+)\/tcp\b/i, "$1").toLowerCase()
    return { path: tlsPath({ port, protocol }), line: rest, written }
  },
  shape: () => "rows"
}

const MAIL: KeyPath = ["map", "_tcp", "map", "_smtp", "srv"]

const mail: FormField<DomainField> = {
  key: "mail",
  read: (object) => partAt(object, MAIL)?.kind === "array" ? listed([itemAt(object, MAIL, mailLine)]) : [],
  show: plainLine,
  want: (line) => ({ path: MAIL, line, written: writeMail(line) }),
  shape: () => "rows"
}

/** Below `_tor`, or in the older item if the value has it. */
const TOR: KeyPath = ["map", "_tor", "txt"]
const OLD_TOR: KeyPath = ["tor"]

const torPath = (object: LocatedObject): KeyPath => partAt(object, OLD_TOR) === undefined ? TOR : OLD_TOR

const tor: FormField<DomainField> = {
  key: "tor",
  read: (object) => listed([itemAt(object, torPath(object), lineOfText)]),
  show: plainLine,
  want: (line, object) => ({ path: torPath(object), line, written: writeOnion(line) }),
  shape: () => "texts"
}

const BELOW = ["ip", "ip6", "alias", "ns", "ds", "txt"] as const

const TAKEN: ReadonlySet<string> = new Set(["", "_tcp", "_udp", "_tor"])

const subdomainsOf = (object: LocatedObject): ReadonlyArray<string> => {
  const map = partAt(object, ["map"])
  const keys = map?.kind === "object" ? map.members.map(({ key }) => key) : []
  return [...new Set(keys)].filter((key) => !TAKEN.has(key) && isSubdomainKey(key))
}

/** A text in the place of a sub-domain is its address. */
const shortSubdomain = (object: LocatedObject, label: string): FormItem | undefined => {
  const part = partAt(object, ["map", label])
  const line = part?.kind === "text" ? lineOfText(part) : undefined
  return part === undefined || line === undefined || addressItem(line) !== "ip"
    ? undefined
    : { path: ["map", label, "ip"], rows: [{ line, part }], shown: part.path }
}

const SUBDOMAIN_FORM = "a label, and then an address, or alias, ns, ds or txt with its content: www 192.0.2.1"

const splitSubdomain = (
  line: string
): { readonly label: string; readonly item: string; readonly data: string } | undefined => {
  const [, label = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? []
  const [, word = "", data = ""] = /^(alias|ns|ds|txt|ip6?)\s+(.*)$/.exec(rest) ?? []
  if (label === "" || rest === "") return undefined
  if (word !== "") return { label, item: word, data }
  const item = addressItem(rest)
  return item === undefined ? undefined : { label, item, data: rest }
}

const writeBelow = (
  { data, item, label }: { readonly label: string; readonly item: string; readonly data: string }
): LineWritten => {
  if (TAKEN.has(label) || !isSubdomainKey(label)) {
    return {
      wrong: label.includes(".")
        ? `${quoted(label)} is more than one level: only one label stands here, without a dot`
        : `${quoted(label)} cannot be the label of a sub-domain`
    }
  }
  if ((item === "ip" || item === "ip6") && addressItem(data) !== item) return NO_ADDRESS
  return itemOf(item)?.write(data) ?? { wrong: `has to be ${SUBDOMAIN_FORM}` }
}

const subdomain: FormField<DomainField> = {
  key: "subdomain",
  read: (object) =>
    subdomainsOf(object).flatMap((label) =>
      listed([shortSubdomain(object, label), ...BELOW.map((item) => readItem(object, ["map", label, item]))])
    ),
  show: ({ line }, [, label = "", item = ""]) =>
    addressItem(line) === item ? `${label} ${line}` : `${label} ${item} ${line}`,
  want: (line) => {
    const split = splitSubdomain(line)
    if (split === undefined) return { path: ["map", line], line, written: { wrong: `has to be ${SUBDOMAIN_FORM}` } }
    return { path: ["map", split.label, split.item], line: split.data, written: writeBelow(split) }
  },
  shape: ([, , item]) => itemOf(item)?.shape ?? "texts"
}

/** The item of a line: a label with its item, or a port. */
export const itemOfLine = (field: "subdomain" | "tls", line: string): string => {
  if (field === "subdomain") {
    const split = splitSubdomain(line)
    return split === undefined ? "" : `${split.label} ${split.item}`
  }
  const { port, protocol } = writeTls(line)
  return `${port} ${protocol}`
}

const FIELDS: ReadonlyArray<FormField<DomainField>> = [
  address,
  ownItem("alias", "alias"),
  ownItem("ns", "ns"),
  ownItem("ds", "ds"),
  tls,
  mail,
  tor,
  ownItem("text", "txt"),
  subdomain
]

/** The lines, and the parts that they do not show; `undefined` if the value is not a JSON object. */
export const readDomainForm = (value: string): ReadForm<DomainField> | undefined => readForm(FIELDS, value)

/**
 * Puts these lines into the value, in the shortest JSON. Missing fields and parts that no field shows stay. `undefined`
 * if the value before is not a JSON object; an empty one counts as `{}`.
 */
export const writeDomainForm = (
  value: string,
  lines: FormLines<DomainField>
): WrittenForm<DomainField> | undefined => writeForm(FIELDS, value, lines)
