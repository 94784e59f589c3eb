import { quoted } from "../base/safeText.ts"
import { decodeBase64 } from "../protocol/base64.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { Findings } from "./findings.ts"
import { canonicalIpv6, ipv4Bytes, ipv6Bytes, isDnsName, isIpv4Text } from "./hosts.ts"
import { locBytes } from "./loc.ts"
import { type Located, type LocatedArray, type LocatedText, memberOf } from "./locatedJson.ts"
import { opaqueData } from "./opaqueData.ts"
import type { HostText, RecordData } from "./records.ts"

/**
 * The items of a domain's value that become DNS records (Domain Name Specification, IFA-0001 and IFA-0003 of
 * namecoin/proposals). Each reader reports invalid records and returns the others.
 */

export interface DomainPlace {
  readonly findings: Findings
  /** With a dot at the end: `www.example.bit.`. */
  readonly owner: HostText
  /** Completes a name without a dot at its end. */
  readonly origin: HostText
  readonly apex: HostText
}

/** Completes a DNS name with its origin; `undefined` for an invalid one. */
const absoluteName = (text: string, { apex, origin }: DomainPlace): HostText | undefined => {
  const lower = text.toLowerCase()
  if (lower === "@") return apex
  const whole = lower.endsWith(".")
    ? lower
    : lower.endsWith(".@")
    ? `${lower.slice(0, -1)}${apex}`
    : lower === ""
    ? origin
    : `${lower}.${origin}`
  return isDnsName(whole) ? whole : undefined
}

