import { assert, describe, it } from "@effect/vitest"
import { dueLosses, dueNotices, noticeAt, type Subject, type Told, type ToldLoss } from "../../src/alerts/notices.ts"
import { paramsOf } from "../../src/consensus/params.ts"
import { noticesOf } from "../../src/names/events/NameEvent.ts"
import { networks } from "../../src/protocol/networks.ts"
import type { NameOutlook } from "../../src/wallet/names/WalletNames.ts"
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

describe("dueLosses", () => {
  const lost = (name: string, ago: number, more: Partial<NameOutlook> = {}): NameOutlook => ({
    name: text(name),
    height: TIP - ago - 36_000,
    outlook: { state: "free", urgency: "alarm", left: -ago },
    acknowledged: false,
    ...more
  })
  const losses = (told: ReadonlyArray<ToldLoss>, ...outlooks: ReadonlyArray<NameOutlook>) =>
    dueLosses(told, outlooks, { params, tipHeight: TIP })

  it("reports each loss once, also one that changes, and the same name of two wallets", () => {
    const [free, taken] = [lost("d/a", 9), lost("d/a", 9, { outlook: { state: "taken", urgency: "alarm", left: -9 } })]
    const first = losses([], free, lost("d/a", 3))
    assert.lengthOf(first.due, 2)
    const second = losses(first.told, taken, lost("d/a", 3))
    assert.deepStrictEqual([second.due, second.told], [[], first.told])
  })

  it("reports nothing that is acknowledged, long past or not lost", () => {
    const { due: found, told } = losses(
      [],
      lost("d/a", 9, { acknowledged: true }),
      lost("d/b", 40_000, { outlook: { state: "free", urgency: "notice", left: -40_000 } }),
      lost("d/c", -9, { outlook: { state: "locked", urgency: "alarm", left: 9 } })
    )
    assert.deepStrictEqual([found, told], [[], []])
  })

  it("remembers a loss while its wallet is not loaded, for one life of a name", () => {
    const { told } = losses([], lost("d/a", 35_999), lost("d/b", 36_000))
    assert.lengthOf(losses(told).told, 1)
  })
})
