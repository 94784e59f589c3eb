import { assert, describe, it } from "@effect/vitest"
import { dueNotices, noticeAt, type Subject, type Told } from "../../src/alerts/notices.ts"
import { paramsOf } from "../../src/consensus/params.ts"
import { noticesOf } from "../../src/names/events/NameEvent.ts"
import { networks } from "../../src/protocol/networks.ts"
import { text } from "../names/blocks.ts"

const params = paramsOf(networks.mainnet)
const notices = noticesOf(params)
const TIP = 800_000

const subject = (left: number, more: Partial<Subject> = {}): Subject => ({
  record: {
    name: text("d/a"),
    value: text(""),
    height: TIP + left - 36_000,
    txid: new Uint8Array(32),
    vout: 0,
    address: text("a")
  },
  left,
  mine: false,
  pending: false,
  renewed: false,
  ...more
})

const due = (told: ReadonlyArray<Told>, ...subjects: ReadonlyArray<Subject>) =>
  dueNotices(told, subjects, { clock: { params, tipHeight: TIP }, notices })

const toldAt = (within: number, left: number): Told => ({ name: text("d/a"), height: TIP + left - 36_000, within })

describe("noticeAt", () => {
  it.each([
    { left: 8_065, within: undefined },
    { left: 8_064, within: 8_064 },
    { left: 4_033, within: 8_064 },
    { left: 4_032, within: 4_032 },
    { left: 144, within: 144 },
    { left: 1, within: 144 }
  ])("is $within with $left blocks left", ({ left, within }) => {
    assert.strictEqual(noticeAt(left, notices), within)
  })
})

describe("dueNotices", () => {
  it.each<
    {
      readonly why: string
      readonly told: ReadonlyArray<Told>
      readonly of: Subject
      readonly within: ReadonlyArray<number>
    }
  >([
    { why: "the first notice", told: [], of: subject(8_064), within: [8_064] },
    { why: "no notice before it", told: [], of: subject(8_065), within: [] },
    { why: "no notice twice", told: [toldAt(8_064, 5_000)], of: subject(5_000), within: [] },
    { why: "the next notice", told: [toldAt(8_064, 4_032)], of: subject(4_032), within: [4_032] },
    { why: "the last of several missed ones alone", told: [toldAt(8_064, 900)], of: subject(900), within: [1_008] },
    { why: "no earlier notice after a later one", told: [toldAt(1_008, 3_000)], of: subject(3_000), within: [] },
    {
      why: "a notice of an earlier record does not count",
      told: [toldAt(144, 100)],
      of: subject(4_000),
      within: [4_032]
    },
    { why: "none while a renewal waits for a block", told: [], of: subject(1_009, { pending: true }), within: [] },
    { why: "one if it still waits a week before", told: [], of: subject(1_008, { pending: true }), within: [1_008] },
    {
      why: "none for a name that its wallet has time to renew",
      told: [],
      of: subject(1_009, { renewed: true }),
      within: []
    },
    {
      why: "one for a name that its wallet did not renew",
      told: [],
      of: subject(1_008, { renewed: true }),
      within: [1_008]
    }
  ])("$why", ({ of, told, within }) => {
    const first = due(told, of)
    assert.deepStrictEqual(first.due.map((each) => each.within), within)
    assert.deepStrictEqual(due(first.told, of).due, [])
  })

  it("forgets notices of records that have expired, and keeps those of names that are not listed at the moment", () => {
    const kept = due([toldAt(144, 0), { ...toldAt(144, 1), name: text("d/b") }]).told
    assert.deepStrictEqual(kept.map(({ name }) => Buffer.from(name).toString()), ["d/b"])
  })
})