const named = (part: LocatedText, place: DomainPlace): HostText | undefined => {
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

/** The target of a service. `.` alone: there is none (RFC 2782, RFC 7505). */
const targetIn = (part: Located | undefined, place: DomainPlace): HostText | undefined => {
  const text = part === undefined ? undefined : place.findings.text(part, "a host name as text")
  if (text === undefined) return undefined
  return text.text === "." ? "." : named(text, place)
}

type ItemReader = (part: Located, place: DomainPlace) => ReadonlyArray<RecordData>

const ip: ItemReader = (part, { findings }) =>
  findings.texts(part, "an IPv4 address as text").flatMap((each) => {
    const address = ipv4Bytes(each.text)
    if (address !== undefined) return [{ type: "A", address }]
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
  findings.texts(part, "an IPv6 address as text").flatMap((each) => {
    const address = ipv6Bytes(each.text)
    if (address !== undefined) return [{ type: "AAAA", address }]
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
  const text = place.findings.text(part, "a host name as text")
  const name = text === undefined ? undefined : named(text, place)
  if (name !== undefined && name === place.owner) {
    place.findings.error(part, "invalid", "means this name itself")
    return []
  }
  return name === undefined ? [] : [{ type, target: name }]
}

const ns: ItemReader = (part, place) =>
  place.findings.texts(part, "the host name of a name server as text").flatMap((each) => {
    const name = named(each, place)
    return name === undefined ? [] : [{ type: "NS", target: name }]
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

const bytesIn = (part: Located | undefined, { findings }: DomainPlace): Bytes | undefined => {
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
  readonly bytes: Bytes
  /** Bytes by kind. */
  readonly sizes: Readonly<Record<number, number>>
  readonly kind: number
}

/** Whether there are bytes: a zone file cannot show a record without them. Any other length is the owner's choice. */
const isFilled = ({ bytes, kind, part, sizes }: Fingerprint, { findings }: DomainPlace): boolean => {
  const size = sizes[kind]
  if (part !== undefined && bytes.length === 0) findings.error(part, "invalid", "is empty: the record needs bytes")
  else if (size !== undefined && part !== undefined && size !== bytes.length) {
    findings.warn(part, "unusual", `has ${bytes.length} bytes; a hash of type ${kind} has ${size}`)
  }
  return bytes.length > 0
}

const DS_SIZES: Readonly<Record<number, number>> = { 1: 20, 2: 32, 4: 48 }

const ds: ItemReader = (part, place) =>
  rowsOf(part, place, 4).flatMap(({ items }) => {
    const [keyTag, algorithm, digestType, digest] = [
      numberIn(items[0], place, TWO_BYTES),
      numberIn(items[1], place, BYTE),
      numberIn(items[2], place, BYTE),
      bytesIn(items[3], place)
    ]
    if (keyTag === undefined || algorithm === undefined || digestType === undefined || digest === undefined) return []
    return isFilled({ part: items[3], bytes: digest, sizes: DS_SIZES, kind: digestType }, place)
      ? [{ type: "DS", keyTag, algorithm, digestType, digest }]
      : []
  })

const srv: ItemReader = (part, place) =>
  rowsOf(part, place, 4).flatMap(({ items }) => {
    const [priority, weight, port] = items.map((each, at) => at < 3 ? numberIn(each, place, TWO_BYTES) : undefined)
    const target = targetIn(items[3], place)
    return priority === undefined || weight === undefined || port === undefined || target === undefined
      ? []
      : [{ type: "SRV", priority, weight, port, target }]
  })

const mx: ItemReader = (part, place) =>
  rowsOf(part, place, 2).flatMap(({ items }) => {
    const preference = numberIn(items[0], place, TWO_BYTES)
    const target = targetIn(items[1], place)
    return preference === undefined || target === undefined ? [] : [{ type: "MX", preference, target }]
  })

const TLSA_SIZES: Readonly<Record<number, number>> = { 1: 32, 2: 64 }

const tlsaOf = (row: LocatedArray, place: DomainPlace): ReadonlyArray<RecordData> => {
  const { items } = row
  if (items.length < 4) {
    place.findings.error(row, "invalid", `has ${items.length} values, and needs 4`)
    return []
  }
  const [usage, selector, matchingType] = items.map((each, at) => at < 3 ? numberIn(each, place, BYTE) : undefined)
  const data = bytesIn(items[3], place)
  if (usage === undefined || selector === undefined || matchingType === undefined || data === undefined) return []
  if (usage > 3) place.findings.warn(row, "unusual", `has the usage ${usage}; DANE has 0 to 3`)
  return isFilled({ part: items[3], bytes: data, sizes: TLSA_SIZES, kind: matchingType }, place)
    ? [{ type: "TLSA", usage, selector, matchingType, data }]
    : []
}

/** A certificate in six values (IFA-0003). ncdns makes a TLSA record from it, svcd does not. */
const checkDehydrated = (part: Located, place: DomainPlace): void => {
  const { findings } = place
  if (part.kind !== "array" || part.items.length < 6) {
    return findings.error(part, "invalid", "has to be a list of six values")
  }
  const [version, key, from, to, algorithm, signature] = part.items
  if (version?.kind !== "number" || version.value !== 1) {
    return findings.error(
      version ?? part,
      "invalid",
      "is not a version of a certificate that programs know: they know 1"
    )
  }
  const valid = bytesIn(key, place) !== undefined && bytesIn(signature, place) !== undefined &&
    [from, to, algorithm].every((each) => numberIn(each, place, Number.MAX_SAFE_INTEGER) !== undefined)
  if (valid) findings.warn(part, "unusual", "gives no TLSA record: write the record itself, as a list or in dane")
}

const tlsItem = (row: Located, place: DomainPlace): ReadonlyArray<RecordData> => {
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
  if (d8 !== undefined) checkDehydrated(d8, place)
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

const UTF8 = new TextEncoder()

const pieces = (bytes: Bytes): ReadonlyArray<Bytes> =>
  bytes.length <= MAX_TXT
    ? [bytes]
    : Array.from(
      { length: Math.ceil(bytes.length / MAX_TXT) },
      (_, at) => bytes.subarray(at * MAX_TXT, (at + 1) * MAX_TXT)
    )

const txt: ItemReader = (part, { findings }) => {
  const one = (each: Located): ReadonlyArray<RecordData> => {
    if (each.kind === "text") return [{ type: "TXT", strings: pieces(UTF8.encode(each.text)) }]
    if (each.kind !== "array") {
      findings.wrongType(each, "a text, or a list of texts")
      return []
    }
    const texts = each.items.flatMap((item) => findings.text(item, "a text") ?? [])
    const strings = texts.map(({ text }) => UTF8.encode(text))
    const long = texts[strings.findIndex(({ length }) => length > MAX_TXT)]
    if (long !== undefined) findings.error(long, "too-long", `has more than ${MAX_TXT} bytes`)
    return long !== undefined || texts.length < each.items.length || texts.length === 0
      ? []
      : [{ type: "TXT", strings }]
  }
  return part.kind === "array" ? part.items.flatMap(one) : one(part)
}

const loc: ItemReader = (part, { findings }) =>
  findings.texts(part, "a location as text").flatMap((each) => {
    const data = locBytes(each.text)
    if (data !== undefined) return [{ type: "LOC", data }]
    findings.error(each, "invalid", `${quoted(each.text)} is not a location in the form of RFC 1876`)
    return []
  })

const SSHFP_SIZES: Readonly<Record<number, number>> = { 1: 20, 2: 32 }

const sshfp: ItemReader = (part, place) =>
  rowsOf(part, place, 3).flatMap((row) => {
    const [first, second, third] = row.items
    const [algorithm, fingerprintType] = [numberIn(first, place, BYTE), numberIn(second, place, BYTE)]
    const fingerprint = bytesIn(third, place)
    if (algorithm === undefined || fingerprintType === undefined || fingerprint === undefined) return []
    // BIND refuses a zone with another length.
    if (fingerprint.length === (SSHFP_SIZES[fingerprintType] ?? Math.max(1, fingerprint.length))) {
      return [{ type: "SSHFP", algorithm, fingerprintType, fingerprint }]
    }
    place.findings.error(
      row,
      "invalid",
      `has ${fingerprint.length} bytes, wrong for a fingerprint of type ${fingerprintType}`
    )
    return []
  })

const opaque: ItemReader = (part, place) =>
  rowsOf(part, place, 2).flatMap((row) => {
    const [first, second] = row.items
    const number = numberIn(first, place, TWO_BYTES)
    const text = second === undefined ? undefined : place.findings.text(second, "bytes in base64")
    const bytes = text === undefined ? undefined : decodeBase64(text.text)
    if (text !== undefined && bytes === undefined) place.findings.error(text, "invalid", "is not base64")
    if (number === undefined || bytes === undefined) return []
    const data = opaqueData(number, bytes)
    if (data !== undefined) return [{ type: "opaque", number, data }]
    place.findings.error(row, "invalid", `is not a record that a value can have as bytes: type ${number}`)
    return []
  })

/** By item, without `dns`: see `DomainLevel`. */
export const DNS_ITEMS: ReadonlyMap<string, ItemReader> = new Map([
  ["ip", ip],
  ["ip6", ip6],
  ["alias", hostOf("CNAME")],
  ["translate", hostOf("DNAME")],
  ["ns", ns],
  ["ds", ds],
  ["srv", srv],
  ["mx", mx],
  ["tls", tls],
  ["txt", txt],
  ["loc", loc],
  ["sshfp", sshfp],
  ["o", opaque]
])
