import { quoted } from "../base/safeText.ts"
import { decodeBase64 } from "../protocol/base64.ts"
import { toHex } from "../protocol/bytes.ts"
import type { Findings } from "./findings.ts"
import { canonicalIpv6, isDnsLabel, isDnsName, isIpv4Text } from "./hosts.ts"
import { type Located, type LocatedArray, type LocatedText, memberOf } from "./locatedJson.ts"

/**
 * The items of a domain's value that become DNS records (Domain Name Specification, IFA-0001 and IFA-0003 of
 * namecoin/proposals). Each reader reports invalid records and returns the others.
 */

export interface DnsData {
  readonly type: "A" | "AAAA" | "CNAME" | "DNAME" | "NS" | "DS" | "SRV" | "MX" | "TLSA" | "TXT" | "LOC" | "SSHFP"
  readonly data: string
}

export interface DomainPlace {
  readonly findings: Findings
  /** With a dot at the end: `www.example.bit.`. */
  readonly owner: string
  /** Completes a name without a dot at its end. */
  readonly origin: string
  readonly apex: string
}

/** Completes a DNS name with its origin; `undefined` for an invalid one. */
export const absoluteName = (text: string, { apex, origin }: DomainPlace): string | undefined => {
  const lower = text.toLowerCase()
  if (lower.endsWith(".")) return isDnsName(lower) ? lower : undefined
  if (lower === "") return origin
  if (lower === "@") return apex
  const whole = lower.endsWith(".@") ? `${lower.slice(0, -1)}${apex}` : `${lower}.${origin}`
  return isDnsName(whole) ? whole : undefined
}

const named = (part: LocatedText, place: DomainPlace): string | undefined => {
  const { findings } = place
  const name = absoluteName(part.text, place)
  if (name === undefined) {
    findings.error(part, "invalid", `${quoted(part.text)} is not the name of a host`)
    return undefined
  }
  if (part.text !== part.text.toLowerCase()) findings.warn(part, "unusual", "has capital letters")
  if (isIpv4Text(part.text) || isIpv4Text(part.text.replace(/\.$/, ""))) {
    findings.error(part, "invalid", `${quoted(part.text)} is an address, not the name of a host`)
    return undefined
  }
  const bare = part.text.includes(".") && !part.text.endsWith(".") && !part.text.endsWith(".@")
  if (bare) findings.warn(part, "unusual", `has no dot at its end, so it means ${name}`)
  return name
}

type ItemReader = (part: Located, place: DomainPlace) => ReadonlyArray<DnsData>

const ip: ItemReader = (part, { findings }) =>
  findings.texts(part, "an IPv4 address in a text").flatMap((each) => {
    if (isIpv4Text(each.text)) return [{ type: "A", data: each.text }]
    findings.error(
      each,
      "invalid",
      canonicalIpv6(each.text) === undefined
        ? `${quoted(each.text)} is not an IPv4 address`
        : `${quoted(each.text)} is an IPv6 address: it belongs into ip6`
    )
    return []
  })

const ip6: ItemReader = (part, { findings }) =>
  findings.texts(part, "an IPv6 address in a text").flatMap((each) => {
    const address = canonicalIpv6(each.text)
    if (address !== undefined) return [{ type: "AAAA", data: address }]
    findings.error(
      each,
      "invalid",
      isIpv4Text(each.text)
        ? `${quoted(each.text)} is an IPv4 address: it belongs into ip`
        : `${quoted(each.text)} is not an IPv6 address`
    )
    return []
  })

const hostOf = (type: "CNAME" | "DNAME"): ItemReader => (part, place) => {
  const text = place.findings.text(part, "the name of a host in a text")
  const name = text === undefined ? undefined : named(text, place)
  if (name !== undefined && name === place.owner) {
    place.findings.error(part, "invalid", "means this name itself")
    return []
  }
  return name === undefined ? [] : [{ type, data: name }]
}

const ns: ItemReader = (part, place) =>
  place.findings.texts(part, "the name of a name server in a text").flatMap((each) => {
    const name = named(each, place)
    return name === undefined ? [] : [{ type: "NS", data: name }]
  })

const rowsOf = (part: Located, { findings }: DomainPlace, fields: number): ReadonlyArray<LocatedArray> => {
  if (part.kind !== "array") {
    findings.wrongType(part, "a list of lists")
    return []
  }
  if (part.items.length > 0 && part.items.every(({ kind }) => kind === "number" || kind === "text")) {
    findings.error(part, "wrong-type", "is one list; it has to be a list of lists, with one more pair of brackets")
    return []
  }
  return part.items.flatMap((row) => {
    if (row.kind !== "array") findings.wrongType(row, `a list of ${fields} values`)
    else if (row.items.length < fields) {
      findings.error(row, "invalid", `has ${row.items.length} values, and needs ${fields}`)
    } else return [row]
    return []
  })
}

const numberIn = (part: Located | undefined, { findings }: DomainPlace, most: number): number | undefined => {
  if (part?.kind === "number" && Number.isInteger(part.value) && part.value >= 0 && part.value <= most) {
    return part.value
  }
  if (part !== undefined) findings.error(part, "wrong-type", `is not a whole number from 0 to ${most}`)
  return undefined
}

