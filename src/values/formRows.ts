import { quoted } from "../base/safeText.ts"
import { decodeBase64, encodeBase64 } from "../protocol/base64.ts"
import { fromHex, isHex, toHex } from "../protocol/bytes.ts"
import { canonicalIpv6, canonicalOnion, isDnsName, isIpv4Text } from "./hosts.ts"
import { jsonText } from "./jsonTree.ts"
import type { Located } from "./locatedJson.ts"

/** Lines of a form and their JSON. A line looks like the same record in DNS tools. */

export type LineWritten = { readonly json: string } | { readonly wrong: string }

const wrong = (message: string): LineWritten => ({ wrong: message })

/** Whether a form can show a text on one line and get it back unchanged. */
export const isLine = (text: string): boolean =>
  text !== "" && text.trim() === text && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)

export const lineOfText = (part: Located): string | undefined =>
  part.kind === "text" && isLine(part.text) ? part.text : undefined

export const writeText = (line: string): LineWritten =>
  isLine(line)
    ? { json: jsonText(line) }
    : wrong("has a character that cannot be seen, such as one that turns the text")

export const addressItem = (line: string): "ip" | "ip6" | undefined =>
  isIpv4Text(line) ? "ip" : canonicalIpv6(line) === undefined ? undefined : "ip6"

/** A name with dots is complete, and gets a dot at its end. */
export const writeHost = (line: string): LineWritten => {
  const host = line.toLowerCase()
  if (isIpv4Text(host) || canonicalIpv6(host) !== undefined) {
    return wrong("is an address, but must be a host name")
  }
  if (host === "@") return { json: "\"@\"" }
  if (!isDnsName(host.endsWith(".@") ? host.slice(0, -2) : host)) {
    return wrong(`${quoted(line)} is not the name of a host, as ns1.example.org is`)
  }
  return { json: jsonText(host.includes(".") && !host.endsWith(".") && !host.endsWith(".@") ? `${host}.` : host) }
}

export const writeOnion = (line: string): LineWritten => {
  const host = canonicalOnion(line)
  if (host === undefined) {
    return wrong(`${quoted(line)} is not the address of an onion service: 56 characters and .onion`)
  }
  return { json: jsonText(host) }
}

const wholeIn = (part: Located | undefined, most: number): number | undefined =>
  part?.kind === "number" && Number.isInteger(part.value) && part.value >= 0 && part.value <= most
    ? part.value
    : undefined

/** Three numbers and bytes of a record, as `12345 8 2 ab01…`. */
export const recordLine = (row: Located): string | undefined => {
  if (row.kind !== "array" || row.items.length !== 4) return undefined
  const [first, second, third, data] = row.items
  const numbers = [wholeIn(first, 65_535), wholeIn(second, 255), wholeIn(third, 255)]
  const bytes = data?.kind === "text" ? decodeBase64(data.text) : undefined
  if (numbers.includes(undefined) || bytes === undefined || bytes.length === 0) return undefined
  return `${numbers.join(" ")} ${toHex(bytes)}`
}

const digits = (text: string | undefined, most: number): number | undefined =>
  text !== undefined && /^\d{1,5}$/.test(text) && Number(text) <= most ? Number(text) : undefined

/** In hexadecimal digits, as in DNS, or in base64, as in values. */
const bytesOf = (text: string): Uint8Array | undefined => isHex(text) ? fromHex(text) : decodeBase64(text)

const record = (line: string, { first, form }: { readonly first: number; readonly form: string }): LineWritten => {
  const [one, two, three, ...data] = line.split(/\s+/)
  const numbers = [digits(one, first), digits(two, 255), digits(three, 255)]
  const bytes = bytesOf(data.join(""))
  if (numbers.includes(undefined) || bytes === undefined || bytes.length === 0) return wrong(`has to be ${form}`)
  return { json: `[${numbers.join(",")},${jsonText(encodeBase64(bytes))}]` }
}

const DS_FORM = "four parts: key tag, algorithm, digest type, and the digest in hexadecimal digits"

export const writeDs = (line: string): LineWritten =>
  record(line.replace(/^.*\sDS\s+/i, ""), { first: 65_535, form: DS_FORM })

/** Keys below `map`: the protocol, and below that the port. */
export interface TlsPlace {
  readonly protocol: "_tcp" | "_udp"
  readonly port: string
}

export interface TlsLine extends TlsPlace {
  readonly written: LineWritten
}

const TLS_FORM = "a port, and then usage, selector, matching type, and data in hexadecimal digits"

/** Reads `443 3 1 1 ab01…` or `853/udp 3 1 1 ab01…`, or a line of a zone file. */
export const writeTls = (line: string): TlsLine => {
  const zone = /^_(\d{1,5})\._(tcp|udp)\S*\s.*\bTLSA\s+(.*)$/i.exec(line)
  const plain = /^(\d{1,5})(?:\/(tcp|udp))?\s+(.*)$/i.exec(line)
  const [, port = "", protocol = "tcp", rest = ""] = zone ?? plain ?? []
  const place: TlsPlace = { protocol: protocol.toLowerCase() === "udp" ? "_udp" : "_tcp", port: `_${Number(port)}` }
  const number = digits(port, 65_535)
  if (number === undefined || number === 0) return { ...place, written: wrong(`has to be ${TLS_FORM}`) }
  return { ...place, written: record(rest, { first: 3, form: TLS_FORM }) }
}

export const tlsLine = (row: Located, { port, protocol }: TlsPlace): string | undefined => {
  const data = recordLine(row)
  const first = row.kind === "array" ? wholeIn(row.items[0], 3) : undefined
  return data === undefined || first === undefined
    ? undefined
    : `${port.slice(1)}${protocol === "_udp" ? "/udp" : ""} ${data}`
}

/** Other rows of `_smtp._tcp` are not mail servers (IFA-0001, MX). */
const SMTP_PORT = 25

/** `10 mail.example.org.`: a value has MX records as SRV of port 25. */
export const mailLine = (row: Located): string | undefined => {
  if (row.kind !== "array" || row.items.length !== 4) return undefined
  const [priority, weight, port, host] = row.items
  const name = host === undefined ? undefined : lineOfText(host)
  const order = wholeIn(priority, 65_535)
  const isMail = wholeIn(weight, 0) === 0 && wholeIn(port, SMTP_PORT) === SMTP_PORT
  return order === undefined || !isMail || name === undefined || /\s/.test(name) ? undefined : `${order} ${name}`
}

const DEFAULT_PRIORITY = "10"

export const writeMail = (line: string): LineWritten => {
  const words = line.split(/\s+/)
  const [priority, host] = words.length === 1 ? [DEFAULT_PRIORITY, line] : words
  const order = digits(priority, 65_535)
  if (order === undefined || host === undefined || words.length > 2) {
    return wrong("has to be a priority and the name of a host, as 10 mail.example.org")
  }
  const written = writeHost(host)
  // A label alone would lead below `_tcp`: "mail" to mail._tcp.NAME.bit.
  if (!("wrong" in written) && !/[.@]/.test(host)) {
    return wrong(
      `${
        quoted(host)
      } is not a whole host name: write ${order} mail.example.org, or ${order} ${host}.@ for a host below this domain`
    )
  }
  return "wrong" in written ? written : { json: `[${order},0,${SMTP_PORT},${written.json}]` }
}
