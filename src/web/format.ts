import { type Html, html } from "./html.ts"

/** Numbers and times for display. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 })

/** `12,345`. */
export const count = (value: number): string => whole.format(value)

export const counted = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const

/** `1.2 MB`; thousands, not 1024s. */
export const size = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit] ?? ""}`
}

/** Units of time in seconds, the longest first. The script of the pages uses the same. */
export const TIME_UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1]
] as const

/** Seconds within which a moment is "now". */
export const NOW_SECONDS = 5

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" })

/** The distance of a moment from now, in the largest unit that fits once: `3 min. ago`, `in 2 days`. */
export const distance = (seconds: number): string => {
  const length = Math.abs(seconds)
  if (length < NOW_SECONDS) return "now"
  const [unit, each] = TIME_UNITS.find(([, each]) => length >= each) ?? ["second", 1]
  return relative.format(Math.trunc(seconds / each), unit)
}

const long = (value: number, unit: string): string => counted(value, unit)

/** A duration, in its two largest units: `2 hours 5 minutes`. */
export const duration = (seconds: number): string => {
  let left = Math.max(0, Math.round(seconds))
  const parts: Array<string> = []
  for (const [unit, each] of TIME_UNITS) {
    const value = Math.floor(left / each)
    if (value > 0) parts.push(long(value, unit))
    else if (parts.length > 0) break
    left -= value * each
    if (parts.length === 2) break
  }
  return parts.length === 0 ? "0 seconds" : parts.join(" ")
}

/** The largest moment that a date can hold, in seconds. */
const LAST_MOMENT = 8_640_000_000_000

const isoOf = (seconds: number): string => new Date(1000 * Math.min(Math.max(0, seconds), LAST_MOMENT)).toISOString()

/** `2026-11-21 18:39 UTC`. */
export const moment = (seconds: number): string => `${isoOf(seconds).slice(0, -8).replace("T", " ")} UTC`

const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })

/** A day, for times that are not known to the minute: `21 Nov 2026`. */
export const day = (seconds: number): string => days.format(1000 * Math.min(Math.max(0, seconds), LAST_MOMENT))

/** A moment as its distance from now, with the date as a tooltip. Seconds since 1970. */
export const ago = (seconds: number, { now }: { readonly now: number }): Html =>
  html`<time datetime="${isoOf(seconds)}" title="${moment(seconds)}">${distance(seconds - now)}</time>`

/** A moment as its distance from now, and its date beside it: a phone has no tooltip. Seconds since 1970. */
export const dated = (seconds: number, { now }: { readonly now: number }): Html =>
  html`${ago(seconds, { now })} <span class="date">${moment(seconds)}</span>`

/** The start of a hash or a txid, expandable; a selection copies all of it. */
export const shortHash = (display: string): Html =>
  html`<code class="hash" title="${display}">${display.slice(0, 12)}…</code>`

/** `4.2 blocks/s`. */
export const rate = (perSecond: number): string =>
  `${perSecond >= 100 ? count(perSecond) : perSecond.toFixed(1)} blocks/s`
