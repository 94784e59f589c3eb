import { createHmac, timingSafeEqual } from "node:crypto"
import { formatMailbox, type Mailbox } from "../../base/mailbox.ts"

/**
 * The Sender Rewriting Scheme. Receivers check with the sender's domain (SPF) whether this relay may send for it, and it
 * may not. So the relay sends from its own address, which contains the original one and returns bounces to it.
 * ```
 * a@one.example                      SRS0=hash=day=one.example=a@relay.example
 * SRS0=h=d=one.example=a@two.example SRS1=hash=two.example==h=d=one.example=a@relay.example
 * SRS1=h=two.example==…@three.example SRS1=hash=two.example==…@relay.example
 * ```
 *
 * The hash prevents strangers from forging such addresses; the day lets the addresses expire. Comparison ignores case,
 * because mail servers change it.
 */
export interface Srs {
  readonly secret: Uint8Array
  readonly domain: string
}

/** 40 bits: too many to try over SMTP in the days that an address is valid. */
const HASH_LENGTH = 8

/** Days are counted modulo this, in two characters. */
const DAYS = 1024

/** Days for which bounces are accepted. Servers give up after five. */
const VALID_DAYS = 21

/** Tolerance for clocks set back a little. */
const EARLY_DAYS = 1

const DAY_MS = 86_400_000

const DIGITS = "abcdefghijklmnopqrstuvwxyz234567"

const hash = ({ secret }: Srs, text: string): string => {
  const digest = createHmac("sha256", secret).update(text.toLowerCase(), "utf8").digest()
  return Array.from({ length: HASH_LENGTH }, (_, i) => DIGITS.charAt(digest.readUInt8(i) & 31)).join("")
}

const isHash = (srs: Srs, { given, text }: { readonly given: string; readonly text: string }): boolean => {
  const [a, b] = [Buffer.from(given.toLowerCase(), "utf8"), Buffer.from(hash(srs, text), "utf8")]
  return a.length === b.length && timingSafeEqual(a, b)
}

const dayOf = (now: number): number => Math.floor(now / DAY_MS) % DAYS

const encodeDay = (day: number): string => DIGITS.charAt(day >> 5) + DIGITS.charAt(day & 31)

/** Characters of an address literal that a local part cannot have without quotes; no domain has the others. */
const IN_LITERAL = ["[", "]", ":"]
const IN_LOCAL = ["{", "}", "~"]

const isLiteral = (domain: string): boolean => domain.startsWith("[") || domain.startsWith("{")

const exchanged = (domain: string, from: ReadonlyArray<string>, to: ReadonlyArray<string>): string =>
  isLiteral(domain) ? from.reduce((text, each, at) => text.replaceAll(each, to[at] ?? each), domain) : domain

/** To the form in a rewritten local part, and back. */
const toLocal = (domain: string): string => exchanged(domain, IN_LITERAL, IN_LOCAL)
const toDomain = (text: string): string => exchanged(text, IN_LOCAL, IN_LITERAL)

/** No part can contain the separator. */
const join = (...parts: ReadonlyArray<string>): string => parts.join("\n")

const SRS0 = /^SRS0(?<rest>[=+-].*)$/is
const SRS1 = /^SRS1[=+-](?<hash>[^=]*)=(?<host>[^=]*)=(?<rest>[=+-].*)$/is
const OWN_SRS0 = /^SRS0[=+-](?<hash>[^=]*)=(?<day>[^=]*)=(?<domain>[^=]*)=(?<local>.+)$/is

/** No label has an equals sign. */
export const isRewritten = (local: string): boolean => /^SRS[01]=/i.test(local)

/** `now`: milliseconds since 1970. */
export const rewriteSender = (srs: Srs, sender: Mailbox, now: number): Mailbox => {
  const first = ({ host, rest }: { readonly host: string; readonly rest: string }): Mailbox => ({
    local: `SRS1=${hash(srs, join(host, rest))}=${host}=${rest}`,
    domain: srs.domain
  })
  const again = SRS1.exec(sender.local)?.groups
  if (again !== undefined) return first({ host: again["host"] ?? "", rest: again["rest"] ?? "" })
  const once = SRS0.exec(sender.local)?.groups
  if (once !== undefined) return first({ host: toLocal(sender.domain), rest: once["rest"] ?? "" })
  const day = encodeDay(dayOf(now))
  const domain = toLocal(sender.domain)
  const proof = hash(srs, join(day, domain, sender.local))
  return { local: `SRS0=${proof}=${day}=${domain}=${sender.local}`, domain: srs.domain }
}

/** As text for the caller to validate; `undefined` for an address that is foreign, changed or expired. */
export const restoreSender = (srs: Srs, local: string, now: number): string | undefined => {
  const first = SRS1.exec(local)?.groups
  if (first !== undefined) {
    const { hash: given = "", host = "", rest = "" } = first
    return isHash(srs, { given, text: join(host, rest) })
      ? formatMailbox({ local: `SRS0${rest}`, domain: toDomain(host) })
      : undefined
  }
  const own = OWN_SRS0.exec(local)?.groups
  if (own === undefined) return undefined
  const { day = "", domain = "", hash: given = "", local: sender = "" } = own
  if (!isHash(srs, { given, text: join(day, domain, sender) }) || !isRecent(day, now)) return undefined
  return formatMailbox({ local: sender, domain: toDomain(domain) })
}

const isRecent = (day: string, now: number): boolean => {
  const [high, low] = [...day.toLowerCase()].map((digit) => DIGITS.indexOf(digit))
  if (high === undefined || low === undefined || high < 0 || low < 0) return false
  const age = (dayOf(now) - (high * 32 + low) + DAYS) % DAYS
  return age <= VALID_DAYS || age >= DAYS - EARLY_DAYS
}
