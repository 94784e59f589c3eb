import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import ICAL from "ical.js"
import { spawnSync } from "node:child_process"
import { nameLine, renewalCommand } from "../../../src/alerts/advice.ts"
import { mainnetParams, regtestParams } from "../../../src/consensus/params.ts"
import {
  CALENDAR_END,
  CALENDAR_HEAD,
  calendarEvent,
  type CalendarName,
  type CalendarTip,
  folded
} from "../../../src/web/events/calendarText.ts"
import { text } from "../../names/blocks.ts"

const TIP: CalendarTip = { params: mainnetParams, height: 830_000, time: Date.UTC(2026, 10, 26, 12) / 1_000 }

const entryOf = (name: Uint8Array, given: Partial<CalendarName> & { readonly height?: number } = {}): CalendarName => {
  const { height = 800_000, ...rest } = given
  return {
    record: {
      name,
      height,
      value: new Uint8Array(0),
      txid: new Uint8Array(32),
      vout: 0,
      address: new Uint8Array(0)
    },
    left: height + 36_000 - TIP.height,
    mine: true,
    renewed: false,
    ...rest
  }
}

const parsed = (entries: ReadonlyArray<CalendarName>, tip = TIP) => {
  const whole = CALENDAR_HEAD + entries.map((entry) => calendarEvent(entry, tip)).join("") + CALENDAR_END
  const calendar = new ICAL.Component(ICAL.parse(whole))
  return { whole, calendar, events: calendar.getAllSubcomponents("vevent").map((each) => new ICAL.Event(each)) }
}

/** Parts of names that have a meaning in iCalendar, in shells or on a screen. */
const HOSTILE = [
  "\r\nBEGIN:VEVENT\r\n",
  "\nEND:VCALENDAR\n",
  ",",
  ";",
  "\\",
  "\\n",
  ":",
  "\"",
  "'",
  "`touch x`",
  "$(id)",
  "\u202e",
  "\u0000",
  "\u2028",
  "€",
  "😀",
  "é"
]

const names = FastCheck.oneof(
  FastCheck.uint8Array({ minLength: 1, maxLength: 255 }),
  FastCheck.array(FastCheck.oneof(FastCheck.constantFrom(...HOSTILE), FastCheck.string()), { maxLength: 12 })
    .map((parts) => text(parts.join("")).subarray(0, 255))
)

describe("calendarEvent", () => {
  it.prop("gives one event for any name, which another parser reads, in lines of at most 75 octets", {
    name: names,
    mine: FastCheck.boolean(),
    renewed: FastCheck.boolean()
  }, ({ mine, name, renewed }) => {
    const { events, whole } = parsed([entryOf(name, { mine, renewed }), entryOf(text("d/other"))])
    assert.deepStrictEqual(events.map(({ summary }) => summary), [`${nameLine(name)} expires`, "d/other expires"])
    assert.include(events[0]?.description, nameLine(name))
    for (const line of whole.split("\r\n")) {
      assert.isAtMost(Buffer.byteLength(line), 75)
      assert.notMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u)
    }
  })

  it("is an all-day event on the estimated day, with an alarm for each notice", () => {
    const { events: [event] } = parsed([entryOf(text("d/example"))])
    assert.isTrue(event?.startDate.isDate)
    // 6,000 blocks of ten minutes: 41 days and 16 hours.
    assert.strictEqual(event?.startDate.toString(), "2027-01-07")
    assert.deepStrictEqual(
      event?.component.getAllSubcomponents("valarm").map((alarm) => String(alarm.getFirstPropertyValue("trigger"))),
      ["-P56D", "-P28D", "-P14D", "-P7D", "-P1D"]
    )
    assert.include(event?.description, "expires at block 836000, 6000 blocks after block 830000")
    assert.include(event?.description, `svcd-cli renew d/example`)
  })

  it("is the same event after a renewal, and a newer version of it", () => {
    const { events: [before] } = parsed([entryOf(text("d/example"))])
    const { events: [after] } = parsed([entryOf(text("d/example"), { height: 829_990 })])
    assert.strictEqual(after?.uid, before?.uid)
    assert.isAbove(after?.sequence ?? 0, before?.sequence ?? 0)
    assert.notStrictEqual(after?.startDate.toString(), before?.startDate.toString())
    const { events: [other] } = parsed([entryOf(text("d/examplf"))])
    assert.notStrictEqual(other?.uid, before?.uid)
    const { events: [test] } = parsed([entryOf(text("d/example"))], { ...TIP, params: regtestParams })
    assert.notStrictEqual(test?.uid, before?.uid)
    assert.strictEqual(
      String(test?.component.getFirstSubcomponent("valarm")?.getFirstPropertyValue("trigger")),
      "-PT160M"
    )
  })

  it("says what to do", () => {
    const said = (custody: Partial<CalendarName>) =>
      parsed([entryOf(text("d/a"), custody)]).events[0]?.description.split("\n")[1]
    assert.strictEqual(said({ mine: true }), `To renew it: svcd-cli renew d/a`)
    assert.match(
      String(said({ mine: true, renewed: true })),
      /^Its wallet renews it automatically about two weeks before/
    )
    assert.strictEqual(said({ mine: false }), "No wallet on this node owns the name. Its owner must renew it.")
  })
})

describe("folded", () => {
  it("breaks no character", () => {
    const line = `SUMMARY:${"😀€é".repeat(40)}`
    const parts = folded(line).split("\r\n")
    assert.isAbove(parts.length, 5)
    assert.strictEqual(folded(line).replaceAll("\r\n ", "").trimEnd(), line)
    for (const part of parts) assert.strictEqual(Buffer.from(part).toString(), part)
  })
})

describe("renewalCommand", () => {
  it("gives a shell the name and nothing else", () => {
    for (const name of [...HOSTILE.map((part) => text(`d/a${part}b`)), Uint8Array.of(0xff, 0x27), text("d/example")]) {
      const command = renewalCommand(name).replace("svcd-cli", `printf '%s\\n'`)
      const { stdout } = spawnSync("sh", ["-c", command], { encoding: "utf8" })
      const [method, list = "", ...rest] = stdout.trimEnd().split("\n")
      if (method === "renew") {
        assert.deepStrictEqual([list, rest], [Buffer.from(name).toString("latin1"), []])
        continue
      }
      assert.deepStrictEqual([method, list], ["-named", "name_renew"])
      const hex = Buffer.from(name).toString("hex")
      assert.deepStrictEqual(rest, [`names=["${hex}"]`, "options={\"nameEncoding\":\"hex\"}"])
    }
  })
})
