import { nameLine, renewalAdvice } from "../../alerts/advice.ts"
import type { ExpiringName } from "../../alerts/expiring.ts"
import { expiryHeight } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { noticesOf } from "../../names/events/NameEvent.ts"
import { toHex } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import type { UnixTime } from "../../protocol/keys.ts"
import type { Height } from "../../protocol/keys.ts"

/** Expiring names as an iCalendar, RFC 5545 and 7986. */

export interface CalendarName extends ExpiringName {
  /** Whether a loaded wallet has it, and renews it automatically. */
  readonly mine: boolean
  readonly renewed: boolean
  /** Its wallet, if several are loaded. */
  readonly wallet?: string | undefined
}

/** All dates of a calendar follow from this block. */
export interface CalendarTip {
  readonly params: ConsensusParams
  readonly height: Height
  /** Time in the block header, in seconds since 1970. */
  readonly time: UnixTime
}

/** Octets without the line end. RFC 5545, 3.1. */
const LONGEST_LINE = 75

const utf8 = new TextEncoder()

/** Breaks no character. A continuation begins with a space. */
export const folded = (line: string): string => {
  let text = ""
  let octets = 0
  for (const character of line) {
    const length = utf8.encode(character).length
    if (octets + length > LONGEST_LINE) {
      text += "\r\n "
      octets = 1
    }
    text += character
    octets += length
  }
  return `${text}\r\n`
}

/** Type TEXT. RFC 5545, 3.3.11. */
export const calendarText = (text: string): string =>
  text.replace(/[\\;,]/g, (special) => `\\${special}`).replace(/\n/g, "\\n")

const DAY = 86_400

/** 2026-12-01T00:00:00Z as `20261201` or `20261201T000000Z`. RFC 5545, 3.3.4 and 3.3.5. */
const momentText = (time: UnixTime): string =>
  `${new Date(time * 1_000).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`
const dayText = (time: UnixTime): string => momentText(time).slice(0, 8)

const durationText = (seconds: number): string =>
  seconds % DAY === 0 ? `P${seconds / DAY}D` : `PT${Math.ceil(seconds / 60)}M`

const lines = (all: ReadonlyArray<string>): string => all.map(folded).join("")

/** Programs look for changes every six hours: the estimated days move slowly. */
export const CALENDAR_HEAD = lines([
  "BEGIN:VCALENDAR",
  "VERSION:2.0",
  "PRODID:-//svcd//names that expire//EN",
  "CALSCALE:GREGORIAN",
  "METHOD:PUBLISH",
  "NAME:Expiring names",
  "X-WR-CALNAME:Expiring names",
  "REFRESH-INTERVAL;VALUE=DURATION:PT6H",
  "X-PUBLISHED-TTL:PT6H"
])

export const CALENDAR_END = lines(["END:VCALENDAR"])

/** The same on each node and at each height: a renewal moves the event. */
const uidOf = ({ record: { name } }: CalendarName, { params }: CalendarTip): string =>
  `${toHex(sha256(name).subarray(0, 20))}.${params.network.name}@names.svcd`

const alarm = (summary: string, seconds: number): ReadonlyArray<string> => [
  "BEGIN:VALARM",
  "ACTION:DISPLAY",
  `DESCRIPTION:${summary}`,
  `TRIGGER:-${durationText(seconds)}`,
  "END:VALARM"
]

/** On the estimated day of the expiry in UTC, with an alarm per notice. */
export const calendarEvent = (entry: CalendarName, tip: CalendarTip): string => {
  const { left, record: { height, name } } = entry
  const { params } = tip
  const shown = nameLine(name)
  const summary = calendarText(`${shown} expires`)
  const description = [
    `The name ${shown} expires at block ${expiryHeight(height, params)}, ${left} blocks after block ${tip.height}, ` +
    `unless it is renewed before. Its last operation is in block ${height}.`,
    renewalAdvice(name, entry),
    "The day is an estimate at ten minutes per block, so renew the name well before it."
  ].join("\n")
  return lines([
    "BEGIN:VEVENT",
    `UID:${uidOf(entry, tip)}`,
    // A program compares the sequence, then the stamp: a renewal, or a better estimate, is newer.
    `SEQUENCE:${height}`,
    `DTSTAMP:${momentText(tip.time)}`,
    `DTSTART;VALUE=DATE:${dayText(tip.time + left * params.targetSpacing)}`,
    `SUMMARY:${summary}`,
    `DESCRIPTION:${calendarText(description)}`,
    "TRANSP:TRANSPARENT",
    ...noticesOf(params).flatMap((blocks) => alarm(summary, blocks * params.targetSpacing)),
    "END:VEVENT"
  ])
}
