import { createHmac, timingSafeEqual } from "node:crypto"
import { formatMailbox, type Mailbox } from "./mailbox.ts"

/**
 * The Sender Rewriting Scheme. A receiver asks the sender's domain (SPF) whether this relay may send for it, and it
 * may not: so the relay puts an address of its own in place, which holds the first one and sends bounces back to it.
 *
 * ```
 * a@one.example                      SRS0=hash=day=one.example=a@relay.example
 * SRS0=h=d=one.example=a@two.example SRS1=hash=two.example==h=d=one.example=a@relay.example
 * SRS1=h=two.example==…@three.example SRS1=hash=two.example==…@relay.example
 * ```
 *
 * The hash keeps strangers from writing such addresses themselves, the day lets them end. Text in them is compared
 * without regard to case: mail servers change it.
 */
export interface Srs {
  readonly secret: Uint8Array
  /** The domain of rewritten addresses. */
  readonly domain: string
}

/** Characters of the hash: 40 bits, which nobody tries out over SMTP in the days that an address lasts. */
const HASH_LENGTH = 8

/** Days are counted modulo this, in two characters. */
const DAYS = 1024

/** How long after a message its bounce is still taken, in days. Servers give up after five. */
const VALID_DAYS = 21

/** Clocks are set back a little now and then. */
const EARLY_DAYS = 1

const DAY_MS = 86_400_000

const DIGITS = "abcdefghijklmnopqrstuvwxyz234567"

const hash = ({ secret }: Srs, text: string): string => {
  const digest = createHmac("sha256", secret).update(text.toLowerCase(), "utf8").digest()
  return Array.from({ length: HASH_LENGTH }, (_, i) => DIGITS.charAt(digest.readUInt8(i) & 31)).join("")
}

const isHash = (srs: Srs, given: string, text: string): boolean => {
  const [a, b] = [Buffer.from(given.toLowerCase(), "utf8"), Buffer.from(hash(srs, text), "utf8")]
  return a.length === b.length && timingSafeEqual(a, b)
}

const dayOf = (now: number): number => Math.floor(now / DAY_MS) % DAYS

const encodeDay = (day: number): string => DIGITS.charAt(day >> 5) + DIGITS.charAt(day & 31)

/** The hashed parts are joined by what cannot be in any of them. */
const join = (...parts: ReadonlyArray<string>): string => parts.join("\n")

const SRS0 = /^SRS0(?<rest>[=+-].*)$/is
const SRS1 = /^SRS1[=+-](?<hash>[^=]*)=(?<host>[^=]*)=(?<rest>[=+-].*)$/is
const OWN_SRS0 = /^SRS0[=+-](?<hash>[^=]*)=(?<day>[^=]*)=(?<domain>[^=]*)=(?<local>.+)$/is

/** Whether a local part is written as an address that this relay made. No label has an equals sign. */
export const isRewritten = (local: string): boolean => /^SRS[01]=/i.test(local)

/** Returns the address that stands for `sender` in forwarded mail. `now`: milliseconds since 1970. */
export const rewriteSender = (srs: Srs, sender: Mailbox, now: number): Mailbox => {
  const first = (host: string, rest: string): Mailbox => ({
    local: `SRS1=${hash(srs, join(host, rest))}=${host}=${rest}`,
    domain: srs.domain
  })
  const again = SRS1.exec(sender.local)?.groups
  if (again !== undefined) return first(again["host"] ?? "", again["rest"] ?? "")
  const once = SRS0.exec(sender.local)?.groups
  if (once !== undefined) return first(sender.domain, once["rest"] ?? "")
  const day = encodeDay(dayOf(now))
  const proof = hash(srs, join(day, sender.domain, sender.local))
  return { local: `SRS0=${proof}=${day}=${sender.domain}=${sender.local}`, domain: srs.domain }
}

/**
 * Returns whom a bounce to a rewritten address is for, as text that is yet to be checked as an address; `undefined`
 * where the address is not ours, was tampered with or has ended.
 */
export const restoreSender = (srs: Srs, local: string, now: number): string | undefined => {
  const first = SRS1.exec(local)?.groups
  if (first !== undefined) {
    const { hash: given = "", host = "", rest = "" } = first
    return isHash(srs, given, join(host, rest)) ? formatMailbox({ local: `SRS0${rest}`, domain: host }) : undefined
  }
  const own = OWN_SRS0.exec(local)?.groups
  if (own === undefined) return undefined
  const { day = "", domain = "", hash: given = "", local: sender = "" } = own
  if (!isHash(srs, given, join(day, domain, sender)) || !isRecent(day, now)) return undefined
  return formatMailbox({ local: sender, domain })
}

const isRecent = (day: string, now: number): boolean => {
  const [high, low] = [...day.toLowerCase()].map((digit) => DIGITS.indexOf(digit))
  if (high === undefined || low === undefined || high < 0 || low < 0) return false
  const age = (dayOf(now) - (high * 32 + low) + DAYS) % DAYS
  return age <= VALID_DAYS || age >= DAYS - EARLY_DAYS
}