const BYTE = 255
const TWO_BYTES = 65_535

const bytesIn = (part: Located | undefined, { findings }: DomainPlace): Uint8Array | undefined => {
  if (part === undefined) return undefined
  const text = findings.text(part, "bytes in base64")
  if (text === undefined) return undefined
  const bytes = decodeBase64(text.text)
  if (bytes === undefined) findings.error(part, "invalid", "is not base64, with its padding and without spaces")
  else if (/^(?:[0-9a-f]{2}){16,}$/i.test(text.text)) {
    findings.warn(part, "unusual", "looks like hexadecimal digits: the specification asks for base64")
  }
  return bytes
}

interface Fingerprint {
  readonly part: Located | undefined
  readonly bytes: Uint8Array
  /** Bytes by kind. */
  readonly sizes: Readonly<Record<number, number>>
  readonly kind: number
}

const checkSize = ({ bytes, kind, part, sizes }: Fingerprint, { findings }: DomainPlace): void => {
  const size = sizes[kind]
  if (size !== undefined && part !== undefined && size !== bytes.length) {
    findings.warn(part, "unusual", `has ${bytes.length} bytes; a hash of type ${kind} has ${size}`)
  }
}

const DS_SIZES: Readonly<Record<number, number>> = { 1: 20, 2: 32, 4: 48 }

const ds: ItemReader = (part, place) =>
  rowsOf(part, place, 4).flatMap(({ items }) => {
    const [tag, algorithm, kind, digest] = [
      numberIn(items[0], place, TWO_BYTES),
      numberIn(items[1], place, BYTE),
      numberIn(items[2], place, BYTE),
      bytesIn(items[3], place)
    ]
    if (tag === undefined || algorithm === undefined || kind === undefined || digest === undefined) return []
    checkSize({ part: items[3], bytes: digest, sizes: DS_SIZES, kind }, place)
    return [{ type: "DS", data: `${tag} ${algorithm} ${kind} ${toHex(digest)}` }]
  })

const srv: ItemReader = (part, place) =>
  rowsOf(part, place, 4).flatMap(({ items }) => {
    const numbers = items.slice(0, 3).map((each) => numberIn(each, place, TWO_BYTES))
    const target = items[3]
    const text = target === undefined ? undefined : place.findings.text(target, "the name of a host in a text")
    const name = text === undefined ? undefined : named(text, place)
    if (name === undefined || numbers.includes(undefined)) return []
    return [{ type: "SRV", data: `${numbers.join(" ")} ${name}` }]
  })

const mx: ItemReader = (part, place) =>
  rowsOf(part, place, 2).flatMap(({ items: [first, target] }) => {
    const preference = first === undefined ? undefined : numberIn(first, place, TWO_BYTES)
    const text = target === undefined ? undefined : place.findings.text(target, "the name of a host in a text")
    const name = text === undefined ? undefined : named(text, place)
    return name === undefined || preference === undefined ? [] : [{ type: "MX", data: `${preference} ${name}` }]
  })

const TLSA_SIZES: Readonly<Record<number, number>> = { 1: 32, 2: 64 }

const tlsaOf = (row: LocatedArray, place: DomainPlace): ReadonlyArray<DnsData> => {
  const { items } = row
  if (items.length < 4) {
    place.findings.error(row, "invalid", `has ${items.length} values, and needs 4`)
    return []
  }
  const [usage, selector, kind] = items.map((each, at) => at < 3 ? numberIn(each, place, BYTE) : undefined)
  const data = bytesIn(items[3], place)
  if (usage === undefined || selector === undefined || kind === undefined || data === undefined) return []
  if (usage > 3) place.findings.warn(row, "unusual", `has the usage ${usage}; DANE has 0 to 3`)
  checkSize({ part: items[3], bytes: data, sizes: TLSA_SIZES, kind }, place)
  return [{ type: "TLSA", data: `${usage} ${selector} ${kind} ${toHex(data)}` }]
}

/** A certificate in six values (IFA-0003), from which programs make the TLSA record. */
const dehydrated = (part: Located, place: DomainPlace): ReadonlyArray<DnsData> => {
  const { findings } = place
  if (part.kind !== "array" || part.items.length < 6) {
    findings.error(part, "invalid", "has to be a list of six values")
    return []
  }
  const [version, key, from, to, algorithm, signature] = part.items
  if (version?.kind !== "number" || version.value !== 1) {
    findings.error(version ?? part, "invalid", "is not a version of a certificate that programs know: they know 1")
    return []
  }
  const valid = bytesIn(key, place) !== undefined && bytesIn(signature, place) !== undefined &&
    [from, to, algorithm].every((each) => numberIn(each, place, Number.MAX_SAFE_INTEGER) !== undefined)
  return valid ? [{ type: "TLSA", data: "from the certificate in d8" }] : []
}

