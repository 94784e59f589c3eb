import { grouped, TIME_UNITS } from "../base/quantities.ts"
import { shortAmount } from "../protocol/amount.ts"
import { type Html, html } from "./html.ts"

/** Times and hashes for display; numbers, spans and sizes: `base/quantities.ts`. */

/** Within which a moment is "now". */
export const NOW_SECONDS = 5

/** Made on use: a format takes milliseconds to load, which a start of the node need not spend. */
let relative: Intl.RelativeTimeFormat | undefined
let days: Intl.DateTimeFormat | undefined

/** In the largest unit that fits once: `3 min. ago`, `in 2 days`. */
export const distance = (seconds: number): string => {
  const length = Math.abs(seconds)
  if (length < NOW_SECONDS) return "now"
  const [unit, each] = TIME_UNITS.find(([, each]) => length >= each) ?? ["second", 1]
  relative ??= new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" })
  return relative.format(Math.trunc(seconds / each), unit)
}

/** The limit of dates, in seconds. */
const LAST_MOMENT = 8_640_000_000_000

const isoOf = (seconds: number): string => new Date(1000 * Math.min(Math.max(0, seconds), LAST_MOMENT)).toISOString()

/** `2026-11-21 18:39 UTC`. */
export const moment = (seconds: number): string => `${isoOf(seconds).slice(0, -8).replace("T", " ")} UTC`

/** For times not known to the minute: `21 Nov 2026`. */
export const day = (seconds: number): string => {
  days ??= new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" })
  return days.format(1000 * Math.min(Math.max(0, seconds), LAST_MOMENT))
}

/** Distance from now, with the date as a tooltip. Seconds since 1970. */
export const ago = (seconds: number, { now }: { readonly now: number }): Html =>
  html`<time datetime="${isoOf(seconds)}" title="${moment(seconds)}">${distance(seconds - now)}</time>`

/** Distance from now beside the date, since a phone has no tooltip. Seconds since 1970. */
export const dated = (seconds: number, { now }: { readonly now: number }): Html =>
  html`${ago(seconds, { now })} <span class="date">${moment(seconds)}</span>`

/** Expandable; a selection copies the whole hash. */
export const shortHash = (display: string): Html =>
  html`<code class="hash" title="${display}">${display.slice(0, 12)}…</code>`

/** `4.2 blocks/s`. */
export const rate = (perSecond: number): string =>
  `${perSecond >= 100 ? grouped(perSecond) : perSecond.toFixed(1)} blocks/s`

/** Converts a fee rate in smallest units per kvB to NMC per kvB, with up to three digits, rounded up. */
export const rateText = (feeRate: number): string => {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, feeRate))) - 2)
  return shortAmount(Math.ceil(feeRate / step) * step)
}

const SCALES = ["", " k", " M", " G", " T", " P"] as const

/** Three or four digits: `1.23 G`. */
export const difficultyText = (difficulty: number): string => {
  let value = difficulty
  let unit = 0
  while (value >= 10_000 && unit < SCALES.length - 1) {
    value /= 1000
    unit++
  }
  if (value < 10) return `${Number(value.toPrecision(3))}${SCALES[unit] ?? ""}`
  return `${value < 1000 ? Number(value.toPrecision(3)) : grouped(value)}${SCALES[unit] ?? ""}`
}
