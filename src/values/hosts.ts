import type { Bytes } from "../protocol/bytes.ts"

/** Addresses and host names in values, and their canonical forms, by which they are found. */

const ZERO = 0x30
const DOT = 0x2e

/** The 4 bytes of an IPv4 address: dotted decimal without leading zeros (IFA-0001, "ip"). */
export const ipv4Bytes = (text: string): Bytes | undefined => {
  const bytes = new Uint8Array(4)
  let [parts, digits, value] = [0, 0, 0]
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? DOT : text.charCodeAt(at)
    if (code === DOT) {
      if (digits === 0 || parts === 4) return undefined
      bytes[parts++] = value
      digits = value = 0
    } else {
      const digit = code - ZERO
      if (digit < 0 || digit > 9 || (digits > 0 && value === 0)) return undefined
      digits++
      value = 10 * value + digit
      if (value > 255) return undefined
    }
  }
  return parts === 4 ? bytes : undefined
}

export const isIpv4Text = (text: string): boolean => ipv4Bytes(text) !== undefined

const GROUP = /^[0-9a-f]{1,4}$/i

/** At the end of an IPv6 address, an IPv4 address may replace two groups. */
const groupsOf = (part: string, isEnd: boolean): ReadonlyArray<number> | undefined => {
  if (part === "") return []
  const pieces = part.split(":")
  const groups: Array<number> = []
  for (const [at, piece] of pieces.entries()) {
    if (isEnd && at === pieces.length - 1 && isIpv4Text(piece)) {
      const [a = 0, b = 0, c = 0, d = 0] = piece.split(".").map(Number)
      groups.push(a * 256 + b, c * 256 + d)
    } else if (GROUP.test(piece)) groups.push(Number.parseInt(piece, 16))
    else return undefined
  }
  return groups
}

const eightGroups = (text: string): ReadonlyArray<number> | undefined => {
  if (text.length > 45) return undefined
  const halves = text.split("::")
  const [front = "", back] = halves
  if (halves.length > 2) return undefined
  const before = groupsOf(front, back === undefined)
  const after = groupsOf(back ?? "", true)
  if (before === undefined || after === undefined) return undefined
  const missing = 8 - before.length - after.length
  if (back === undefined ? missing !== 0 : missing < 1) return undefined
  return [...before, ...Array.from({ length: missing }, () => 0), ...after]
}

const shortest = (groups: ReadonlyArray<number>): string => {
  let run = { from: 0, length: 0 }
  for (let from = 0; from < groups.length; from++) {
    let length = 0
    while (groups[from + length] === 0) length++
    if (length > run.length) run = { from, length }
  }
  const hex = (part: ReadonlyArray<number>) => part.map((group) => group.toString(16)).join(":")
  return run.length < 2
    ? hex(groups)
    : `${hex(groups.slice(0, run.from))}::${hex(groups.slice(run.from + run.length))}`
}

/** The shortest form (RFC 5952), or `undefined` for any other text. */
export const canonicalIpv6 = (text: string): string | undefined => {
  const groups = eightGroups(text)
  return groups === undefined ? undefined : shortest(groups)
}

/** The 16 bytes of an IPv6 address. */
export const ipv6Bytes = (text: string): Bytes | undefined => {
  const groups = eightGroups(text)
  if (groups === undefined) return undefined
  const bytes = new Uint8Array(16)
  let at = 0
  for (const group of groups) {
    bytes[at++] = group >> 8
    bytes[at++] = group
  }
  return bytes
}

/** The shortest form of 16 bytes. */
export const ipv6Text = (address: Bytes): string =>
  shortest(Array.from({ length: 8 }, (_, at) => (address[2 * at] ?? 0) * 256 + (address[2 * at + 1] ?? 0)))

const LABEL = /^(?:[a-z0-9_]|[a-z0-9_][a-z0-9_-]{0,61}[a-z0-9_])$/

export const isDnsLabel = (label: string): boolean => LABEL.test(label)

/** Characters without the dot at the end; 255 bytes on the wire (RFC 1035, section 2.3.4). */
export const LONGEST_HOST = 253

/** A DNS name in lower case, with or without a dot at the end. */
export const isDnsName = (name: string): boolean => {
  const bare = name.endsWith(".") ? name.slice(0, -1) : name
  return bare.length <= LONGEST_HOST && bare.split(".").every(isDnsLabel)
}

const ONION = /^(?:[a-z2-7]{16}|[a-z2-7]{56})\.onion$/

/** In lower case, without a dot at the end; `undefined` for any other text. */
export const canonicalOnion = (text: string): string | undefined => {
  const host = text.toLowerCase().replace(/\.$/, "")
  return ONION.test(host) ? host : undefined
}

const PUBLIC_KEY = /^[0-9a-f]{64}$/

/** As nostr writes it: 64 hex digits in lower case. */
export const isNostrKey = (text: string): boolean => PUBLIC_KEY.test(text)

const ATOM = "[A-Za-z0-9#$&'*+/=?^_`{}~\\u00a0-\\u{10ffff}-]+"
const LOCAL = new RegExp(`^(?!-)${ATOM}(?:\\.${ATOM})*$`, "u")
const HIDDEN = /[\p{C}\p{Z}]/u
const MAIL_LABEL = "[a-z0-9\\u0080-\\u{10ffff}](?:[a-z0-9\\u0080-\\u{10ffff}-]{0,61}[a-z0-9\\u0080-\\u{10ffff}])?"
const MAIL_DOMAIN = new RegExp(`^${MAIL_LABEL}(?:\\.${MAIL_LABEL})*\\.(?!\\d+$)${MAIL_LABEL}$`, "iu")

const utf8Length = (text: string): number => new TextEncoder().encode(text).length

/**
 * Whether svcd-mail can forward to an address (`mail/address.ts` decides; domains beyond ASCII are not checked here).
 */
export const isMailAddress = (text: string): boolean => {
  const at = text.lastIndexOf("@")
  const local = text.slice(0, Math.max(0, at))
  const domain = text.slice(at + 1)
  return at > 0 && utf8Length(local) <= 64 && utf8Length(text) <= 254 && LOCAL.test(local) && !HIDDEN.test(text) &&
    domain.length <= 253 && MAIL_DOMAIN.test(domain)
}