const tlsItem = (row: Located, place: DomainPlace): ReadonlyArray<DnsData> => {
  if (row.kind === "array") return tlsaOf(row, place)
  if (row.kind !== "object") {
    place.findings.wrongType(row, "a list of four values, or an object with dane or d8")
    return []
  }
  const [dane, d8] = [memberOf(row, "dane"), memberOf(row, "d8")]
  if (dane === undefined && d8 === undefined) {
    place.findings.error(row, "invalid", "has neither dane nor d8")
    return []
  }
  if (d8 !== undefined) return dehydrated(d8, place)
  if (dane?.kind === "array") return tlsaOf(dane, place)
  if (dane !== undefined) place.findings.wrongType(dane, "a list of four values")
  return []
}

const tls: ItemReader = (part, place) => {
  const { findings, owner } = place
  if (part.kind === "object") {
    findings.error(part, "deprecated", "is in an old form that programs no longer read: it has to be a list")
    return []
  }
  if (part.kind !== "array") {
    findings.wrongType(part, "a list")
    return []
  }
  if (part.items.length > 0 && !/^_[0-9]+\._(?:tcp|udp|sctp)\./.test(owner) && !owner.startsWith("*.")) {
    findings.warn(part, "unusual", "is for a port and a protocol: browsers look for it in map._tcp.map._443")
  }
  return part.items.flatMap((row) => tlsItem(row, place))
}

const MAX_TXT = 255

const txt: ItemReader = (part, { findings }) => {
  const one = (each: Located): ReadonlyArray<DnsData> => {
    if (each.kind === "text") return [{ type: "TXT", data: quoted(each.text) }]
    if (each.kind !== "array") {
      findings.wrongType(each, "a text, or a list of texts")
      return []
    }
    const texts = each.items.flatMap((item) => findings.text(item, "a text") ?? [])
    const long = texts.find(({ text }) => new TextEncoder().encode(text).length > MAX_TXT)
    if (long !== undefined) findings.error(long, "too-long", `has more than ${MAX_TXT} bytes`)
    return long !== undefined || texts.length < each.items.length || texts.length === 0
      ? []
      : [{ type: "TXT", data: texts.map(({ text }) => quoted(text)).join(" ") }]
  }
  return part.kind === "array" ? part.items.flatMap(one) : one(part)
}

const loc: ItemReader = (part, { findings }) =>
  findings.texts(part, "a place in a text").flatMap((each) => {
    if (/^\d+(?: \d+){0,2}(?:\.\d+)? [NS] \d+(?: \d+){0,2}(?:\.\d+)? [EW] -?\d/.test(each.text)) {
      return [{ type: "LOC", data: quoted(each.text) }]
    }
    findings.error(each, "invalid", `${quoted(each.text)} is not a place as RFC 1876 writes it`)
    return []
  })

const sshfp: ItemReader = (part, place) =>
  rowsOf(part, place, 3).flatMap(({ items }) => {
    const [algorithm, kind] = [numberIn(items[0], place, BYTE), numberIn(items[1], place, BYTE)]
    const print = bytesIn(items[2], place)
    return algorithm === undefined || kind === undefined || print === undefined
      ? []
      : [{ type: "SSHFP", data: `${algorithm} ${kind} ${toHex(print)}` }]
  })

export const DNS_ITEMS: ReadonlyMap<string, ItemReader> = new Map([
  ["ip", ip],
  ["ip6", ip6],
  ["alias", hostOf("CNAME")],
  ["translate", hostOf("DNAME")],
  ["ns", ns],
  ["dns", ns],
  ["ds", ds],
  ["srv", srv],
  ["mx", mx],
  ["tls", tls],
  ["txt", txt],
  ["loc", loc],
  ["sshfp", sshfp]
])

/** One label, the wildcard, or empty for the object itself. */
export const isSubdomainKey = (key: string): boolean => key === "" || key === "*" || isDnsLabel(key)

/** The imported names, each with its part after a comma; reports the others. */
export const importsOf = (part: Located, { findings }: DomainPlace): ReadonlyArray<string> => {
  const one = (each: Located): ReadonlyArray<string> => {
    const fields = each.kind === "array" ? each.items : [each]
    const [first, selector] = fields
    if (first === undefined) {
      findings.error(each, "invalid", "is an empty list: the name to import is missing")
      return []
    }
    const name = findings.text(first, "a name in a text")
    if (name === undefined) return []
    if (!/^[a-z]+\/./.test(name.text)) {
      findings.error(first, "invalid", `${quoted(name.text)} is not a name as d/example or dd/example`)
      return []
    }
    const below = selector === undefined ? undefined : findings.text(selector, "a part of a domain in a text")
    return [below === undefined || below.text === "" ? name.text : `${below.text} of ${name.text}`]
  }
  if (part.kind === "array" && part.items.length > 1 && part.items.every(({ kind }) => kind === "text")) {
    const [, second] = part.items
    if (second?.kind === "text" && !second.text.includes("/")) {
      findings.warn(part, "unusual", "imports two names; for a part of one name write [[\"name\",\"part\"]]")
    }
  }
  return part.kind === "array" ? part.items.flatMap(one) : one(part)
}
